// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Rules of the fold about things that begin, wait, go, and are arranged: examples, each in every order of arrival where
/// that is what counts. Runs over random sets can't tell a wrong rule from a right one as long as it is the same each time.
@Suite struct FoldRuleTests {
    private static func add(_ at: Int64, _ more: String = "", type: String = "shipping") throws -> LogEntry {
        try Story.event(
            "add-\(at)-\(type)",
            at,
            "fulfillment",
            #"{"fulfillmentIdentifier":"b","fulfillmentType":"\#(type)","status":"open"\#(more)}"#
        )
    }

    private static func second(_ at: Int64, _ members: String, _ name: String = "second") throws -> LogEntry {
        try Story.event("\(name)-\(at)", at, "fulfillment", #"{"fulfillmentIdentifier":"b",\#(members)}"#)
    }

    private static func fold(_ entries: [LogEntry], base text: String = Story.order) throws -> FoldResult {
        OrderFold().fold(try Story.base(text), entries)
    }

    /// An edit that took parcel b out of an order that had it.
    private static func removal(_ at: Int64) throws -> LogEntry {
        let before = try Story.end([Self.add(0)])
        #expect(before["fulfillments"]?.arrayValue?.count == 2)
        return Story.edit(at, from: before, to: try Story.base().document)
    }

    // MARK: Beginning and waiting

    @Test func `what waited is settled once its parcel begins, and is not laid under the next one`() throws {
        let early = try Self.second(1, #""carrier":"C""#)
        let entries = try [early, Self.add(2), Self.removal(3), Self.add(4, #","notes":"N""#)]
        let begun = try Self.fold(Array(entries.prefix(2)))
        #expect(begun.state.waiting.isEmpty)
        #expect(begun.verdicts["second-1"] == .applied && begun.document[parcel: 1, "carrier"] == "C")
        let document = try Story.end(entries)
        #expect(document[parcel: 1, "notes"] == "N" && document[parcel: 1, "carrier"] == nil)
    }

    @Test func `a change that would spoil its parcel's beginning is left out of it`() throws {
        // A parcel has no displayName.
        let entries = try [Self.second(1, #""displayName":"S""#), Self.add(2)]
        let result = try Self.fold(entries)
        #expect(result.verdicts["second-1"] == .invalidHere && result.verdicts["add-2-shipping"] == .applied)
        #expect(result.state.waiting.isEmpty)
        #expect(try Story.end(entries)[parcel: 1, "status"] == "open")
    }

    @Test func `a change for a pickup is not laid under a parcel of the same name`() throws {
        // A pickup without a place can't begin.
        let entries = try [
            Self.second(1, #""fulfillmentType":"pickup","status":"open","notes":"N""#), Self.add(2),
        ]
        let result = try Self.fold(entries)
        #expect(result.verdicts["second-1"] == .typeMismatch && result.verdicts["add-2-shipping"] == .applied)
        #expect(try Story.end(entries)[parcel: 1, "notes"] == nil)
    }

    @Test func `the type may come first and the status later`() throws {
        let entries = try [
            Self.second(1, #""fulfillmentType":"shipping","notes":"N""#),
            Self.second(2, #""status":"shipped""#, "status"),
        ]
        #expect(try Story.end(entries)[parcel: 1, "status"] == "shipped")
        #expect(try Self.fold(entries).verdicts == ["second-1": .applied, "status-2": .applied])
    }

    @Test func `a removal ends the wait of its own parcel only`() throws {
        let early = try Self.second(1, #""carrier":"C""#)
        let other = try Story.parcel(nil, 1, #""carrier":"D""#, of: "c")
        let third = try Story.event(
            "third",
            4,
            "fulfillment",
            #"{"fulfillmentIdentifier":"c","fulfillmentType":"shipping","status":"open"}"#
        )
        let document = try Story.end([early, other, Self.removal(2), Self.add(3), third])
        #expect(document[parcel: 1, "fulfillmentIdentifier"] == "b" && document[parcel: 1, "carrier"] == nil)
        #expect(document[parcel: 2, "fulfillmentIdentifier"] == "c" && document[parcel: 2, "carrier"] == "D")
    }

    @Test func `with too much waiting the log is folded instead`() throws {
        let limit = FoldState.waitingLimit
        let entries = try (0...limit).map { try Story.parcel(nil, 1, #""notes":"N""#, of: "x\($0)") }
        let fold = OrderFold()
        let next = try Story.parcel("shipped", 2)
        let kept = try Self.fold(Array(entries.dropLast()))
        #expect(kept.state.waiting.count == limit && fold.advance(kept, next) != nil)
        #expect(FoldState(text: kept.state.text) == kept.state)
        let full = try Self.fold(entries)
        #expect(full.state.waiting.count == limit + 1 && fold.advance(full, next) == nil)
        #expect(FoldState(text: full.state.text) == nil)
    }

    // MARK: Completion

    private static let completed = Story.order
        .replacing(#""status":"open","statusDescription":"Thanks""#, with: #""status":"completed""#)
        .replacing("\"status\":\"open\"}]", with: "\"status\":\"delivered\"}]")

    @Test func `a parcel that is added to a completed order opens it again`() throws {
        #expect(try Story.end([Self.add(1)], base: Self.completed, complete: true)["status"] == "open")
        #expect(try Story.end([Self.add(1)], base: Self.completed)["status"] == "completed")
    }

    @Test func `an order completes when the last parcel on its way is taken out of it`() throws {
        let stated = try Story.event("stated", 3, "order", #"{"status":"open"}"#)
        let entries = try [Story.parcel("delivered", 1), Self.add(2), stated]
        #expect(try Story.end(entries, complete: true)["status"] == "open")
        #expect(try Story.end(entries + [Self.removal(4)], complete: true)["status"] == "completed")
        // What is not there any more can't go once more.
        let again = try [Self.add(0), Self.removal(2), Story.parcel("delivered", 1), stated, Self.removal(4)]
        #expect(try Story.end(again, complete: true)["status"] == "open")
    }

    @Test func `payments and returns that go are no moves of fulfillments`() throws {
        let order = Story.order
            .replacing("\"status\":\"open\"}]", with: "\"status\":\"delivered\"}]")
            .replacing(#""payment":"#, with: #""returns":[{"returnIdentifier":"r","status":"open"}],"payment":"#)
        let before = try JSONValue(text: order)
        for gone in ["/payment", "/returns"] {
            let edit = Story.edit(1, from: before, to: try before.replacing(gone, with: nil))
            let document = try Story.end([edit], base: order, complete: true)
            let expected = try before.replacing(gone, with: nil)
            #expect(document["status"] == "open" && document == expected)
        }
    }

    // MARK: Edits

    @Test func `returns and fulfillments stand in the sequence of the edit, before those that it does not know`() throws
    {
        func goods(_ names: [String]) -> JSONValue {
            .array(names.map { .object(["returnIdentifier": .string($0), "status": "open"]) })
        }
        func parcels(_ names: [String]) -> JSONValue {
            .array(
                names.map {
                    .object([
                        "fulfillmentType": "shipping", "fulfillmentIdentifier": .string($0), "status": "open",
                    ])
                }
            )
        }
        for (list, name, make) in [
            ("returns", "returnIdentifier", goods), ("fulfillments", "fulfillmentIdentifier", parcels),
        ] {
            let before = try Story.base().document.replacing("/\(list)", with: make(["1", "2", "3"]))
            let turned = Story.edit(3, from: before, to: try before.replacing("/\(list)", with: make(["3", "1", "2"])))
            // It came before the edit, whose author did not see it.
            let member = list == "returns" ? "return" : "fulfillment"
            let type = list == "returns" ? "" : #","fulfillmentType":"shipping""#
            let unseen = try Story.event("u", 2, member, #"{"\#(name)":"4","status":"open"\#(type)}"#)
            let text = String(decoding: before.serialized(), as: UTF8.self)
            let document = try Story.end([turned, unseen], base: text)
            #expect(document[list]?.arrayValue?.map { $0[name]?.stringValue } == ["3", "1", "2", "4"])
        }
    }

    @Test(arguments: [2, 8, 12])
    func `a parcel that is taken out and comes again stands last, however many there are`(_ count: Int) throws {
        let parcels = (1...count).map {
            JSONValue.object([
                "fulfillmentType": "shipping", "fulfillmentIdentifier": .string("\($0)"), "status": "open",
            ])
        }
        let before = try Story.base().document.replacing("/fulfillments", with: .array(parcels))
        let text = String(decoding: before.serialized(), as: UTF8.self)
        let gone = try before.replacing("/fulfillments", with: .array(Array(parcels.dropFirst())))
        let again = try Story.event(
            "again",
            2,
            "fulfillment",
            #"{"fulfillmentIdentifier":"1","fulfillmentType":"shipping","status":"open"}"#
        )
        let change = try Story.parcel("shipped", 3, of: "1")
        let document = try Story.end([Story.edit(1, from: before, to: gone), again, change], base: text)
        let names = document["fulfillments"]?.arrayValue?.compactMap { $0["fulfillmentIdentifier"]?.stringValue }
        #expect(names == (2...count).map { "\($0)" } + ["1"])
        #expect(document[parcel: count - 1, "status"] == "shipped")
    }

    @Test func `an order stays in version 2 as long as its payment has no status`() throws {
        let second = try Story.base().document.replacing("/schemaVersion", with: 2)
        let text = String(decoding: second.serialized(), as: UTF8.self)
        let without = Story.edit(1, from: second, to: try second.replacing("/payment/status", with: nil))
        let back = Story.edit(2, from: second, to: try second.replacing("/schemaVersion", with: 1))
        let document = try Story.end([without, back], base: text)
        #expect(document["schemaVersion"] == 2 && document["payment"]?["status"] == nil)
        #expect(try Self.fold([without, back], base: text).verdicts["edit-2"] == .invalidHere)
        #expect(try Story.end([back], base: text)["schemaVersion"] == 1)
    }

    // MARK: The log

    @Test(arguments: [
        ("payment", "", ["pending", "authorized", "paid", "declined", "voided", "refunded"]),
        (
            "return", #""returnIdentifier":"r","#,
            ["open", "onTheWay", "processing", "issue", "completed", "cancelled"]
        ),
        (
            "fulfillment", #""fulfillmentIdentifier":"a","#,
            ["open", "processing", "shipped", "onTheWay", "outForDelivery", "issue", "delivered", "cancelled"]
        ),
        ("order", "", ["open", "completed", "cancelled"]),
    ])
    func `of reports of one moment the furthest counts`(
        _ subject: String,
        _ identity: String,
        _ statuses: [String]
    ) throws {
        let text = Story.order.replacing(
            #""payment":"#,
            with: #""returns":[{"returnIdentifier":"r","status":"open"}],"payment":"#
        )
        for (index, status) in statuses.enumerated() {
            for other in statuses[..<index] {
                // The names are against the ranks.
                let entries = try [
                    Story.event("b", 1, subject, #"{\#(identity)"status":"\#(other)"}"#),
                    Story.event("a", 1, subject, #"{\#(identity)"status":"\#(status)"}"#),
                ]
                let document = try Story.end(entries, base: text)
                let thing: JSONValue? =
                    switch subject {
                    case "payment": document["payment"]
                    case "return": document["returns"]?[0]
                    case "fulfillment": document["fulfillments"]?[0]
                    default: document
                    }
                #expect(thing?["status"]?.stringValue == status, "\(other), \(status)")
            }
        }
    }

    @Test func `events whose names only look alike are two`() throws {
        let composed = try Story.event("\u{E9}", 1, "fulfillment", #"{"fulfillmentIdentifier":"a","carrier":"C"}"#)
        let decomposed = try Story.event("e\u{301}", 2, "fulfillment", #"{"fulfillmentIdentifier":"a","notes":"N"}"#)
        let document = try Story.end([composed, decomposed])
        #expect(document[parcel: 0, "carrier"] == "C" && document[parcel: 0, "notes"] == "N")
    }

    @Test func `a later change that found no place overrules nothing`() throws {
        let first = try Story.parcel(nil, 1, #""notes":"C""#)
        let same = try Story.event("same", 2, "fulfillment", #"{"fulfillmentIdentifier":"a","notes":"C"}"#)
        let misfit = try Story.event(
            "misfit",
            3,
            "fulfillment",
            #"{"fulfillmentIdentifier":"a","fulfillmentType":"pickup","notes":"D"}"#
        )
        var log = OrderLog(base: try Story.base())
        #expect(log.append(first).isApplied)
        #expect(log.append(misfit).verdict == .typeMismatch)
        #expect(log.append(same).verdict == .same)
    }

    @Test func `entries of one moment are folded away together`() throws {
        let fold = OrderFold()
        let kept = FoldCompaction.keptEntries
        // The border of the newest entries lies inside a moment of ten.
        let entries = try (0..<kept + 5).map { number in
            let moment = Int64(number < 10 ? 1_000 : 1_000 + number)
            return try Story.event(
                "e\(number)",
                moment,
                "fulfillment",
                #"{"fulfillmentIdentifier":"a","notes":"\#(number)"}"#
            )
        }
        let now: Int64 = 2_000_000_000
        #expect(fold.compact(try Story.base(), Array(entries.prefix(kept)), now: now) == nil)
        let compaction = try #require(fold.compact(try Story.base(), entries, now: now))
        #expect(compaction.folded.count == 10 && compaction.baseUntil == 1_000_000_001)
        let later = try #require(fold.compact(try Story.base(), entries + [Story.parcel("shipped", 999)], now: now))
        #expect(later.folded == ["shipped-999-a"])
        // None of them when the clock is not there yet: what is told in time must still find its place among them.
        #expect(fold.compact(try Story.base(), entries, now: 1_000_000_000) == nil)
        let early = try #require(fold.compact(try Story.base(), entries, now: 1_000_000_001))
        #expect(early.folded.count == 10 && early.baseUntil == 1_000_000_001)
    }
}
