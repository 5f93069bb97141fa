// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// Numbers that are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state = state &+ 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func one<Element>(of elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }

    mutating func chance(_ percent: UInt64) -> Bool { next() % 100 < percent }
}

/// Makes sets of entries with ties, duplicates, corrections, edits, removals and things that don't fit.
struct EntryGenerator {
    var random: SeededGenerator
    private let base: JSONValue

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        base = try Story.base().document
    }

    mutating func set() throws -> [LogEntry] {
        let count = 2 + Int(random.next() % 6)
        var entries: [LogEntry] = []
        for index in 0..<count { entries.append(try entry("e\(index)")) }
        if random.chance(25) { entries.append(random.one(of: entries)) }
        return entries
    }

    private mutating func entry(_ identifier: String) throws -> LogEntry {
        let moment = Int64(1 + random.next() % 4)
        if random.chance(20) { return try edit(identifier, moment) }
        var members = JSONObject()
        let subject: String
        switch random.next() % 10 {
        case 0:
            subject = "payment"
            members["status"] = .string(random.one(of: ["pending", "paid", "refunded"]))
        case 1:
            subject = "order"
            members[random.chance(70) ? "status" : "orderNumber"] = .string(
                random.one(of: ["open", "completed", "cancelled"])
            )
            if random.chance(40) {
                members["statusDescription"] = random.chance(30) ? .null : .string("order " + identifier)
            }
        case 2:
            subject = "return"
            members["returnIdentifier"] = .string(random.one(of: ["r", "s"]))
            if random.chance(70) {
                members["status"] = .string(random.one(of: ["open", "issue", "completed", "onTheWay"]))
            }
            members["carrier"] = .string(identifier)
        case 3...5:
            subject = "fulfillment"
            members["fulfillmentIdentifier"] = "a"
            members["status"] = .string(random.one(of: ["shipped", "onTheWay", "delivered", "delivered"]))
        default:
            subject = "fulfillment"
            members["fulfillmentIdentifier"] = .string(random.one(of: ["a", "a", "b"]))
            if random.chance(25) {
                members["fulfillmentType"] = .string(random.one(of: ["shipping", "shipping", "pickup"]))
            }
            if random.chance(10) { members["displayName"] = "Store" }
            if random.chance(75) {
                members["status"] = .string(
                    random.one(of: [
                        "open", "shipped", "onTheWay", "delivered", "delivered", "issue", "cancelled", "pickedUp",
                    ])
                )
            }
            if random.chance(40) { members["statusDescription"] = .string(identifier) }
            if random.chance(40) { members["carrier"] = random.chance(25) ? .null : .string(identifier) }
            if random.chance(35) || members.count < 2 { members["notes"] = .string(identifier) }
        }
        var event = JSONObject([("eventIdentifier", .string(identifier)), (subject, .object(members))])
        if random.chance(15) { event["correction"] = true }
        // A shipping fulfillment that was picked up is refused by itself; draw again.
        guard let parsed = OrderEvent.parse(.object(event)).event else { return try entry(identifier) }
        return LogEntry(parsed, occurredAt: moment)
    }

    private mutating func edit(_ identifier: String, _ moment: Int64) throws -> LogEntry {
        let parcel = base["fulfillments"]?[0] ?? .null
        let other: JSONValue = [
            "fulfillmentType": "shipping", "fulfillmentIdentifier": "b", "status": "processing",
        ]
        let after: JSONValue
        switch random.next() % 7 {
        case 0: after = try base.replacing("/fulfillments", with: nil)
        case 1: after = try base.replacing("/fulfillments", with: [other, parcel])
        case 2: after = try base.replacing("/fulfillments", with: [parcel, other])
        case 3:
            after = try base.replacing(
                "/fulfillments/0/status",
                with: .string(random.one(of: ["shipped", "delivered"]))
            )
        case 4: after = try base.replacing("/status", with: "completed")
        case 5: after = try base.replacing("/payment", with: nil)
        default: after = try base.replacing("/statusDescription", with: .string(identifier))
        }
        return LogEntry(OrderEdit(from: base, to: after), identifier: identifier, occurredAt: moment)
    }
}

@Suite struct FoldPropertyTests {
    private static func shuffles(_ entries: [LogEntry], _ random: inout SeededGenerator) -> [[LogEntry]] {
        if entries.count <= 4 { return Story.permutations(entries) }
        return (0..<8).map { _ in entries.shuffled(using: &random) }
    }

    @Test(arguments: 0..<8)
    func `any order of arrival and any batching end in the same document`(_ part: Int) throws {
        var sets = 0
        var arrivals = 0
        var differences = 0
        for number in 0..<Patience.count(250) {
            var generator = try EntryGenerator(seed: UInt64(part * 250 + number))
            let entries = try generator.set()
            let options = FoldOptions(
                completeWhenFulfilled: generator.random.chance(60),
                validation: .init(isServiceFilled: true)
            )
            let base = try Story.base()
            let whole = OrderFold(options).fold(base, entries)
            sets += 1
            for arrival in Self.shuffles(entries, &generator.random) {
                let batch = Int(generator.random.next() % UInt64(arrival.count + 1))
                var log = OrderLog(base: base, entries: Array(arrival[..<batch]), options: options)
                for entry in arrival[batch...] { _ = log.append(entry) }
                arrivals += 1
                if log.document != whole.document || log.result.state != whole.state { differences += 1 }
            }
            let findings = OrderDocument.validate(whole.document, options.validation).findings.filter(\.isError)
            #expect(findings.isEmpty, "set \(part * 250 + number)")
        }
        #expect(differences == 0)
        print("fold: \(sets) sets, \(arrivals) arrivals, \(differences) differences")
    }

    @Test func `going on from a stored result is the same as folding the whole log`() throws {
        var advanced = 0
        var tally: [Verdict: Int] = [:]
        for number in 0..<Patience.count(700) {
            var generator = try EntryGenerator(seed: UInt64(100_000 + number))
            let entries = OrderFold.sorted(try generator.set())
            let options = FoldOptions(
                completeWhenFulfilled: generator.random.chance(60),
                validation: .init(isServiceFilled: true)
            )
            let fold = OrderFold(options)
            let base = try Story.base()
            var result = fold.fold(base, [])
            for (index, entry) in entries.enumerated() {
                let stored = try JSONValue(parsing: result.document.serialized())
                let read = try #require(
                    FoldResult(document: stored, stateText: result.state.text, foldedToText: result.foldedTo?.text)
                )
                result = try #require(fold.advance(read, entry))
                let whole = fold.fold(base, Array(entries[...index]))
                #expect(
                    result.document == whole.document && result.state == whole.state
                        && result.foldedTo == whole.foldedTo
                )
                #expect(result.verdicts[entry.identifier] == whole.verdicts[entry.identifier])
                advanced += 1
                if let verdict = whole.verdicts[entry.identifier] { tally[verdict, default: 0] += 1 }
            }
        }
        // Every kind of entry has to occur, and in a full run more than now and then, or the comparison says little.
        let least = Patience.factor == 1 ? 20 : 0
        #expect(Verdict.allCases.allSatisfy { $0 == .stale || tally[$0, default: 0] > least })
        let counts = tally.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
        print("advance: \(advanced) steps equal to the whole fold (\(counts))")
    }

    /// A second reading of the status rule: from the last report that always moves (or the first), the first final status,
    /// else the last.
    @Test func `the status is what the closed form says`() throws {
        let statuses = [
            "open", "processing", "shipped", "onTheWay", "outForDelivery", "issue", "delivered", "cancelled",
        ]
        var random = SeededGenerator(seed: 7)
        for _ in 0..<Patience.count(1_000) {
            var entries: [LogEntry] = []
            for index in 0..<(1 + Int(random.next() % 6)) {
                let correction = random.chance(20)
                entries.append(
                    try Story.event(
                        "e\(index)",
                        Int64(random.next() % 4),
                        "fulfillment",
                        #"{"fulfillmentIdentifier":"a","status":"\#(random.one(of: statuses))"}"#,
                        correction: correction
                    )
                )
            }
            let reports = OrderFold.sorted(entries).map {
                (status: $0.changes.first?.members?["status"]?.stringValue ?? "", correction: $0.isCorrection)
            }
            let start = reports.lastIndex { $0.correction || $0.status == "issue" || $0.status == "cancelled" } ?? 0
            let rest = reports[start...].map(\.status)
            let expected = rest.first { ["delivered", "cancelled"].contains($0) } ?? rest.last
            #expect(OrderFold().fold(try Story.base(), entries).document[parcel: 0, "status"] == expected)
        }
    }

    @Test func `folding old entries into the base changes nothing but how far back the log goes`() throws {
        let day: Int64 = 86_400 * 1_000_000
        for number in 0..<Patience.count(300) {
            var generator = try EntryGenerator(seed: UInt64(200_000 + number))
            let options = FoldOptions(
                completeWhenFulfilled: generator.random.chance(60),
                validation: .init(isServiceFilled: true)
            )
            let fold = OrderFold(options)
            let base = try Story.base()
            // The entries happened at microseconds 1 to 4; "now" puts the border between any two of them.
            let entries = try generator.set()
            let now = Int64(generator.random.next() % 6) + 90 * day
            guard let compaction = fold.compact(base, entries, now: now) else { continue }
            let kept = entries.filter { !compaction.folded.contains($0.identifier) }
            #expect(kept.allSatisfy { $0.occurredAt >= compaction.baseUntil })
            let stored = try FoldBase(json: JSONValue(parsing: compaction.base.json.serialized()))
            let after = fold.fold(stored, kept)
            let whole = fold.fold(base, entries)
            #expect(after.document == whole.document && after.state == whole.state, "seed \(200_000 + number)")
        }
    }

    @Test func `a log keeps its newest 200 entries, and what is older than them is stale`() throws {
        var log = OrderLog(base: try Story.base())
        for index in 0..<260 {
            let entry = try Story.event(
                "e\(index)",
                Int64(1000 + index),
                "fulfillment",
                #"{"fulfillmentIdentifier":"a","notes":"\#(index)"}"#
            )
            #expect(log.append(entry).isApplied)
        }
        let document = log.document
        log.compact(now: 2_000_000_000)
        #expect(log.entries.count == 200 && log.document == document)
        #expect(log.append(try Story.parcel("shipped", 1059)).verdict == .stale)
        #expect(log.append(try Story.parcel("shipped", 1060)).verdict == .applied)
        let count = log.entries.count
        #expect(log.append(try Story.parcel("shipped", 1060)).verdict == .same && log.entries.count == count)
    }
}
