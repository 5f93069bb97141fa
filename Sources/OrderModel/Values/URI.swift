// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension Order {
    /// A URI with a scheme (RFC 3986). Apple: `uri`.
    ///
    /// Not Foundation's `URL`, which rewrites some texts: a document keeps the URI byte for byte.
    public struct URI: ByteExactIdentifier, CustomStringConvertible {
        /// The URI as it was written.
        public let text: String

        /// Takes a whole URI, such as `https://www.example.com/orders/1001`.
        ///
        /// - Throws: ``InvalidOrderError`` with `bad-url`.
        public init(_ text: String) throws(InvalidOrderError) {
            self = try .checked(.string(text), as: .url)
        }

        /// The URI.
        public var description: String { text }
    }
}

extension Order.URI: FieldValue {
    init(field value: JSONValue) throws(FieldFault) { text = try String(field: value) }
    var field: JSONValue { .string(text) }
}
