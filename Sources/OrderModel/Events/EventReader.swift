// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Reads one event and notes all its faults.
struct EventReader {
    let options: ValidationOptions
    private var bounded = BoundedFindings()
    var findings: [Finding] { bounded.list }

    init(options: ValidationOptions) { self.options = options }

    private static let envelope = [
        "eventIdentifier", "occurredAt", "fulfillment", "return", "payment", "order", "correction",
        "orderTypeIdentifier",
        "orderIdentifier",
    ]
    private static let subjects = ["fulfillment", "return", "payment", "order"]

    private mutating func add(_ code: String, _ tokens: [String], _ message: String, fix: String) {
        bounded.append(
            Finding(severity: .error, code: code, pointer: JSONPointer(tokens: tokens), message: message, fix: fix)
        )
    }

    mutating func read(_ json: JSONValue, now: Int64?) -> OrderEvent? {
        guard case .object(let object) = json else {
            add(
                "wrong-type",
                [],
                "An event is an object, not \(json.typePhrase).",
                fix: "Send {\"eventIdentifier\": …, \"fulfillment\": {…}}."
            )
            return nil
        }
        for name in object.keys where !name.isExactly(oneOf: Self.envelope) {
            guard bounded.hasRoom(for: .error) else { break }
            let near = NearMiss.find(name, among: Self.envelope)
            add(
                "unknown-member",
                [name],
                "An event has no member of this name.",
                fix: near.map { "Did you mean \"\($0)\"?" }
                    ?? "Put changed fields into \"fulfillment\", \"return\", \"payment\" or \"order\"."
            )
        }
        let identifier = readIdentifier(object["eventIdentifier"])
        let occurredAt = readMoment(object["occurredAt"], now: now)
        var isCorrection = false
        if let value = object["correction"], !value.isNull {
            if let flag = value.boolValue {
                isCorrection = flag
            } else {
                add(
                    "wrong-type",
                    ["correction"],
                    "Expected a boolean, found \(value.typePhrase).",
                    fix: "Send true or false."
                )
            }
        }
        let type = readText(object, "orderTypeIdentifier")
        let order = readText(object, "orderIdentifier")
        let change = readSubject(object)
        guard let identifier, let change else { return nil }
        return OrderEvent(
            eventIdentifier: identifier,
            occurredAt: occurredAt,
            change: change,
            isCorrection: isCorrection,
            orderTypeIdentifier: type,
            orderIdentifier: order,
            json: json
        )
    }

    private mutating func readIdentifier(_ value: JSONValue?) -> EventIdentifier? {
        let place = ["eventIdentifier"]
        guard let value, !value.isNull else {
            add(
                "missing-member",
                place,
                "An event needs \"eventIdentifier\".",
                fix: "Add the sender's own name of the event; sent twice, it counts once."
            )
            return nil
        }
        guard let text = value.stringValue else {
            add(
                "wrong-type",
                place,
                "Expected a string, found \(value.typePhrase).",
                fix: "Send the identifier as text."
            )
            return nil
        }
        do throws(IdentifierError) {
            return try EventIdentifier(text)
        } catch {
            add("bad-identifier", place, error.message + ".", fix: error.fix)
            return nil
        }
    }

    private mutating func readMoment(_ value: JSONValue?, now: Int64?) -> OrderDate? {
        let place = ["occurredAt"]
        guard let value, !value.isNull else { return nil }
        guard let text = value.stringValue else {
            add(
                "wrong-type",
                place,
                "Expected a string, found \(value.typePhrase).",
                fix: "Send \(FieldKind.dateTime.advice)."
            )
            return nil
        }
        do throws(OrderDate.Fault) {
            let date = try OrderDate(parsing: text)
            if let now, date.microseconds > now + OrderEvent.allowedAhead {
                add(
                    "occurred-in-future",
                    place,
                    "occurredAt is more than 10 minutes ahead of the server's clock.",
                    fix: "Send the moment of the event; the server's clock says \(OrderDate(microseconds: now).text)."
                )
            }
            return date
        } catch {
            add(
                "bad-date",
                place,
                "\"\(DocumentWalk.shown(text))\" \(error.message).",
                fix: "Write it like 2026-01-31T18:00:00Z; fractions of a second are welcome here."
            )
            return nil
        }
    }

    private mutating func readText(_ object: JSONObject, _ name: String) -> String? {
        guard let value = object[name], !value.isNull else { return nil }
        if let text = value.stringValue { return text }
        add("wrong-type", [name], "Expected a string, found \(value.typePhrase).", fix: "Send the identifier as text.")
        return nil
    }

    private mutating func readSubject(_ event: JSONObject) -> Change? {
        let present = Self.subjects.filter { event[$0].map { !$0.isNull } ?? false }
        guard present.count == 1, let member = present.first, let value = event[member] else {
            add(
                present.isEmpty ? "missing-member" : "several-subjects",
                [],
                present.isEmpty
                    ? "An event needs one of \"fulfillment\", \"return\", \"payment\" and \"order\"."
                    : "An event is about one thing; this one has \(ObjectDescription.list(present)).",
                fix: "Send one event for each thing that changed."
            )
            return nil
        }
        guard case .object(let object) = value else {
            add(
                "wrong-type",
                [member],
                "Expected an object, found \(value.typePhrase).",
                fix: "Send {…identity, changes…}."
            )
            return nil
        }
        let description = Self.description(member, object)
        var walk = DocumentWalk(options: options, at: JSONPointer(tokens: [member]))
        walk.check(object: object, as: description, isPartial: true)
        // What is not listed there has no room here, either, and is told once.
        for finding in walk.findings where finding.code != "findings-cut-off" { bounded.append(finding) }
        if member == "order" { checkFixedMembers(object) }
        let identity: [String]
        switch member {
        case "fulfillment": identity = ["fulfillmentIdentifier"]
        case "return": identity = ["returnIdentifier"]
        case "order": identity = ["orderTypeIdentifier", "orderIdentifier"]
        default: identity = []
        }
        if member == "fulfillment" || member == "return", object[identity[0]] == nil {
            add(
                "missing-member",
                [member, identity[0]],
                "The event does not say which \(member) it is about.",
                fix: "Add \"\(identity[0])\"."
            )
            return nil
        }
        if !object.contains(where: { !$0.name.isExactly(oneOf: identity) }) {
            add(
                "nothing-to-change",
                [member],
                "The event changes nothing.",
                fix: "Add the fields that changed, such as status."
            )
        }
        return Change(eventMember: member, object)
    }

    /// Members of the order that events can't change: identity, what the service writes, and what has events of its own.
    private mutating func checkFixedMembers(_ object: JSONObject) {
        for (name, _) in object {
            switch ExactKey(name) {
            case "createdAt", "orderType", "schemaVersion":
                add(
                    "fixed-member",
                    ["order", name],
                    "Events can't change \"\(name)\".",
                    fix: "Use PUT or PATCH on the order."
                )
            case "updatedAt", "webServiceURL", "authenticationToken":
                add("fixed-member", ["order", name], "The service writes \"\(name)\" itself.", fix: "Leave it out.")
            case "fulfillments", "returns":
                add(
                    "fixed-member",
                    ["order", name],
                    "\"\(name)\" change one by one.",
                    fix: "Send a \"\(name.dropLast())\" event for each, or PATCH the order."
                )
            case "payment":
                add(
                    "fixed-member",
                    ["order", name],
                    "The payment has events of its own.",
                    fix: "Send a \"payment\" event."
                )
            default: continue
            }
        }
    }

    private static func description(_ member: String, _ object: JSONObject) -> ObjectDescription {
        switch member {
        case "fulfillment":
            object["fulfillmentType"]?.stringValue.flatMap(FulfillmentType.init(exactly:))?.object ?? .anyFulfillment
        case "return": .return
        case "payment": .payment
        default: .order
        }
    }
}

extension ObjectDescription {
    /// What a change of a fulfillment may hold when it does not say which of the two it is.
    static let anyFulfillment: ObjectDescription = {
        var fields: [FieldDescription] = []
        for field in shippingFulfillment.fields + pickupFulfillment.fields
        where !fields.contains(where: { $0.name == field.name }) {
            if field.name == "status" {
                fields.append(.required("status", .choice(FulfillmentStatus.allCases.map(\.rawValue)), field.meaning))
            } else {
                fields.append(field)
            }
        }
        return ObjectDescription(
            "ShippingFulfillment or PickupFulfillment",
            meaning: "A parcel or a pickup.",
            fields: fields,
            misnomers: shippingFulfillment.misnomers.merging(pickupFulfillment.misnomers) { first, _ in first }
        )
    }()
}
