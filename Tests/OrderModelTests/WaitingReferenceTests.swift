// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// One report about a thing that the base does not have.
private struct Report {
    let identifier: String
    let moment: Int64
    /// "fulfillment", "return" or "payment".
    let kind: String
    let members: JSONObject
    var isCorrection = false
    /// An edit that adds the thing (or takes it out, if `members` is empty).
    var isEdit = false

    var status: String? { members["status"]?.stringValue }
    var type: String? { members["fulfillmentType"]?.stringValue }
    var removes: Bool { isEdit && members.isEmpty }

    /// Its place in the log: moment, edits last, corrections last, the further status last, then the name.
    var place: [Int64] {
        var rank = Int64(0)
        if !isEdit { rank = status.map { Int64(Rules.ranks(kind).firstIndex(of: $0) ?? 50) } ?? 90 }
        return [moment, isEdit ? 1 : 0, isEdit || isCorrection ? 1 : 0, rank] + identifier.utf8.map(Int64.init)
    }
}

/// What a thing may hold, written down once more.
private enum Rules {
    static let parcel: Set<String> = ["open", "processing", "onTheWay", "outForDelivery", "delivered", "shipped"]
    static let pickup: Set<String> = ["open", "processing", "readyForPickup", "pickedUp"]

    static func ranks(_ kind: String) -> [String] {
        switch kind {
        case "payment": ["pending", "authorized", "paid", "declined", "voided", "refunded"]
        case "return": ["open", "onTheWay", "processing", "issue", "completed", "cancelled"]
        default:
            [
                "open", "processing", "shipped", "onTheWay", "outForDelivery", "readyForPickup", "issue", "delivered",
                "pickedUp", "cancelled",
            ]
        }
    }

    static func ends(_ status: String, _ kind: String) -> Bool {
        switch kind {
        case "payment": false
        case "return": ["completed", "cancelled"].contains(status)
        default: ["delivered", "pickedUp", "cancelled"].contains(status)
        }
    }

    /// What is wrong with a thing.
    static func faults(_ thing: JSONObject, _ kind: String) -> Set<String> {
        var faults: Set<String> = []
        func needs(_ name: String) { if thing[name] == nil { faults.insert("no " + name) } }
        needs("status")
        switch (kind, thing["fulfillmentType"]) {
        case ("payment", _): needs("total")
        case ("fulfillment", "pickup"):
            needs("displayName")
            for name in ["carrier", "deliveredAt"] where thing[name] != nil { faults.insert(name) }
        case ("fulfillment", _):
            for name in ["displayName", "pickedUpAt"] where thing[name] != nil { faults.insert(name) }
        default: break
        }
        if kind == "fulfillment", let status = thing["status"]?.stringValue {
            let own = thing["fulfillmentType"] == "pickup" ? pickup : parcel
            if !own.contains(status), status != "issue", status != "cancelled" { faults.insert("status") }
        }
        return faults
    }

    /// Lays a report over a thing.
    static func lay(_ report: Report, over thing: JSONObject) -> JSONObject {
        var thing = thing
        let present = thing["status"]?.stringValue
        let isHeld =
            if let present, let status = report.status, status != present, !report.isCorrection {
                ends(present, report.kind) && status != "issue" && status != "cancelled"
            } else { false }
        for (name, value) in report.members where !(isHeld && name.hasPrefix("status")) {
            thing.remove(name)
            if !value.isNull { thing[name] = value }
        }
        if !isHeld, let status = report.status, status != present, report.members["statusDescription"] == nil {
            thing.remove("statusDescription")
        }
        return thing
    }
}

/// The rules of beginning and waiting once more, without any of the fold's code: what waits is judged one by one as soon as
/// all of it together does not fit.
private struct WaitingReference {
    private(set) var thing: JSONObject?
    private(set) var waiting: [Report] = []
    /// How often something began with a part of what waited, beside changes of another type.
    private(set) var partly = 0
    /// How often it began with a part because it could not begin by itself.
    private(set) var filled = 0

    init(_ reports: [Report]) {
        for report in reports.sorted(by: { $0.place.lexicographicallyPrecedes($1.place) }) { take(report) }
    }

    private mutating func take(_ report: Report) {
        if report.removes {
            (thing, waiting) = (nil, [])
        } else if let present = thing {
            if let type = report.type, type != present["fulfillmentType"]?.stringValue { return }
            let next = Rules.lay(report, over: present)
            if Rules.faults(next, report.kind).isEmpty { thing = next }
        } else if let begun = begun(report) {
            (thing, waiting) = (begun, [])
        } else {
            waiting.append(report)
        }
    }

    private mutating func begun(_ report: Report) -> JSONObject? {
        var bare = JSONObject()
        var fitting = waiting
        if report.kind == "fulfillment" {
            guard let type = report.type ?? waiting.compactMap(\.type).first else { return nil }
            bare["fulfillmentType"] = .string(type)
            fitting = fitting.filter { $0.type == nil || $0.type == type }
        }
        func whole(_ reports: [Report]) -> JSONObject {
            (reports + [report]).reduce(bare) { Rules.lay($1, over: $0) }
        }
        func faults(_ reports: [Report]) -> Set<String> { Rules.faults(whole(reports), report.kind) }
        if faults(fitting).isEmpty { return whole(fitting) }
        // What it lacks has to be there with all of them.
        guard faults([]).isDisjoint(with: faults(fitting)) else { return nil }
        var kept: [Report] = []
        for waits in fitting where faults(kept + [waits]).isSubset(of: faults(kept)) { kept.append(waits) }
        guard faults(kept).isEmpty else { return nil }
        if !kept.isEmpty {
            partly += 1
            if !faults([]).isEmpty { filled += 1 }
        }
        return whole(kept)
    }
}

@Suite struct WaitingReferenceTests {
    private static let list = ["fulfillment": "fulfillments", "return": "returns"]

    private static func members(_ kind: String, _ identifier: String, _ random: inout SeededGenerator) -> JSONObject {
        var members = JSONObject()
        if random.chance(kind == "fulfillment" ? 45 : 60) {
            members["status"] = .string(random.one(of: Rules.ranks(kind)))
            if random.chance(30), kind != "payment" { members["statusDescription"] = .string(identifier) }
        }
        let date: JSONValue = "2026-01-04T12:00:00Z"
        switch kind {
        case "fulfillment":
            if random.chance(20) { members["fulfillmentType"] = random.chance(60) ? "shipping" : "pickup" }
            if random.chance(30) { members["notes"] = random.chance(20) ? .null : .string(identifier) }
            if random.chance(25) { members["carrier"] = random.chance(20) ? .null : .string(identifier) }
            if random.chance(15) { members["deliveredAt"] = random.chance(20) ? .null : date }
            if random.chance(20) { members["displayName"] = .string(identifier) }
            if random.chance(15) { members["pickedUpAt"] = random.chance(20) ? .null : date }
        case "return":
            if random.chance(40) { members["carrier"] = random.chance(20) ? .null : .string(identifier) }
        default:
            if random.chance(30) {
                members["total"] = ["amount": .string("\(random.next() % 9)"), "currency": "USD"]
            }
        }
        return members
    }

    private static func event(_ report: Report) -> LogEntry? {
        var members = report.members
        if report.kind != "payment" { members["\(report.kind)Identifier"] = "x" }
        var event: JSONObject = ["eventIdentifier": .string(report.identifier)]
        event[report.kind] = .object(members)
        if report.isCorrection { event["correction"] = true }
        return OrderEvent.parse(.object(event)).event.map { LogEntry($0, occurredAt: report.moment) }
    }

    /// An edit that adds a thing to the base, or takes it out of an order that had it.
    private static func edit(_ report: inout Report, _ base: JSONValue, _ random: inout SeededGenerator) throws
        -> LogEntry
    {
        let kind = report.kind
        var members = JSONObject()
        switch kind {
        case "payment":
            members = [
                "status": .string(random.one(of: Rules.ranks(kind))), "total": ["amount": "7", "currency": "USD"],
            ]
        case "return": members = ["status": .string(random.one(of: Rules.ranks(kind)))]
        default:
            let isPickup = random.chance(30)
            members["fulfillmentType"] = isPickup ? "pickup" : "shipping"
            if isPickup { members["displayName"] = "Store" }
            members["status"] = .string(random.one(of: (isPickup ? Rules.pickup : Rules.parcel).sorted()))
        }
        var thing = members
        if kind != "payment" { thing["\(kind)Identifier"] = "x" }
        let place = list[kind]
        let others = place.flatMap { base[$0]?.arrayValue } ?? []
        let with = try base.replacing(
            "/" + (place ?? kind),
            with: place == nil ? .object(thing) : .array(others + [.object(thing)])
        )
        let removes = random.chance(25)
        report = Report(
            identifier: report.identifier,
            moment: report.moment,
            kind: kind,
            members: removes ? JSONObject() : members,
            isEdit: true
        )
        let edit = removes ? OrderEdit(from: with, to: base) : OrderEdit(from: base, to: with)
        return LogEntry(edit, identifier: report.identifier, occurredAt: report.moment)
    }

    private static func thing(_ kind: String, _ document: JSONValue) -> JSONObject? {
        guard let list = list[kind] else { return document[kind]?.objectValue }
        let name = "\(kind)Identifier"
        var found = document[list]?.arrayValue?.first { $0[name] == "x" }?.objectValue
        found?.remove(name)
        return found
    }

    @Test(arguments: ["fulfillment", "return", "payment"])
    func `a second reading of the rules begins the same with the same of what waited`(_ kind: String) throws {
        let base = try Story.base().document.replacing(
            "/payment",
            with: kind == "payment" ? nil : try Story.base().document["payment"]
        )
        var begun = 0
        var partly = 0
        var filled = 0
        let sets = Patience.count(1_000)
        for seed in 0..<sets {
            var random = SeededGenerator(seed: UInt64(600_000 + seed))
            var reports: [Report] = []
            var entries: [LogEntry] = []
            for index in 0..<(2 + Int(random.next() % 7)) {
                let identifier = "e\(index)"
                var report = Report(
                    identifier: identifier,
                    moment: Int64(1 + random.next() % 5),
                    kind: kind,
                    members: Self.members(kind, identifier, &random),
                    isCorrection: random.chance(15)
                )
                // What no event may say is refused before it is in the log.
                guard let entry = random.chance(15) ? try Self.edit(&report, base, &random) : Self.event(report)
                else { continue }
                reports.append(report)
                entries.append(entry)
            }
            let reference = WaitingReference(reports)
            if reference.thing != nil { begun += 1 }
            partly += reference.partly
            filled += reference.filled
            for _ in 0..<4 {
                let arrival = entries.shuffled(using: &random)
                let loaded = Int(random.next() % UInt64(arrival.count + 1))
                var slow = OrderLog(base: FoldBase(document: base), entries: Array(arrival[..<loaded]))
                var fast = FoldedLog(base: FoldBase(document: base), OrderFold())
                for entry in arrival[..<loaded] { fast.load(entry) }
                fast.finishLoading()
                for entry in arrival[loaded...] {
                    #expect(fast.append(entry) == slow.append(entry), "seed \(600_000 + seed)")
                }
                #expect(Self.thing(kind, slow.document) == reference.thing, "seed \(600_000 + seed)")
                #expect(slow.result.state.waiting.map(\.entry) == reference.waiting.map(\.identifier))
                #expect(fast.document == slow.document && fast.result.state == slow.result.state)
            }
        }
        #expect(begun > sets / 4)
        // Of returns and payments everything that is well-formed fits.
        if kind == "fulfillment", Patience.factor == 1 { #expect(partly > sets / 20 && filled > sets / 200) }
        print("waiting: \(sets) sets of \(kind), \(begun) begun, \(partly) with a part, \(filled) of need")
    }
}
