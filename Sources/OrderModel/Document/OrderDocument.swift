// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// An order that passed every check. It can only be made by validation, or read back from where a validated one was
/// stored; code that gets one never checks again.
public struct OrderDocument: Sendable, Hashable {
    /// The document as it was sent: numbers keep their text, members their order.
    public let json: JSONValue
    /// Whose order it is. Apple: `Order.orderTypeIdentifier`.
    public let orderTypeIdentifier: OrderTypeIdentifier
    /// Which order it is. Apple: `Order.orderIdentifier`.
    public let orderIdentifier: OrderIdentifier
    /// When the customer ordered, in seconds since 1970. Apple: `Order.createdAt`.
    public let createdAt: Int64

    /// How much of a text is read as an order. Thousands of line items stay far below it, and a hostile order costs no more
    /// memory than a large package does.
    public static let limits = JSONLimits(values: 200_000)

    private init(json: JSONValue) throws(OrderDocumentError) {
        guard let type = json["orderTypeIdentifier"]?.stringValue.flatMap({ try? OrderTypeIdentifier($0) }) else {
            throw OrderDocumentError(.identity, "The document has no usable orderTypeIdentifier")
        }
        guard let order = json["orderIdentifier"]?.stringValue.flatMap({ try? OrderIdentifier($0) }) else {
            throw OrderDocumentError(.identity, "The document has no usable orderIdentifier")
        }
        guard let created = json["createdAt"]?.stringValue.flatMap({ try? OrderDate(parsing: $0) }) else {
            throw OrderDocumentError(.identity, "The document has no usable createdAt")
        }
        self.json = json
        self.orderTypeIdentifier = type
        self.orderIdentifier = order
        self.createdAt = created.seconds
    }

    /// Checks a document against Apple's model and the rules beyond it, all in one pass.
    ///
    /// - Returns: the document, or nil if and only if a finding is an error; and every finding: those of single
    ///   members as they stand, what an object lacks behind what it has, and what several places say together at the end.
    public static func validate(
        _ json: JSONValue,
        _ options: ValidationOptions = .init()
    ) -> (document: OrderDocument?, findings: [Finding]) {
        if case .object = json, !json.holds(atMost: limits.values) {
            return (
                nil,
                [
                    Finding(
                        severity: .error,
                        code: "order-too-large",
                        pointer: .root,
                        message: "The order holds more than \(limits.values) values.",
                        fix: "Leave out what the customer needn't see."
                    )
                ]
            )
        }
        return check(json, options)
    }

    /// Checks a document that is known to be no larger than the limits.
    private static func check(
        _ json: JSONValue,
        _ options: ValidationOptions
    ) -> (document: OrderDocument?, findings: [Finding]) {
        guard case .object(let order) = json else {
            return (
                nil,
                [
                    Finding(
                        severity: .error,
                        code: "wrong-type",
                        pointer: .root,
                        message: "An order is an object, not \(json.typePhrase).",
                        fix: "Send the Order object itself."
                    )
                ]
            )
        }
        if let wrapper = wrapperFinding(json) { return (nil, [wrapper]) }
        var walk = DocumentWalk(options: options)
        walk.schemaVersion = order["schemaVersion"]?.int64Value == 2 ? 2 : 1
        walk.check(object: order, as: .order)
        var rules = OrderRules(order, options: options, walked: walk.bounded)
        rules.check()
        var findings = rules.findings
        if findings.contains(where: \.isError) { return (nil, findings) }
        do throws(OrderDocumentError) {
            return (try OrderDocument(json: json), findings)
        } catch {
            findings.append(
                Finding(
                    severity: .error,
                    code: "bad-identifier",
                    pointer: .root,
                    message: error.message + ".",
                    fix: "Send orderTypeIdentifier, orderIdentifier and createdAt."
                )
            )
            return (nil, findings)
        }
    }

    /// Reads and checks the text of a document. Text that is no JSON is one finding, `json-syntax`, with line and column.
    public static func validate(
        text bytes: [UInt8],
        _ options: ValidationOptions = .init()
    ) -> (document: OrderDocument?, findings: [Finding]) {
        do throws(JSONSyntaxError) {
            return check(try JSONValue(parsing: bytes, limits: limits), options)
        } catch {
            return (nil, [Finding(syntax: error)])
        }
    }

    /// Reads back a document that was validated before it was stored. Nothing is checked but what it takes to name it.
    ///
    /// - Throws: ``OrderDocumentError`` with `syntax` or `identity` when the stored text is no order at all.
    package static func trusted(bytes: [UInt8]) throws(OrderDocumentError) -> OrderDocument {
        let json: JSONValue
        do throws(JSONSyntaxError) {
            json = try JSONValue(parsing: bytes, limits: .stored)
        } catch {
            throw OrderDocumentError(
                .syntax,
                "The stored document is no JSON (line \(error.line), column \(error.column))"
            )
        }
        return try OrderDocument(json: json)
    }

    /// Takes a value that comes out of a fold over validated changes, or out of the store.
    ///
    /// - Throws: ``OrderDocumentError`` with `identity`.
    package static func trusted(_ json: JSONValue) throws(OrderDocumentError) -> OrderDocument {
        try OrderDocument(json: json)
    }
}

extension JSONValue {
    /// Whether there are so many values or fewer; no more of them are looked at.
    fileprivate func holds(atMost limit: Int) -> Bool {
        var room = limit
        return take(from: &room)
    }

    private func take(from room: inout Int) -> Bool {
        room -= 1
        guard room >= 0 else { return false }
        switch self {
        case .array(let elements):
            for index in elements.indices where !elements[index].take(from: &room) { return false }
        case .object(let object):
            let members = object.members
            for index in members.indices where !members[index].value.take(from: &room) { return false }
        default: break
        }
        return true
    }
}

/// A stored text that is no order document: the store or its caller is at fault, not the merchant.
public struct OrderDocumentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, to switch on.
    public enum Code: String, Sendable, Hashable {
        /// The text is no JSON.
        case syntax
        /// Identifiers or creation date are missing or unreadable.
        case identity
        /// A stored log entry or fold state is unreadable.
        case log
    }

    /// What is wrong.
    public let code: Code
    /// What is wrong, for people.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension Finding {
    /// A text that is no JSON, or one that is larger than is read.
    public init(syntax error: JSONSyntaxError, path: String? = nil) {
        let isTooLarge = error.code == .limit
        let code = isTooLarge ? "order-too-large" : "json-syntax"
        let fix =
            isTooLarge
            ? "Leave out what the customer needn't see; nothing behind that place was read."
            : "Correct the text at that place; nothing behind it was read."
        if let path {
            self.init(
                severity: .error,
                code: code,
                path: path,
                message: error.message,
                fix: fix,
                line: error.line,
                column: error.column
            )
        } else {
            self.init(
                severity: .error,
                code: code,
                pointer: .root,
                message: error.message,
                fix: fix,
                line: error.line,
                column: error.column
            )
        }
    }
}
