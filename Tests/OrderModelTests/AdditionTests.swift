// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// An edit that adds a parcel or return can't help naming a status: it takes back none that was reported before.
@Suite struct AdditionTests {
    private static let parcel: JSONValue = [
        "fulfillmentType": "shipping", "fulfillmentIdentifier": "b", "status": "processing", "carrier": "C",
    ]

    /// An edit of the order as it was, which lacks what the edit adds.
    private static func edit(_ at: Int64, _ list: String, _ things: JSONValue?) throws -> LogEntry {
        let before = try Story.base().document
        return Story.edit(at, from: before, to: try before.replacing("/" + list, with: things))
    }

    private static func adding(_ at: Int64, _ things: JSONValue...) throws -> LogEntry {
        let first = try #require(try Story.base().document["fulfillments"]?[0])
        return try edit(at, "fulfillments", .array([first] + things))
    }

    private static func delivered(_ at: Int64, _ more: String = "") throws -> LogEntry {
        try Story.parcel("delivered", at, more, of: "b")
    }

    private static func status(_ entries: [LogEntry], _ thing: String = "b") throws -> String? {
        let document = try Story.end(entries)
        let things = (document["fulfillments"]?.arrayValue ?? []) + (document["returns"]?.arrayValue ?? [])
        return things.first {
            $0["fulfillmentIdentifier"] == .string(thing) || $0["returnIdentifier"] == .string(thing)
        }?[
            "status"
        ]?.stringValue
    }

    // MARK: Scenes

    @Test(arguments: ["", #""deliveredAt":"2026-01-03T10:00:00Z""#])
    func `what waited for a parcel counts when an edit adds it`(_ more: String) throws {
        #expect(try Self.status([Self.delivered(1, more), Self.adding(2, Self.parcel)]) == "delivered")
        // In the place of the first parcel, too, as a merge patch replaces lists.
        let replaces = try Self.edit(2, "fulfillments", [Self.parcel])
        #expect(try Self.status([Self.delivered(1, more), replaces]) == "delivered")
    }

    @Test func `an edit and an event add a parcel alike`() throws {
        let event = try Story.event(
            "adds",
            2,
            "fulfillment",
            #"{"fulfillmentType":"shipping","fulfillmentIdentifier":"b","status":"processing","carrier":"C"}"#
        )
        for status in ["shipped", "issue", "cancelled", "delivered", "open"] {
            let waits = try Story.parcel(status, 1, #""statusDescription":"S""#, of: "b")
            #expect(try Story.end([waits, event]) == Story.end([waits, Self.adding(2, Self.parcel)]), "\(status)")
        }
    }

    @Test func `events that begin the parcel before the edit are no less final`() throws {
        let begins = try Story.parcel("shipped", 1, #""fulfillmentType":"shipping""#, of: "b")
        #expect(try Self.status([begins, Self.delivered(2), Self.adding(3, Self.parcel)]) == "delivered")
        #expect(try Self.status([begins, Self.adding(3, Self.parcel)]) == "processing")
    }

    @Test func `a return that an edit adds is none the less completed`() throws {
        let completed = try Story.event("r1", 1, "return", #"{"returnIdentifier":"r","status":"completed"}"#)
        let adds = try Self.edit(2, "returns", [["returnIdentifier": "r", "status": "open", "carrier": "C"]])
        #expect(try Self.status([completed, adds], "r") == "completed")
    }

    @Test func `an edit of a parcel that is there is a correction as ever`() throws {
        let adds = try Self.adding(2, Self.parcel)
        let entries = try [Self.delivered(1), adds]
        let shown = try Story.end(entries)
        #expect(shown[parcel: 1, "status"] == "delivered")
        let corrects = Story.edit(3, from: shown, to: try shown.replacing("/fulfillments/1/status", with: "shipped"))
        #expect(try Self.status(entries + [corrects]) == "shipped")
    }

    @Test func `of a parcel that is taken out and added again, only what came between counts`() throws {
        let base = try Story.base().document
        let first = try #require(base["fulfillments"]?[0])
        let without = try base.replacing("/fulfillments", with: nil)
        let removes = Story.edit(3, from: base, to: without)
        let adds = Story.edit(
            5,
            from: without,
            to: try base.replacing("/fulfillments", with: [try first.replacing("/status", with: "processing")])
        )
        #expect(try Self.status([Story.parcel("delivered", 2), removes, adds], "a") == "processing")
        #expect(try Self.status([removes, Story.parcel("delivered", 4), adds], "a") == "delivered")
        // Of another type it is another parcel.
        let pickup: JSONValue = [
            "fulfillmentType": "pickup", "fulfillmentIdentifier": "a", "displayName": "Store", "status": "open",
        ]
        let changes = Story.edit(3, from: base, to: try base.replacing("/fulfillments", with: [pickup]))
        #expect(try Self.status([Story.parcel("delivered", 2), changes], "a") == "open")
    }

    @Test func `a payment has no final status, so the newest word on it stands`() throws {
        let base = try Story.base().document
        let without = try base.replacing("/payment", with: nil)
        let text = String(decoding: without.serialized(), as: UTF8.self)
        let refunded = try Story.event("psp", 1, "payment", #"{"status":"refunded"}"#)
        let total = #""total":{"amount":"5","currency":"USD"}"#
        let event = try Story.event("adds", 2, "payment", #"{"status":"paid",\#(total)}"#)
        let edit = Story.edit(2, from: without, to: try base.replacing("/payment/status", with: "paid"))
        for adds in [event, edit] {
            #expect(try Story.end([refunded, adds], base: text)["payment"]?["status"] == "paid")
        }
    }

    @Test func `an edit that overrules a further status that had waited says so`() throws {
        let base = try Story.base().document
        let without = try base.replacing("/payment", with: nil)
        func reports(_ waiting: [LogEntry], _ edit: LogEntry, _ later: [LogEntry] = []) throws -> [OverruledReport] {
            var all: [[OverruledReport]] = []
            for arrival in Story.permutations(waiting + later) {
                var log = FoldedLog(base: FoldBase(document: without), OrderFold())
                for entry in arrival { _ = log.append(entry) }
                _ = log.append(edit)
                all.append(log.overruledReports(by: edit))
            }
            #expect(Set(all).count == 1)
            return all[0]
        }
        let refunded = try Story.event("psp", 1, "payment", #"{"status":"refunded"}"#)
        let adds = Story.edit(5, from: without, to: try base.replacing("/payment/status", with: "paid"))
        let told = try reports([refunded], adds)
        #expect(told.map(\.eventIdentifier) == ["psp"] && told.map(\.status) == ["refunded"])
        #expect(told.map(\.pointer.description) == ["/payment/status"])
        // What the edit has as well, or goes beyond, is no news; nor is what is shown for another reason.
        #expect(try reports([Story.event("psp", 1, "payment", #"{"status":"paid"}"#)], adds).isEmpty)
        #expect(try reports([Story.event("psp", 1, "payment", #"{"status":"authorized"}"#)], adds).isEmpty)
        #expect(try reports([Story.event("psp", 1, "payment", #"{"paymentMethods":["V"]}"#)], adds).isEmpty)
        let voided = try Story.event("later", 9, "payment", #"{"status":"voided"}"#)
        #expect(try reports([refunded], adds, [voided]).isEmpty)
        // The newest counts, and one that does not fit does not.
        let parcel = Story.edit(
            5,
            from: without,
            to: try without.replacing("/fulfillments", with: [#require(base["fulfillments"]?[0]), Self.parcel])
        )
        let moving = try [
            Story.parcel("outForDelivery", 1, of: "b"), Story.parcel("onTheWay", 2, of: "b"),
            Story.parcel("pickedUp", 3, of: "b"),
        ]
        #expect(try reports(moving, parcel).map(\.status) == ["onTheWay"])
        #expect(try reports(moving, parcel).map(\.pointer.description) == ["/fulfillments/1/status"])
        // A final one stays, which is no overruling of it.
        #expect(try reports([Self.delivered(1)], parcel).isEmpty)
        #expect(try reports([refunded], Story.edit(5, from: base, to: base)).isEmpty)
    }

    // MARK: The log

    @Test func `entries that were stored before additions were marked keep their meaning`() throws {
        let adds = try Self.adding(2, Self.parcel)
        #expect(adds.changes.map(\.isAddition) == [true])
        let body = try JSONValue(parsing: adds.body.serialized())
        let read = try LogEntry(kind: .edit, identifier: adds.identifier, occurredAt: adds.occurredAt, body: body)
        #expect(read == adds && read.changes.map(\.isAddition) == [true])
        let old = try body.replacing("/edit/changes/0/adds", with: nil)
        let unmarked = try LogEntry(kind: .edit, identifier: adds.identifier, occurredAt: adds.occurredAt, body: old)
        #expect(try Self.status([Self.delivered(1), unmarked]) == "processing")
    }

    @Test func `what waits in a base that was folded away counts, too`() throws {
        let day: Int64 = 86_400
        let waits = try Self.delivered(1)
        var log = OrderLog(base: try Story.base())
        #expect(log.append(waits).verdict == .waiting)
        log.compact(now: 100 * day * 1_000_000)
        #expect(log.entries.isEmpty)
        let adds = try Self.adding(99 * day, Self.parcel)
        #expect(log.append(adds).isApplied)
        #expect(log.document[parcel: 1, "status"] == "delivered")
        #expect(log.document == OrderFold().fold(try Story.base(), [waits, adds]).document)
    }

    // MARK: Any order of arrival

    /// Reports of parcel "b" around the edit that adds it, and the status by the closed form: from the last report that always
    /// moves (or the first), the first final status, else the last.
    @Test func `the status is what the closed form says, the edit counting as one more report`() throws {
        let statuses = [
            "open", "processing", "shipped", "onTheWay", "outForDelivery", "issue", "delivered", "cancelled",
        ]
        var random = SeededGenerator(seed: 11)
        var finals = 0
        for number in 0..<Patience.count(500) {
            var parcel = Self.parcel
            let added = random.one(of: statuses)
            parcel = try parcel.replacing("/status", with: .string(added))
            let adds = try Self.adding(3, parcel)
            var entries = [adds]
            for index in 0..<(1 + Int(random.next() % 6)) {
                let type = random.chance(15) ? #""fulfillmentType":"shipping","# : ""
                entries.append(
                    try Story.event(
                        "e\(index)",
                        Int64(random.next() % 6),
                        "fulfillment",
                        #"{"fulfillmentIdentifier":"b",\#(type)"status":"\#(random.one(of: statuses))"}"#,
                        correction: random.chance(15)
                    )
                )
            }
            let reports = OrderFold.sorted(entries).map { entry in
                (
                    status: entry.changes.last?.members?["status"]?.stringValue ?? "",
                    strong: entry.isCorrection && entry.kind == .event
                )
            }
            let start = reports.lastIndex { $0.strong || $0.status == "issue" || $0.status == "cancelled" } ?? 0
            let rest = reports[start...].map(\.status)
            let expected = rest.first { ["delivered", "cancelled"].contains($0) } ?? rest.last
            if expected == "delivered", added != "delivered" { finals += 1 }
            let whole = OrderFold().fold(try Story.base(), entries)
            #expect(whole.document[parcel: 1, "status"] == expected, "set \(number)")
            for _ in 0..<4 {
                let arrival = entries.shuffled(using: &random)
                let batch = Int(random.next() % UInt64(arrival.count + 1))
                var log = OrderLog(base: try Story.base(), entries: Array(arrival[..<batch]))
                var kept = FoldedLog(base: try Story.base(), OrderFold())
                for entry in arrival[..<batch] { kept.load(entry) }
                kept.finishLoading()
                for entry in arrival[batch...] { #expect(log.append(entry) == kept.append(entry), "set \(number)") }
                #expect(log.document == whole.document && log.result.state == whole.state, "set \(number)")
                #expect(kept.document == whole.document && kept.result.state == whole.state, "set \(number)")
            }
        }
        #expect(finals > Patience.count(500) / 20)
    }

    /// Each edit is made of the document that is shown when it comes, as PATCH and PUT are; then its place in the log is fixed.
    @Test func `edits made of what is shown end in one document, however the log comes in afterwards`() throws {
        var additions = 0
        for number in 0..<Patience.count(200) {
            var generator = try EntryGenerator(seed: UInt64(500_000 + number))
            let base = FoldBase(document: generator.base)
            let options = FoldOptions(completeWhenFulfilled: generator.random.chance(50))
            var log = OrderLog(base: base, options: options)
            var moment: Int64 = 5
            for entry in try generator.set(8) {
                if generator.random.chance(30) {
                    moment += 1
                    let shown = log.document
                    let next = try generator.rewritten(shown)
                    let edit = OrderEdit(from: shown, to: next)
                    if edit.isEmpty { continue }
                    additions += edit.changes.filter(\.isAddition).count
                    _ = log.append(LogEntry(edit, identifier: "edit \(moment)", occurredAt: moment))
                } else if entry.kind == .event {
                    _ = log.append(entry)
                }
            }
            let whole = OrderFold(options).fold(base, log.entries)
            #expect(whole.document == log.document && whole.state == log.result.state, "set \(number)")
            for _ in 0..<4 {
                var other = FoldedLog(base: base, OrderFold(options))
                for entry in log.entries.shuffled(using: &generator.random) { _ = other.append(entry) }
                #expect(other.document == whole.document && other.result.state == whole.state, "set \(number)")
            }
            let faults = OrderDocument.validate(whole.document, options.validation).findings.filter(\.isError)
            #expect(faults.isEmpty, "set \(number)")
        }
        #expect(additions > Patience.count(200) / 2)
    }
}

extension EntryGenerator {
    /// The document with its parcels or returns written anew, as by somebody who replaces lists.
    mutating func rewritten(_ document: JSONValue) throws -> JSONValue {
        var next = document
        if random.chance(70) {
            var parcels: [JSONValue] = []
            for identifier in ["a", "b", "c"] where random.chance(60) {
                parcels.append([
                    "fulfillmentType": "shipping", "fulfillmentIdentifier": .string(identifier),
                    "status": .string(random.one(of: ["processing", "shipped", "delivered", "issue"])),
                ])
            }
            if random.chance(30) { parcels.reverse() }
            next = try next.replacing("/fulfillments", with: parcels.isEmpty ? nil : .array(parcels))
        } else {
            var goods: [JSONValue] = []
            for identifier in ["r", "s"] where random.chance(60) {
                goods.append([
                    "returnIdentifier": .string(identifier),
                    "status": .string(random.one(of: ["open", "processing", "completed"])),
                ])
            }
            next = try next.replacing("/returns", with: goods.isEmpty ? nil : .array(goods))
        }
        return next
    }
}
