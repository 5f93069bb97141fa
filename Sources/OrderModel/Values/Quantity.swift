// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// How many of an item were bought, as an exact decimal number: mostly whole, but `1.5` of a metre is one, too.
    ///
    /// Two are equal when their values are. A document keeps the number as it was written; one that came as a text is
    /// written as a number, which is what Apple's reference asks for.
    public struct Quantity: Sendable, Hashable, CustomStringConvertible {
        /// The number as it was written.
        public let number: JSONNumber
        /// What it comes to.
        public var value: DecimalAmount { DecimalAmount(.number(number)) ?? .zero }

        /// Reads a number such as `1.5`; one below zero is refused.
        ///
        /// - Throws: ``InvalidOrderError`` with `wrong-type` or `number-out-of-range`.
        public init(_ text: String) throws(InvalidOrderError) {
            self = try .checked(.string(text), as: .quantity)
        }

        /// The text of the number.
        public var description: String { number.text }
    }
}

extension Order.Quantity: ExpressibleByIntegerLiteral {
    /// A whole number; validation refuses less than zero.
    public init(_ value: Int) { number = JSONNumber(Int64(value)) }

    /// A whole number in the source.
    public init(integerLiteral value: Int) { self.init(value) }
}

extension Order.Quantity: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        switch value {
        case .number(let number): self.number = number
        case .string(let text):
            // `007` is a decimal text but no JSON number.
            guard let value = DecimalAmount(text), let number = JSONNumber(text) ?? JSONNumber(value.description) else {
                throw FieldFault()
            }
            self.number = number
        default: throw FieldFault()
        }
    }

    var field: JSONValue { .number(number) }
}
