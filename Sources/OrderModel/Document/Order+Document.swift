// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// The typed form of a validated document.
    ///
    /// A document that a service is to complete may lack `schemaVersion` and `updatedAt`: they are version 1 and
    /// ``createdAt`` then.
    ///
    /// - Throws: ``InvalidOrderError`` when the document was stored under rules that passed what these don't, with what
    ///   today's validation finds. There always is a typed form of a document that was just validated.
    public init(_ document: OrderDocument) throws(InvalidOrderError) {
        do throws(InvalidOrderError) {
            try self.init(reading: document.json)
        } catch {
            let isStored = document.json["updatedAt"] == nil
            let options = ValidationOptions(unknownMembers: .accept, isServiceFilled: isStored)
            let findings = OrderDocument.validate(document.json, options).findings
            throw findings.contains(where: \.isError) ? InvalidOrderError(findings: findings) : error
        }
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
        try self.init(document)
    }

    /// Reads and validates the text of a document, UTF-8.
    ///
    /// - Throws: ``InvalidOrderError``; a text that is no JSON is one finding, `json-syntax`, with line and column.
    public init(text bytes: [UInt8], options: ValidationOptions = .init()) throws(InvalidOrderError) {
        let (document, findings) = OrderDocument.validate(text: bytes, options)
        guard let document else { throw InvalidOrderError(findings: findings) }
        try self.init(document)
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
