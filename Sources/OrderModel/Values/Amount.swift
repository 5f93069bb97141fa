// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension Order {
    /// A sum as exact decimal digits: never a binary fraction.
    ///
    /// Two are equal when their values are, `28.8` and `28.80`; a document keeps the digits as they were written.
    /// Apple's reference has amounts as texts, and so they are written, also those that came as JSON numbers.
    public struct Amount: Sendable, CustomStringConvertible {
        /// The digits as they were written, `28.80`; never an exponent.
        public let text: String
        /// What they come to.
        public let value: DecimalAmount

        /// Reads digits with `.` as separator and nothing else, such as `19.99`.
        ///
        /// - Throws: ``InvalidOrderError`` with `bad-amount`.
        public init(_ text: String) throws(InvalidOrderError) {
            self = try .checked(.string(text), as: .amount)
        }

        /// A sum that was calculated.
        public init(_ value: DecimalAmount) {
            self.text = value.description
            self.value = value
        }

        /// The text.
        public var description: String { text }
    }
}

extension Order.Amount: Hashable {
    /// By value.
    public static func == (left: Self, right: Self) -> Bool { left.value == right.value }
    /// Over the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension Order.Amount: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        let written: String? =
            switch value {
            case .string(let text): text
            case .number(let number): number.plainText(maximumLength: DecimalAmount.maximumLength)
            default: nil
            }
        guard let text = written, let amount = DecimalAmount(text) else { throw FieldFault() }
        self.text = text
        self.value = amount
    }

    var field: JSONValue { .string(text) }
}
