// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// What a PATCH or PUT changed, member by member, so that it takes its place in the log beside events and overrules only
/// what it touched.
public struct OrderEdit: Sendable, Hashable {
    /// The changes in the order in which they are to be done.
    public let changes: [Change]
    /// The sequence of fulfillments, when it is not the natural one.
    public let fulfillmentOrder: [String]?
    /// The sequence of returns, when it is not the natural one.
    public let returnOrder: [String]?

    /// Whether both change the same; identifiers are compared by their bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.changes == right.changes && ExactKey.equal(left.fulfillmentOrder, right.fulfillmentOrder)
            && ExactKey.equal(left.returnOrder, right.returnOrder)
    }

    /// Hashes the changes.
    public func hash(into hasher: inout Hasher) { hasher.combine(changes) }

    init(changes: [Change], fulfillmentOrder: [String]?, returnOrder: [String]?) {
        self.changes = changes
        self.fulfillmentOrder = fulfillmentOrder
        self.returnOrder = returnOrder
    }

    /// The same edit of an order in which all that it adds is there: it states statuses outright.
    public var stated: OrderEdit {
        OrderEdit(
            changes: changes.map(\.ofWhatIsThere),
            fulfillmentOrder: fulfillmentOrder,
            returnOrder: returnOrder
        )
    }

    /// Whether it adds a payment, fulfillment or return.
    public var adds: Bool { changes.contains(where: \.isAddition) }

    /// Whether nothing changed, so that there is nothing to store.
    public var isEmpty: Bool { changes.isEmpty && fulfillmentOrder == nil && returnOrder == nil }

    /// Compares the document before and after an edit. Values count as equal when they mean the same (1.50 and 1.5).
    public init(from before: JSONValue, to after: JSONValue) {
        let before = before.objectValue ?? JSONObject()
        let after = after.objectValue ?? JSONObject()
        var changes: [Change] = []
        let fulfillmentOrder = Self.compareList(before, after, make: { Change.Subject.fulfillment($0) }, &changes)
        let returnOrder = Self.compareList(before, after, make: { Change.Subject.return($0) }, &changes)
        switch (before["payment"]?.objectValue, after["payment"]?.objectValue) {
        case (nil, nil): break
        case (_?, nil): changes.append(Change(.payment, nil))
        case (let old, let new?):
            let members = Self.compare(old ?? JSONObject(), new, skipping: [])
            if !members.isEmpty || old == nil {
                changes.append(Change(.payment, members, isAddition: old == nil))
            }
        }
        var members = Self.compare(
            before,
            after,
            skipping: Set(exactly: [
                "fulfillments", "returns", "payment", "updatedAt", "webServiceURL", "authenticationToken",
                "orderTypeIdentifier", "orderIdentifier",
            ])
        )
        // First: a payment may go without status from version 2 on, and only there.
        if after["schemaVersion"]?.int64Value == 2, let version = members.remove("schemaVersion") {
            changes.insert(Change(.order, JSONObject([("schemaVersion", version)])), at: 0)
        }
        // Last: an order status that is stated together with moves of fulfillments stands above them.
        if !members.isEmpty { changes.append(Change(.order, members)) }
        self.init(changes: changes, fulfillmentOrder: fulfillmentOrder, returnOrder: returnOrder)
    }

    /// The members that differ; null for those that are gone.
    private static func compare(_ before: JSONObject, _ after: JSONObject, skipping: Set<ExactKey>) -> JSONObject {
        var members = JSONObject()
        for (name, value) in after where !skipping.contains(ExactKey(name)) && !value.isNull {
            if before[name] != value { members[name] = value }
        }
        for (name, value) in before where !skipping.contains(ExactKey(name)) && !value.isNull {
            if after[name] == nil || after[name] == .null { members[name] = .null }
        }
        // A status change without a description removes the old one, so an edit that keeps it has to say so.
        if members["status"] != nil, members["statusDescription"] == nil, let text = after["statusDescription"] {
            members["statusDescription"] = text
        }
        return members
    }

    private static func compareList(
        _ before: JSONObject,
        _ after: JSONObject,
        make: (String) -> Change.Subject,
        _ changes: inout [Change]
    ) -> [String]? {
        guard let list = make("").listName, let name = make("").identifierName else { return nil }
        func things(_ order: JSONObject) -> [(key: ExactKey, object: JSONObject)] {
            (order[list]?.arrayValue ?? []).compactMap { element in
                guard let object = element.objectValue, let identifier = object[name]?.stringValue else { return nil }
                return (ExactKey(identifier), object)
            }
        }
        let old = things(before)
        let new = things(after)
        let formerly = Dictionary(old.map { ($0.key, $0.object) }, uniquingKeysWith: { first, _ in first })
        let presently = Dictionary(new.map { ($0.key, $0.object) }, uniquingKeysWith: { first, _ in first })
        var standing: Set<ExactKey> = []
        for (key, object) in old {
            if let successor = presently[key], successor["fulfillmentType"] == object["fulfillmentType"] {
                standing.insert(key)
            } else {
                changes.append(Change(make(key.text), nil))
            }
        }
        // The sequence that the changes leave behind: what stays in its place, then what comes.
        var natural = old.map(\.key).filter { standing.contains($0) }
        for (key, object) in new {
            if standing.contains(key), let previous = formerly[key] {
                let members = compare(previous, object, skipping: [ExactKey(name)])
                if !members.isEmpty { changes.append(Change(make(key.text), members)) }
            } else {
                var members = object.filter { !$0.value.isNull }
                members.remove(name)
                changes.append(Change(make(key.text), members, isAddition: true))
                natural.append(key)
                standing.insert(key)
            }
        }
        return natural == new.map(\.key) ? nil : new.map(\.key.text)
    }

    /// The form in which the store keeps it.
    var json: JSONValue {
        var object = JSONObject()
        object["changes"] = .array(
            changes.map { change in
                var item = JSONObject()
                item["of"] = .string(change.subject.eventMember)
                if let identifier = change.subject.identifier { item["identifier"] = .string(identifier) }
                item["members"] = change.members.map { .object($0) } ?? .null
                if change.isAddition { item["adds"] = true }
                return .object(item)
            }
        )
        if let fulfillmentOrder { object["fulfillmentOrder"] = .array(fulfillmentOrder.map { .string($0) }) }
        if let returnOrder { object["returnOrder"] = .array(returnOrder.map { .string($0) }) }
        return .object(object)
    }

    init?(json: JSONValue) {
        guard let items = json["changes"]?.arrayValue else { return nil }
        var changes: [Change] = []
        for item in items {
            let identifier = item["identifier"]?.stringValue
            let subject: Change.Subject
            switch (item["of"]?.stringValue, identifier) {
            case ("order", _): subject = .order
            case ("payment", _): subject = .payment
            case ("fulfillment", let identifier?): subject = .fulfillment(identifier)
            case ("return", let identifier?): subject = .return(identifier)
            default: return nil
            }
            // Entries from before additions were marked count as they always did.
            let isAddition = item["adds"]?.boolValue ?? false
            changes.append(Change(subject, item["members"]?.objectValue, isAddition: isAddition))
        }
        self.init(
            changes: changes,
            fulfillmentOrder: json["fulfillmentOrder"]?.arrayValue?.compactMap(\.stringValue),
            returnOrder: json["returnOrder"]?.arrayValue?.compactMap(\.stringValue)
        )
    }
}
