// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// Completes what a merchant sent with what the service knows, before validation.
///
/// `schemaVersion` is filled in; `updatedAt`, `webServiceURL` and `authenticationToken` belong to the service: they are
/// taken out of the stored form, with a warning when they said something else.
public struct OrderIntake: Sendable {
    /// Seconds since 1970.
    public var now: Int64
    /// The order type to assume when the document names none.
    public var orderTypeIdentifier: OrderTypeIdentifier?
    /// The order identifier to assume when the document names none.
    public var orderIdentifier: OrderIdentifier?
    /// Seconds since 1970 to assume when the document has no `createdAt`; nil: `now`.
    public var createdAt: Int64?
    /// The web service URL that packages will name.
    public var webServiceURL: String?

    /// How far `createdAt` may be ahead of the clock, in seconds.
    public static let allowedAhead: Int64 = 600

    /// Puts an intake together.
    public init(
        now: Int64,
        orderTypeIdentifier: OrderTypeIdentifier? = nil,
        orderIdentifier: OrderIdentifier? = nil,
        createdAt: Int64? = nil,
        webServiceURL: String? = nil
    ) {
        self.now = now
        self.orderTypeIdentifier = orderTypeIdentifier
        self.orderIdentifier = orderIdentifier
        self.createdAt = createdAt
        self.webServiceURL = webServiceURL
    }

    /// The document to validate with ``ValidationOptions/isServiceFilled`` and to store, and what there is to say about
    /// the members that were changed. A value that is no object is handed back as it is, for validation to refuse.
    public func complete(_ json: JSONValue) -> (json: JSONValue, findings: [Finding]) {
        guard case .object(var order) = json else { return (json, []) }
        var findings: [Finding] = []
        if order["orderTypeIdentifier"] == nil, let type = orderTypeIdentifier {
            order["orderTypeIdentifier"] = .string(type.text)
        }
        if order["orderIdentifier"] == nil, let identifier = orderIdentifier {
            order["orderIdentifier"] = .string(identifier.text)
        }
        if order["createdAt"] == nil { order["createdAt"] = .string(OrderDate(seconds: createdAt ?? now).text) }
        if let created = date(order["createdAt"]), created.seconds > now + Self.allowedAhead {
            findings.append(
                Finding(
                    severity: .error,
                    code: "created-in-future",
                    pointer: JSONPointer(tokens: ["createdAt"]),
                    message: "createdAt is more than 10 minutes ahead of the server's clock.",
                    fix: "Send the moment of the purchase; the server's clock says \(OrderDate(seconds: now).text)."
                )
            )
        }
        if let version = order["schemaVersion"], version.int64Value != 1, version.int64Value != 2 {
            findings.append(ignored("schemaVersion", "The service writes version 1."))
            order["schemaVersion"] = nil
        }
        if order["schemaVersion"] == nil { order["schemaVersion"] = .number(JSONNumber(1)) }
        if let updated = order.remove("updatedAt"), !updated.isNull {
            let said = date(updated)
            if said == nil || said?.seconds != date(order["createdAt"])?.seconds {
                findings.append(ignored("updatedAt", "The service sets it with every change."))
            }
        }
        if let url = order.remove("webServiceURL"), !url.isNull,
            webServiceURL.map({ url != .string($0) }) ?? true
        {
            findings.append(ignored("webServiceURL", "The service names its own address."))
        }
        if let token = order.remove("authenticationToken"), !token.isNull {
            findings.append(ignored("authenticationToken", "The service makes a token for each order."))
        }
        return (.object(order), findings)
    }

    private func ignored(_ member: String, _ reason: String) -> Finding {
        Finding(
            severity: .warning,
            code: "filled-in",
            pointer: JSONPointer(tokens: [member]),
            message: "The value was ignored. \(reason)",
            fix: "Leave \"\(member)\" out."
        )
    }

    private func date(_ value: JSONValue?) -> OrderDate? {
        value?.stringValue.flatMap { try? OrderDate(parsing: $0) }
    }
}
