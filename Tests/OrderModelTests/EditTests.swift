// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// PATCH and PUT as log entries.
@Suite struct EditTests {
    private let before: JSONValue

    init() throws { before = try Story.base().document }

    private func after(_ edits: [(String, JSONValue?)]) throws -> JSONValue {
        try edits.reduce(before) { try $0.replacing($1.0, with: $1.1) }
    }

    private static func parcel(_ identifier: String) -> JSONValue {
        ["fulfillmentType": "shipping", "fulfillmentIdentifier": .string(identifier), "status": "open"]
    }

    @Test func `an edit holds only what it changed`() throws {
        let edit = OrderEdit(from: before, to: try after([("/fulfillments/0/carrier", "C"), ("/orderNumber", "7")]))
        #expect(
            edit.changes == [
                Change(.fulfillment("a"), ["carrier": "C"]), Change(.order, ["orderNumber": "7"]),
            ]
        )
        #expect(OrderEdit(from: before, to: before).isEmpty)
        #expect(OrderEdit(from: before, to: try after([("/payment/total/amount", "6")])).isEmpty == false)
    }

    @Test func `an edit takes effect as it was made`() throws {
        let second = Self.parcel("b")
        let third = Self.parcel("c")
        let ends: [[(String, JSONValue?)]] = [
            [("/fulfillments", [second])], [("/fulfillments", nil)], [("/payment", nil)], [("/statusDescription", nil)],
            [("/schemaVersion", 2), ("/payment/status", nil)], [("/status", "completed")],
            [("/status", "completed"), ("/statusDescription", "Done")],
            [("/fulfillments/0/status", "delivered")],
            [("/fulfillments", [second, before["fulfillments"]?[0] ?? .null])],
            [("/fulfillments", [third, second])], [("/lineItems", [["title": "A", "quantity": 1]])],
            [("/returns", [["returnIdentifier": "r", "status": "open"]])], [("/customer", ["givenName": "N"])],
            [
                (
                    "/fulfillments/0",
                    [
                        "fulfillmentType": "pickup", "fulfillmentIdentifier": "a", "status": "open",
                        "displayName": "Store",
                    ]
                )
            ],
        ]
        for edits in ends {
            let wanted = try after(edits)
            var log = OrderLog(base: FoldBase(document: before))
            let answer = log.append(Story.edit(1, from: before, to: wanted))
            #expect(log.document == wanted)
            #expect(answer.isApplied && !answer.changed.isEmpty, "\(edits)")
            #expect(OrderDocument.validate(log.document, .init(isServiceFilled: true)).document != nil)
        }
    }

    @Test func `an edit overrules a final status, and leaves what it did not touch to events`() throws {
        let delivered = try Story.parcel("delivered", 1)
        let number = try Story.parcel(nil, 3, #""trackingNumber":"X""#)
        let shown = try Story.end([delivered])
        let edit = Story.edit(2, from: shown, to: try shown.replacing("/fulfillments/0/status", with: "shipped"))
        let document = try Story.end([delivered, number, edit])
        #expect(document[parcel: 0, "status"] == "shipped" && document[parcel: 0, "trackingNumber"] == "X")
    }

    @Test func `an event about a parcel that an edit removed waits, and one from before the removal is gone`() throws {
        let edit = Story.edit(5, from: before, to: try after([("/fulfillments", nil)]))
        var log = OrderLog(base: FoldBase(document: before))
        #expect(log.append(edit).changed.map(\.description) == ["/fulfillments/0"])
        #expect(log.append(try Story.parcel("shipped", 3)).verdict == .stale)
        #expect(log.append(try Story.parcel("shipped", 7)).verdict == .waiting)
    }

    @Test func `entries are read back from the store as they were`() throws {
        let wanted = try after([("/fulfillments", [Self.parcel("c"), Self.parcel("a")]), ("/payment", nil)])
        let entries = try [
            Story.parcel("shipped", 1, #""carrier":null"#, correction: true), Story.edit(2, from: before, to: wanted),
            Story.event("p", 3, "payment", #"{"status":"paid"}"#),
            Story.event("o", 4, "order", #"{"orderNumber":null}"#),
            Story.event("r", 5, "return", #"{"returnIdentifier":"r","status":"open"}"#),
        ]
        for entry in entries {
            let stored = try JSONValue(parsing: entry.body.serialized())
            #expect(
                try LogEntry(kind: entry.kind, identifier: entry.identifier, occurredAt: entry.occurredAt, body: stored)
                    == entry
            )
            #expect(LogPosition(text: entry.position.text) == entry.position)
        }
        #expect(throws: OrderDocumentError.self) {
            try LogEntry(kind: .event, identifier: "x", occurredAt: 0, body: [:])
        }
        #expect(throws: OrderDocumentError.self) {
            try LogEntry(kind: .edit, identifier: "x", occurredAt: 0, body: [:])
        }
    }

    @Test func `parcels whose identifiers only look alike are two`() throws {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        let both = try after([("/fulfillments", [Self.parcel(composed), Self.parcel(decomposed)])])
        let found = OrderDocument.validate(both, .init(isServiceFilled: true)).findings.map(\.code)
        #expect(!found.contains("duplicate-identifier"))
        let to = try both.replacing("/fulfillments/1/status", with: "shipped")
        let edit = OrderEdit(from: both, to: to)
        #expect(edit.changes.map { $0.subject.identifier.map { Array($0.utf8) } } == [Array(decomposed.utf8)])
        let entry = LogEntry(edit, identifier: "e", occurredAt: 1)
        #expect(OrderFold().fold(FoldBase(document: both), [entry]).document == to)
        let one = try after([("/fulfillments", [Self.parcel(composed)])])
        #expect(OrderEdit(from: both, to: one).changes == [Change(.fulfillment(decomposed), nil)])
    }

    /// What a body of 1 MiB can hold. With a scan of the list for each thing this takes longer than anyone waits.
    @Test(.timeLimit(.minutes(2)))
    func `thousands of things are compared, changed, arranged and taken out in linear time`() throws {
        let count = 8_000
        let names = (0..<count).map { "parcel-\($0)" }
        let full = try after([("/fulfillments", .array(names.map(Self.parcel)))])
        let shipped = try after([
            (
                "/fulfillments",
                .array(names.reversed().map { try Self.parcel($0).replacing("/status", with: "shipped") })
            )
        ])
        let others = try after([("/fulfillments", .array(names.map { Self.parcel("other-" + $0) }))])
        let fold = OrderFold()
        for (from, to, changes) in [(full, shipped, count), (shipped, others, 2 * count)] {
            let edit = OrderEdit(from: from, to: to)
            #expect(edit.changes.count == changes)
            let entry = LogEntry(edit, identifier: "e", occurredAt: 1)
            let result = fold.fold(FoldBase(document: from), [entry])
            #expect(result.document == to)
            #expect(fold.answer(to: entry, before: from, after: result).changed.count >= count)
            // The same again, later: it changes nothing, and the first is overruled by it in each thing.
            let again = LogEntry(edit, identifier: "f", occurredAt: 2)
            let both = fold.fold(FoldBase(document: from), [entry, again])
            #expect(fold.answer(to: entry, before: to, after: both, log: [entry, again]).verdict == .stale)
        }
    }
}
