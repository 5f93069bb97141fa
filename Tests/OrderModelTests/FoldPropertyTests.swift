// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

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
            let base = FoldBase(document: generator.base)
            let whole = OrderFold(options).fold(base, entries)
            sets += 1
            for arrival in Self.shuffles(entries, &generator.random) {
                let batch = Int(generator.random.next() % UInt64(arrival.count + 1))
                var log = OrderLog(base: base, entries: Array(arrival[..<batch]), options: options)
                for entry in arrival[batch...] { _ = log.append(entry) }
                arrivals += 1
                if log.document.canonical != whole.document.canonical || log.result.state != whole.state {
                    differences += 1
                }
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
            let base = FoldBase(document: generator.base)
            var result = fold.fold(base, [])
            for (index, entry) in entries.enumerated() {
                let stored = try JSONValue(parsing: result.document.serialized())
                let read = try #require(
                    FoldResult(document: stored, stateText: result.state.text, foldedToText: result.foldedTo?.text)
                )
                result = try #require(fold.advance(read, entry))
                let whole = fold.fold(base, Array(entries[...index]))
                #expect(
                    result.document.canonical == whole.document.canonical && result.state == whole.state
                        && result.foldedTo == whole.foldedTo
                )
                #expect(result.verdicts[entry.identifier] == whole.verdicts[entry.identifier])
                advanced += 1
                if let verdict = whole.verdicts[entry.identifier] { tally[verdict, default: 0] += 1 }
            }
        }
        // In a full run every kind of entry has to occur, or the comparison says little.
        if Patience.factor == 1 {
            #expect(Verdict.allCases.allSatisfy { $0 == .stale || tally[$0, default: 0] > 20 })
        }
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
        var compactions = 0
        for number in 0..<Patience.count(300) {
            var generator = try EntryGenerator(seed: UInt64(200_000 + number))
            let options = FoldOptions(
                completeWhenFulfilled: generator.random.chance(60),
                validation: .init(isServiceFilled: true)
            )
            let fold = OrderFold(options)
            let base = FoldBase(document: generator.base)
            // The entries happened at microseconds 1 to 4; "now" puts the border between any two of them.
            let entries = try generator.set()
            let now = Int64(generator.random.next() % 6) + 90 * day
            guard let compaction = fold.compact(base, entries, now: now) else {
                // Nothing is as old as that.
                #expect(entries.allSatisfy { $0.occurredAt >= now - FoldCompaction.age })
                continue
            }
            compactions += 1
            let folded = Set(exactly: compaction.folded)
            let kept = entries.filter { !folded.contains(ExactKey($0.identifier)) }
            #expect(kept.allSatisfy { $0.occurredAt >= compaction.baseUntil })
            let stored = try FoldBase(json: JSONValue(parsing: compaction.base.json.serialized()))
            let after = fold.fold(stored, kept)
            let whole = fold.fold(base, entries)
            #expect(
                after.document.canonical == whole.document.canonical && after.state == whole.state,
                "seed \(200_000 + number)"
            )
        }
        #expect(compactions > Patience.count(300) / 2)
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
