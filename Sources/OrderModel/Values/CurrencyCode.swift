// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension Order {
    /// A currency by its three letters (ISO 4217).
    public struct CurrencyCode: ByteExactIdentifier, CustomStringConvertible {
        /// The code, such as `USD`.
        public let text: String

        /// Takes a code of the standard.
        ///
        /// - Throws: ``InvalidOrderError`` with `unknown-currency`.
        public init(_ text: String) throws(InvalidOrderError) {
            self = try .checked(.string(text), as: .currency)
        }

        /// The code.
        public var description: String { text }
    }

    /// A country by its two letters (ISO 3166).
    public struct CountryCode: ByteExactIdentifier, CustomStringConvertible {
        /// The code, such as `US`.
        public let text: String

        /// Takes two letters. Validation warns about two letters that the standard gives to no country.
        ///
        /// - Throws: ``InvalidOrderError`` with `bad-country`.
        public init(_ text: String) throws(InvalidOrderError) {
            self = try .checked(.string(text), as: .country)
        }

        /// The code.
        public var description: String { text }
    }
}

extension Order.CurrencyCode: FieldValue {
    init(field value: JSONValue) throws(FieldFault) { text = try String(field: value) }
    var field: JSONValue { .string(text) }
}

extension Order.CountryCode: FieldValue {
    init(field value: JSONValue) throws(FieldFault) { text = try String(field: value) }
    var field: JSONValue { .string(text) }
}
