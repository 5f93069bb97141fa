// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// The typed form of a validated document; there always is one.
    ///
    /// A document that a service is to complete may lack `schemaVersion` and `updatedAt`: they are version 1 and
    /// ``createdAt`` then.
    public init(_ document: OrderDocument) {
        self.init(validated: document.json)
    }

    /// Reads and validates a document.
    ///
    /// - Parameters:
    ///   - json: the `Order` object itself.
    ///   - options: how it is judged; unknown fields are faults unless they say otherwise, and are kept then.
    /// - Throws: ``InvalidOrderError`` with every finding when one of them is an error. For warnings and notes about a
    ///   document that passes, use ``OrderDocument/validate(_:_:)``.
    public init(json: JSONValue, options: ValidationOptions = .init()) throws(InvalidOrderError) {
        let (document, findings) = OrderDocument.validate(json, options)
        guard let document else { throw InvalidOrderError(findings: findings) }
        self.init(document)
    }

    /// Reads and validates the text of a document, UTF-8.
    ///
    /// - Throws: ``InvalidOrderError``; a text that is no JSON is one finding, `json-syntax`, with line and column.
    public init(text bytes: [UInt8], options: ValidationOptions = .init()) throws(InvalidOrderError) {
        let (document, findings) = OrderDocument.validate(text: bytes, options)
        guard let document else { throw InvalidOrderError(findings: findings) }
        self.init(document)
    }

    /// The order as a JSON object with the members in Apple's order, whether it is valid or not.
    public var json: JSONValue { field }

    /// The text of an `order.json`, UTF-8, whether the order is valid or not.
    public func serialized(_ style: JSONStyle = .compact) -> [UInt8] { json.serialized(style) }
}

extension OrderDocument {
    /// Validates an order that was put together in code.
    ///
    /// - Throws: ``InvalidOrderError`` with every finding when one of them is an error.
    public init(_ order: Order, _ options: ValidationOptions = .init()) throws(InvalidOrderError) {
        let (document, findings) = OrderDocument.validate(order.json, options)
        guard let document else { throw InvalidOrderError(findings: findings) }
        self = document
    }
}
