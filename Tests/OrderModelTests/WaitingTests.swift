// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Changes that wait for one thing: each is in what begins in the end, or left out of it, by itself.
@Suite struct WaitingTests {
    /// What three systems report of a parcel that the order does not have yet; the last of them means another one.
    private static func reports() throws -> [LogEntry] {
        try [
            Story.event(
                "number",
                10,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","trackingNumber":"X9","carrier":"DHL"}"#
            ),
            Story.event(
                "arrived",
                11,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","status":"delivered","deliveredAt":"2026-01-04T11:00:00Z"}"#
            ),
            Story.event(
                "spoils",
                12,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","pickedUpAt":"2026-01-04T12:00:00Z"}"#
            ),
        ]
    }

    private static func begins(by way: String, at moment: Int64) throws -> LogEntry {
        if way == "event" {
            return try Story.event(
                "begins",
                moment,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","fulfillmentType":"shipping","status":"shipped"}"#
            )
        }
        let before = try Story.base().document
        let first = try #require(before["fulfillments"]?[0])
        let parcel: JSONValue = [
            "fulfillmentType": "shipping", "fulfillmentIdentifier": "b", "status": "processing",
        ]
        return Story.edit(moment, from: before, to: try before.replacing("/fulfillments", with: [first, parcel]))
    }

    /// Takes the first entries at once and the others one by one, the slow way and the fast one.
    private static func end(_ arrival: [LogEntry], loaded count: Int) throws -> FoldResult {
        var slow = OrderLog(base: try Story.base(), entries: Array(arrival[..<count]))
        var fast = FoldedLog(base: try Story.base(), OrderFold())
        for entry in arrival[..<count] { fast.load(entry) }
        fast.finishLoading()
        for entry in arrival[count...] { #expect(fast.append(entry) == slow.append(entry)) }
        #expect(fast.document == slow.document && fast.result.state == slow.result.state)
        return slow.result
    }

    @Test(arguments: ["event", "PATCH"], [9, 13] as [Int64])
    func `one report that does not fit leaves the others that wait for the same parcel in`(
        _ way: String,
        _ moment: Int64
    ) throws {
        let begins = try Self.begins(by: way, at: moment)
        let entries = try Self.reports() + [begins]
        for arrival in Story.permutations(entries) {
            for count in 0...arrival.count {
                let result = try Self.end(arrival, loaded: count)
                let parcel = result.document["fulfillments"]?[1]
                #expect(parcel?["status"] == "delivered" && parcel?["deliveredAt"] == "2026-01-04T11:00:00Z")
                #expect(parcel?["trackingNumber"] == "X9" && parcel?["carrier"] == "DHL")
                #expect(parcel?["pickedUpAt"] == nil && parcel?.objectValue?.count == 6)
                #expect(result.state.waiting.isEmpty)
            }
        }
        let verdicts = OrderFold().fold(try Story.base(), entries).verdicts
        #expect(verdicts["number"] == .applied && verdicts["arrived"] == .applied)
        #expect(verdicts["spoils"] == .invalidHere && verdicts[begins.identifier] == .applied)
        let present = OrderFold().presentVerdicts(try Story.base(), entries)
        #expect(present["number"] == .applied && present["arrived"] == .applied && present["spoils"] == .invalidHere)
    }

    @Test func `a pickup that can't begin without what waits begins with the part of it that fits`() throws {
        let entries = try [
            Story.event("notes", 1, "fulfillment", #"{"fulfillmentIdentifier":"b","notes":"N"}"#),
            Story.event("spoils", 2, "fulfillment", #"{"fulfillmentIdentifier":"b","carrier":"C"}"#),
            Story.event("place", 3, "fulfillment", #"{"fulfillmentIdentifier":"b","displayName":"Store"}"#),
            Story.event(
                "begins",
                4,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","fulfillmentType":"pickup","status":"readyForPickup"}"#
            ),
        ]
        for arrival in Story.permutations(entries) {
            let pickup = try Self.end(arrival, loaded: 0).document["fulfillments"]?[1]
            #expect(pickup?["displayName"] == "Store" && pickup?["status"] == "readyForPickup")
            #expect(pickup?["notes"] == "N" && pickup?["carrier"] == nil)
        }
        // As long as its place is missing it waits, and nothing is thrown away.
        let without = OrderFold().fold(try Story.base(), [entries[0], entries[1], entries[3]])
        #expect(without.state.waiting.count == 3 && without.verdicts["begins"] == .invalidHere)
    }

    @Test func `a status that its parcel can't have is left out, and the next one counts`() throws {
        let entries = try [
            Story.parcel("pickedUp", 1, of: "b"), Story.parcel("onTheWay", 2, of: "b"),
            Self.begins(by: "event", at: 3),
        ]
        #expect(try Story.end(entries)[parcel: 1, "status"] == "shipped")
        let verdicts = OrderFold().fold(try Story.base(), entries).verdicts
        #expect(verdicts["pickedUp-1-b"] == .invalidHere && verdicts["onTheWay-2-b"] == .applied)
    }

    @Test func `hundreds of changes beside one that does not fit are all there`() throws {
        let limit = 300
        var log = FoldedLog(base: try Story.base(), OrderFold())
        for number in 1...limit {
            let members =
                switch number {
                case 1: #""pickedUpAt":"2026-01-04T12:00:00Z""#
                case 2: #""carrier":"C""#
                default: #""notes":"\#(number)""#
                }
            let waits = try Story.event(
                "e\(number)",
                Int64(number),
                "fulfillment",
                #"{"fulfillmentIdentifier":"b",\#(members)}"#
            )
            #expect(log.append(waits).verdict == .waiting)
        }
        #expect(log.append(try Self.begins(by: "event", at: 1_000)).isApplied)
        #expect(log.document[parcel: 1, "notes"] == "\(limit)" && log.document[parcel: 1, "carrier"] == "C")
        #expect(log.document[parcel: 1, "pickedUpAt"] == nil && log.result.state.waiting.isEmpty)
    }

    @Test func `a thing that is begun has no complaint, and one that is not has its own`() throws {
        let entries = try Self.reports() + [Self.begins(by: "event", at: 13)]
        var log = FoldedLog(base: try Story.base(), OrderFold())
        for entry in entries { _ = log.append(entry) }
        #expect(log.complaints(about: entries[3]).isEmpty)
        let place = try Story.event(
            "pickup",
            14,
            "fulfillment",
            #"{"fulfillmentIdentifier":"p","fulfillmentType":"pickup","status":"open"}"#
        )
        _ = log.append(try Story.event("early", 13, "fulfillment", #"{"fulfillmentIdentifier":"p","carrier":"C"}"#))
        #expect(log.append(place).verdict == .invalidHere)
        #expect(log.complaints(about: place).map(\.location) == [.pointer(JSONPointer("/fulfillment/displayName")!)])
    }
}
