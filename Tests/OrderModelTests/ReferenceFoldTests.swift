// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// One report about a thing that is in the base, from which both a log entry and the reference are made.
private struct Report {
    let identifier: String
    let moment: Int64
    let isCorrection: Bool
    let isEdit: Bool
    /// "order", "payment", or the identifier of a fulfillment or return.
    let thing: String
    let members: JSONObject

    /// Corrections and edits may take a final status back.
    var isStrong: Bool { isCorrection || isEdit }
    var status: String? { members["status"]?.stringValue }
}

/// The rules of merging once more, told from the end: which report had the last word on each member. It shares no code with
/// the fold, and only knows sets in which nothing waits, begins or is removed.
private struct ReferenceFold {
    private static let ranks: [String: [String]] = [
        "order": ["open", "completed", "cancelled"],
        "payment": ["pending", "authorized", "paid", "declined", "voided", "refunded"],
        "return": ["open", "onTheWay", "processing", "issue", "completed", "cancelled"],
        "fulfillment": [
            "open", "processing", "shipped", "onTheWay", "outForDelivery", "readyForPickup", "issue", "delivered",
            "pickedUp", "cancelled",
        ],
    ]
    private static let final: [String: Set<String>] = [
        "order": ["cancelled"], "payment": [], "return": ["completed", "cancelled"],
        "fulfillment": ["delivered", "pickedUp", "cancelled"],
    ]

    let reports: [Report]
    /// Index in the log of the last status move of any fulfillment.
    private(set) var lastMove = -1
    /// Index in the log of the last stated order status, and of the last description of the order.
    private var lastStated = -2
    private var lastDescribed = -2

    init(_ reports: [Report]) {
        self.reports = reports.sorted { Self.key($0).lexicographicallyPrecedes(Self.key($1)) }
    }

    static func kind(_ thing: String) -> String {
        switch thing {
        case "order", "payment": thing
        case "r", "s": "return"
        default: "fulfillment"
        }
    }

    /// Moment, edits last, corrections last, the further status last, then the name.
    private static func key(_ report: Report) -> [Int64] {
        var rank = Int64(0)
        if !report.isEdit {
            rank = report.status.map { Int64(ranks[kind(report.thing)]?.firstIndex(of: $0) ?? 50) } ?? 90
        }
        return [report.moment, report.isEdit ? 1 : 0, report.isStrong ? 1 : 0, rank]
            + report.identifier.utf8.map(Int64.init)
    }

    mutating func end(of thing: String, from base: JSONObject) -> JSONObject {
        let kind = Self.kind(thing)
        let final = Self.final[kind] ?? []
        let own = reports.enumerated().filter { $0.element.thing == thing }
        // The status: nothing but issue, cancelled and the strong moves a final one.
        var status = base["status"]?.stringValue
        var held: Set<Int> = []
        var moved: Set<Int> = []
        for (index, report) in own {
            guard let new = report.status, new != status else { continue }
            if let status, final.contains(status), new != "issue", new != "cancelled", !report.isStrong {
                held.insert(index)
            } else {
                status = new
                moved.insert(index)
            }
        }
        if kind == "fulfillment", let last = moved.max() { lastMove = max(lastMove, last) }
        var result = base
        result["status"] = status.map { .string($0) }
        for name in Set(own.flatMap { $0.element.members.keys }) where name != "status" {
            let words = own.filter { index, report in
                if name == "statusDescription" {
                    if held.contains(index) { return false }
                    // A move without a description takes the old one away.
                    return report.members[name] != nil || moved.contains(index)
                }
                return report.members[name] != nil
            }
            guard let last = words.last else { continue }
            let value = last.element.members[name] ?? .null
            result.remove(name)
            if !value.isNull { result[name] = value }
        }
        if kind == "order" {
            let heeded = own.filter { !held.contains($0.offset) }
            lastStated = heeded.last { $0.element.status != nil }?.offset ?? -2
            lastDescribed = heeded.last { $0.element.members["statusDescription"] != nil }?.offset ?? -2
        }
        return result
    }

    /// What all fulfillments at their end make of the order, if they moved after its status was stated.
    func completing(_ order: JSONObject, _ statuses: [String]) -> JSONObject {
        guard lastMove > lastStated, lastMove >= 0, order["status"]?.stringValue != "cancelled" else { return order }
        let ended = statuses.allSatisfy { Self.final["fulfillment"]?.contains($0) == true }
        let status = !ended ? "open" : statuses.allSatisfy { $0 == "cancelled" } ? "cancelled" : "completed"
        if order["status"]?.stringValue == status { return order }
        var order = order
        order["status"] = .string(status)
        if lastDescribed < lastMove { order.remove("statusDescription") }
        return order
    }
}

@Suite struct ReferenceFoldTests {
    private static let base = """
        {"schemaVersion":1,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"A-1","orderType":"ecommerce",
        "createdAt":"2026-01-01T10:00:00Z","status":"open","orderNumber":"1",
        "merchant":{"merchantIdentifier":"m","displayName":"Shop","url":"https://www.example.com/"},
        "orderManagementURL":"https://www.example.com/o",
        "payment":{"status":"authorized","total":{"amount":"5","currency":"USD"}},
        "fulfillments":[{"fulfillmentType":"shipping","fulfillmentIdentifier":"a","status":"open","carrier":"C"},
        {"fulfillmentType":"pickup","fulfillmentIdentifier":"p","displayName":"Store","status":"open"}],
        "returns":[{"returnIdentifier":"r","status":"open"},{"returnIdentifier":"s","status":"completed"}]}
        """

    private static let things = ["order", "payment", "a", "p", "r", "s"]
    private static let pointers = [
        "payment": "/payment", "a": "/fulfillments/0", "p": "/fulfillments/1", "r": "/returns/0", "s": "/returns/1",
    ]

    private static func statuses(_ thing: String) -> [String] {
        switch thing {
        case "order": OrderStatus.names
        case "payment": PaymentStatus.names
        case "a": FulfillmentStatus.shippingNames + ["delivered", "cancelled"]
        case "p": FulfillmentStatus.pickupNames + ["pickedUp"]
        default: ReturnStatus.names
        }
    }

    private static func report(_ index: Int, _ random: inout SeededGenerator) -> Report {
        let identifier = "e\(index)"
        let thing = random.one(of: things + ["a", "a", "p", "order"])
        var members = JSONObject()
        if random.chance(75) { members["status"] = .string(random.one(of: statuses(thing))) }
        if thing != "payment", random.chance(35) {
            members["statusDescription"] = random.chance(20) ? .null : .string("about " + identifier)
        }
        let names: [String] =
            switch thing {
            case "order": ["orderNumber"]
            case "payment": []
            case "a": ["carrier", "notes", "trackingNumber"]
            case "p": ["notes"]
            default: ["carrier", "returnNumber", "notes"]
            }
        for name in names where random.chance(35) { members[name] = random.chance(25) ? .null : .string(identifier) }
        if thing == "payment", random.chance(40) || members.isEmpty {
            members["total"] = ["amount": .string("\(index + 6)"), "currency": "USD"]
        }
        if members.isEmpty { members[names.last ?? "notes"] = .string(identifier) }
        let isEdit = random.chance(15)
        return Report(
            identifier: identifier,
            moment: Int64(1 + random.next() % 4),
            isCorrection: !isEdit && random.chance(15),
            isEdit: isEdit,
            thing: thing,
            members: members
        )
    }

    /// The entry of a report; an edit is what a PATCH of the base makes, so it may say less than the report.
    private static func entry(_ report: inout Report, _ base: JSONValue) throws -> LogEntry? {
        if report.isEdit {
            var after = base
            for (name, value) in report.members {
                after = try after.replacing(
                    (pointers[report.thing] ?? "") + "/" + name,
                    with: value.isNull ? nil : value
                )
            }
            let edit = OrderEdit(from: base, to: after)
            guard let change = edit.changes.first, let members = change.members else { return nil }
            report = Report(
                identifier: report.identifier,
                moment: report.moment,
                isCorrection: false,
                isEdit: true,
                thing: report.thing,
                members: members
            )
            return LogEntry(edit, identifier: report.identifier, occurredAt: report.moment)
        }
        var members = report.members
        let kind = ReferenceFold.kind(report.thing)
        if kind == "fulfillment" { members["fulfillmentIdentifier"] = .string(report.thing) }
        if kind == "return" { members["returnIdentifier"] = .string(report.thing) }
        var event: JSONObject = ["eventIdentifier": .string(report.identifier)]
        event[kind] = .object(members)
        if report.isCorrection { event["correction"] = true }
        let (parsed, findings) = OrderEvent.parse(.object(event))
        return LogEntry(try #require(parsed, "\(findings)"), occurredAt: report.moment)
    }

    @Test(arguments: [false, true])
    func `a second reading of the rules ends in the same document`(_ completes: Bool) throws {
        let base = try JSONValue(text: Self.base)
        var sets = 0
        var arrivals = 0
        var taken = 0
        for seed in 0..<1500 {
            var random = SeededGenerator(seed: UInt64(300_000 + seed))
            var reports: [Report] = []
            var entries: [LogEntry] = []
            for index in 0..<(1 + Int(random.next() % 9)) {
                var report = Self.report(index, &random)
                guard let entry = try Self.entry(&report, base) else { continue }
                reports.append(report)
                entries.append(entry)
            }
            taken += entries.count
            var reference = ReferenceFold(reports)
            var expected: [String: JSONObject] = [:]
            for thing in Self.things {
                let object = thing == "order" ? base : JSONPointer(Self.pointers[thing] ?? "").flatMap { base.at($0) }
                expected[thing] = reference.end(of: thing, from: try #require(object?.objectValue))
            }
            if completes, let order = expected["order"] {
                let statuses = ["a", "p"].compactMap { expected[$0]?["status"]?.stringValue }
                expected["order"] = reference.completing(order, statuses)
            }
            if random.chance(30), let twice = entries.first { entries.append(twice) }
            for _ in 0..<3 {
                var log = OrderLog(
                    base: FoldBase(document: base),
                    options: FoldOptions(completeWhenFulfilled: completes)
                )
                for entry in entries.shuffled(using: &random) { _ = log.append(entry) }
                arrivals += 1
                for thing in Self.things {
                    let found =
                        thing == "order"
                        ? log.document : JSONPointer(Self.pointers[thing] ?? "").flatMap { log.document.at($0) }
                    var object = try #require(found?.objectValue)
                    var wanted = try #require(expected[thing])
                    if thing == "order" {
                        for part in ["payment", "fulfillments", "returns"] {
                            object.remove(part)
                            wanted.remove(part)
                        }
                    }
                    #expect(object == wanted, "seed \(300_000 + seed), \(thing)")
                }
            }
            sets += 1
        }
        #expect(taken > 3 * sets)
        print("reference: \(sets) sets, \(taken) entries, \(arrivals) arrivals")
    }
}
