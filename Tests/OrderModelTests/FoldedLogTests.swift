// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

@Suite struct FoldedLogTests {
    private static let options = FoldOptions(validation: .init(isServiceFilled: true))

    /// The slow way: for each entry that is late, the whole log is folded.
    @Test(arguments: 0..<8)
    func `each entry gets the answer that folding the whole log gives`(_ part: Int) throws {
        var answers: [Verdict: Int] = [:]
        for number in 0..<Patience.count(12) {
            var generator = try EntryGenerator(seed: UInt64(300_000 + part * 100 + number))
            let size = number % 3 == 0 ? 8 : 20 + Int(generator.random.next() % 120)
            let entries = try generator.set(size)
            let options = FoldOptions(
                completeWhenFulfilled: generator.random.chance(60),
                validation: .init(isServiceFilled: true)
            )
            let arrival =
                switch number % 4 {
                case 0: Array(OrderFold.sorted(entries).reversed())
                case 1: OrderFold.sorted(entries)
                default: entries.shuffled(using: &generator.random)
                }
            let base = FoldBase(document: generator.base)
            let loaded = number % 2 == 0 ? 0 : arrival.count / 3
            var slow = OrderLog(base: base, entries: Array(arrival[..<loaded]), options: options)
            var log = FoldedLog(base: base, OrderFold(options))
            for entry in arrival[..<loaded] { log.load(entry) }
            log.finishLoading()
            #expect(log.document.canonical == slow.document.canonical)
            for entry in arrival[loaded...] {
                let expected = slow.append(entry)
                let answer = log.append(entry)
                #expect(answer == expected, "\(entry.identifier) of set \(part * 100 + number)")
                #expect(log.document.canonical == slow.document.canonical)
                answers[answer.verdict, default: 0] += 1
            }
            #expect(log.result.state == slow.result.state && log.result.foldedTo == slow.result.foldedTo)
            #expect(log.entries == OrderFold.sorted(entries) && log.count == log.entries.count)
        }
        if Patience.factor == 1 { #expect(Verdict.allCases.allSatisfy { answers[$0, default: 0] > 0 }) }
    }

    @Test func `the digits of an amount do not depend on which of two came first`() throws {
        func total(_ text: String, _ at: Int64) throws -> LogEntry {
            try Story.event("t\(at)", at, "payment", #"{"total":{"amount":\#(text),"currency":"USD"}}"#)
        }
        let early = try total("28.80", 1)
        let same = try total("28.8", 2)
        // So many that the fold goes on in further stretches.
        let rest = try (3..<30).map { try Story.parcel(nil, $0, #""notes":"\#($0)""#) }
        for arrival in [[early, same] + rest, [same] + rest + [early], [same] + rest.reversed() + [early]] {
            var slow = OrderLog(base: try Story.base())
            var log = FoldedLog(base: try Story.base(), OrderFold(Self.options))
            var last: FoldAnswer?
            for entry in arrival {
                last = log.append(entry)
                #expect(last == slow.append(entry))
            }
            for document in [log.document, slow.document] {
                #expect(document["payment"]?["total"]?["amount"]?.numberValue?.text == "28.80")
            }
            // A package has other bytes then, so it has to be told.
            if arrival.last == early {
                #expect(last?.verdict == .applied && last?.changed.map(\.description) == ["/payment/total"])
            }
        }
    }

    @Test func `a log that goes on from a stored result answers as one that was there from the start`() throws {
        for number in 0..<Patience.count(40) {
            var generator = try EntryGenerator(seed: UInt64(400_000 + number))
            let entries = OrderFold.sorted(try generator.set(60))
            let fold = OrderFold(Self.options)
            let base = FoldBase(document: generator.base)
            var whole = FoldedLog(base: base, fold)
            for entry in entries[..<20] { _ = whole.append(entry) }
            var rest = FoldedLog(after: whole.result, fold)
            for entry in entries[20...] { #expect(rest.append(entry) == whole.append(entry)) }
            #expect(rest.result == whole.result)
        }
    }

    @Test func `events whose names differ in how an accent is written are two, whenever they come`() throws {
        let shipped = try Story.event(
            "caf\u{E9}-1",
            10,
            "fulfillment",
            #"{"fulfillmentIdentifier":"a","status":"shipped"}"#
        )
        let moving = try Story.event(
            "cafe\u{301}-1",
            20,
            "fulfillment",
            #"{"fulfillmentIdentifier":"a","status":"onTheWay","trackingNumber":"X"}"#
        )
        let late = try Story.event("late", 5, "fulfillment", #"{"fulfillmentIdentifier":"a","notes":"N"}"#)
        for arrival in Story.permutations([shipped, moving, late]) {
            var log = FoldedLog(base: try Story.base(), OrderFold(Self.options))
            for entry in arrival { _ = log.append(entry) }
            #expect(log.count == 3 && log.document[parcel: 0, "trackingNumber"] == "X")
            #expect(log.document[parcel: 0, "status"] == "onTheWay")
            var loaded = FoldedLog(base: try Story.base(), OrderFold(Self.options))
            for entry in arrival { loaded.load(entry) }
            loaded.finishLoading()
            #expect(loaded.document == log.document)
        }
        let whole = OrderFold().fold(try Story.base(), [moving, shipped])
        #expect(whole.verdicts["caf\u{E9}-1"] == .applied && whole.verdicts["cafe\u{301}-1"] == .applied)
        var log = OrderLog(base: try Story.base(), entries: [shipped, moving])
        log.compact(now: 12_000_000 + FoldCompaction.age)
        #expect(log.entries == [moving] && log.entries != [shipped])
        #expect(shipped.position != moving.position)
    }

    @Test(arguments: ["newest first", "shuffled", "every other one late"])
    func `a thousand late entries cost a thousand short stretches, not a thousand folds`(_ arrival: String) throws {
        var random = SeededGenerator(seed: 5)
        let statuses = ["processing", "shipped", "onTheWay", "outForDelivery"]
        var entries = try (0..<1_000).map { number in
            try Story.event(
                "e\(number)",
                Int64(number),
                "fulfillment",
                #"{"fulfillmentIdentifier":"a","status":"\#(statuses[number % 4])","trackingNumber":"T\#(number)"}"#
            )
        }
        switch arrival {
        case "newest first": entries.reverse()
        case "shuffled": entries.shuffle(using: &random)
        default: entries = entries.enumerated().sorted { ($0.0 % 2, $0.0) < ($1.0 % 2, $1.0) }.map(\.element)
        }
        var log = FoldedLog(base: try Story.base(), OrderFold(Self.options))
        for entry in entries { _ = log.append(entry) }
        #expect(log.document[parcel: 0, "trackingNumber"] == "T999")
        // A fold of the whole log for each of them makes about 500,000.
        #expect(log.steps < 25_000)
    }

    /// Both were cubes of the number of entries: each fold looked through all that waits for each entry.
    @Test(arguments: ["fulfillment", "return"])
    func `hundreds of changes wait for their beginning and are all there when it comes`(_ subject: String) throws {
        let count = Patience.count(300)
        let member = subject == "return" ? "returnNumber" : "notes"
        var log = FoldedLog(base: try Story.base(), OrderFold(Self.options))
        for number in (1...count).reversed() {
            let waits = try Story.event(
                "e\(number)",
                Int64(number),
                subject,
                #"{"\#(subject)Identifier":"late","\#(member)":"\#(number)"}"#
            )
            #expect(log.append(waits).verdict == .waiting)
        }
        let founds =
            subject == "return"
            ? #"{"returnIdentifier":"late","status":"open"}"#
            : #"{"fulfillmentIdentifier":"late","fulfillmentType":"shipping","status":"open"}"#
        #expect(log.append(try Story.event("first", 0, subject, founds)).isApplied)
        #expect(log.result.state.waiting.isEmpty)
        let list = log.document[subject + "s"]?.arrayValue ?? []
        #expect(list.last?[member]?.stringValue == "\(count)")
    }
}
