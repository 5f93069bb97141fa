// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// One entry of an order's log: an event of an outside system, or an edit by PATCH or PUT.
public struct LogEntry: Sendable, Hashable {
    /// Where an entry comes from.
    public enum Kind: String, Sendable, Hashable {
        /// A change that an outside system reports.
        case event
        /// A change that the merchant made to the document.
        case edit
    }

    /// Where it comes from.
    public let kind: Kind
    /// Its name, unique within the order: the event's identifier, or what the store gave the edit.
    public let identifier: String
    /// When it happened, in microseconds since 1970; for an edit, when it was committed.
    public let occurredAt: Int64
    /// Whether it may take a final status back. Edits always may, but for the status of what they add.
    public let isCorrection: Bool
    /// What it changes, in the order in which it is to be done.
    public let changes: [Change]
    /// The sequence of fulfillments after an edit, when it is not the natural one: the old ones, then the new ones.
    public let fulfillmentOrder: [String]?
    /// The same for returns.
    public let returnOrder: [String]?
    /// Its place in the log.
    public let position: LogPosition

    /// An event at its moment; `occurredAt` is the service's clock in microseconds when the event names no moment itself.
    public init(_ event: OrderEvent, occurredAt: Int64) {
        self.init(
            kind: .event,
            identifier: event.eventIdentifier.text,
            occurredAt: occurredAt,
            isCorrection: event.isCorrection,
            changes: [event.change],
            fulfillmentOrder: nil,
            returnOrder: nil
        )
    }

    /// An edit at its commit time in microseconds, under a name that is unique within the order.
    public init(_ edit: OrderEdit, identifier: String, occurredAt: Int64) {
        self.init(
            kind: .edit,
            identifier: identifier,
            occurredAt: occurredAt,
            isCorrection: true,
            changes: edit.changes,
            fulfillmentOrder: edit.fulfillmentOrder,
            returnOrder: edit.returnOrder
        )
    }

    /// Whether both are the same entry with the same changes; identifiers are compared by their bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.position == right.position && left.changes == right.changes
            && ExactKey.equal(left.fulfillmentOrder, right.fulfillmentOrder)
            && ExactKey.equal(left.returnOrder, right.returnOrder)
    }

    /// Hashes the place in the log, which no two entries of one log share.
    public func hash(into hasher: inout Hasher) { hasher.combine(position) }

    private init(
        kind: Kind,
        identifier: String,
        occurredAt: Int64,
        isCorrection: Bool,
        changes: [Change],
        fulfillmentOrder: [String]?,
        returnOrder: [String]?
    ) {
        self.kind = kind
        self.identifier = identifier
        self.occurredAt = occurredAt
        self.isCorrection = isCorrection
        self.changes = changes
        self.fulfillmentOrder = fulfillmentOrder
        self.returnOrder = returnOrder
        var progress = kind == .edit ? 0 : 99
        if kind == .event, let change = changes.first, let status = change.members?["status"]?.stringValue {
            progress = change.subject.progress.firstIndex { status.isExactly($0) } ?? 98
        }
        self.position = LogPosition(
            occurredAt: occurredAt,
            isEdit: kind == .edit,
            isCorrection: isCorrection,
            progress: progress,
            identifier: identifier
        )
    }

    /// What the store keeps in the entry's row: the subject with its changes, without identifier and moment.
    public var body: JSONValue {
        var object = JSONObject()
        switch kind {
        case .event:
            for change in changes { object[change.subject.eventMember] = change.json }
            if isCorrection { object["correction"] = .bool(true) }
        case .edit:
            object["edit"] =
                OrderEdit(
                    changes: changes,
                    fulfillmentOrder: fulfillmentOrder,
                    returnOrder: returnOrder
                ).json
        }
        return .object(object)
    }

    /// Reads an entry back from its row. The body of an event may also be the whole event as it was sent.
    ///
    /// - Throws: ``OrderDocumentError`` with `log` when the body is none that ``body`` wrote.
    public init(kind: Kind, identifier: String, occurredAt: Int64, body: JSONValue) throws(OrderDocumentError) {
        switch kind {
        case .edit:
            guard let edit = body["edit"].flatMap({ OrderEdit(json: $0) }) else {
                throw OrderDocumentError(.log, "A stored edit is unreadable")
            }
            self.init(edit, identifier: identifier, occurredAt: occurredAt)
        case .event:
            let correction = body["correction"]?.boolValue ?? false
            for member in ["fulfillment", "return", "payment", "order"] {
                guard let object = body[member]?.objectValue, let change = Change(eventMember: member, object) else {
                    continue
                }
                self.init(
                    kind: .event,
                    identifier: identifier,
                    occurredAt: occurredAt,
                    isCorrection: correction,
                    changes: [change],
                    fulfillmentOrder: nil,
                    returnOrder: nil
                )
                return
            }
            throw OrderDocumentError(.log, "A stored event is unreadable")
        }
    }
}

extension Change.Subject {
    /// The member of an event that holds a change of this subject.
    var eventMember: String {
        switch self {
        case .order: "order"
        case .payment: "payment"
        case .fulfillment: "fulfillment"
        case .return: "return"
        }
    }
}

extension Change {
    /// The members with the identity in front.
    var json: JSONValue {
        var object = JSONObject()
        if let name = subject.identifierName, let identifier = subject.identifier { object[name] = .string(identifier) }
        for (name, value) in members ?? JSONObject() { object[name] = value }
        return .object(object)
    }

    /// Takes an event's object apart into identity and changes; nil without identity.
    init?(eventMember: String, _ object: JSONObject) {
        var members = object
        switch eventMember {
        case "fulfillment":
            guard let identifier = members.remove("fulfillmentIdentifier")?.stringValue else { return nil }
            self.init(.fulfillment(identifier), members)
        case "return":
            guard let identifier = members.remove("returnIdentifier")?.stringValue else { return nil }
            self.init(.return(identifier), members)
        case "payment":
            self.init(.payment, members)
        case "order":
            members.remove("orderTypeIdentifier")
            members.remove("orderIdentifier")
            self.init(.order, members)
        default: return nil
        }
    }
}
