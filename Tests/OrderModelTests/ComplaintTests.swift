// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// What answers say beyond their verdict.
@Suite struct ComplaintTests {
    private static func complaints(_ entry: LogEntry, among others: [LogEntry] = []) throws -> [Finding] {
        var log = FoldedLog(base: try Story.base(), OrderFold())
        for other in others { _ = log.append(other) }
        _ = log.append(entry)
        return log.complaints(about: entry)
    }

    @Test func `an entry that can't be applied says what is in its way`() throws {
        let pickup = try Story.parcel("readyForPickup", 1)
        let faults = try Self.complaints(pickup)
        #expect(faults.map(\.pointer?.description) == ["/fulfillment/status"] && faults[0].code == "unknown-value")
        let other = try Story.parcel("open", 1, #""fulfillmentType":"pickup""#)
        let mismatch = try Self.complaints(other)
        #expect(mismatch.map(\.code) == ["type-mismatch"])
        #expect(mismatch[0].pointer?.description == "/fulfillment/fulfillmentType")
        #expect(mismatch[0].message.contains("\"shipping\""))
        let begins = try Story.parcel("readyForPickup", 1, #""fulfillmentType":"pickup""#, of: "p")
        #expect(try Self.complaints(begins).map(\.pointer?.description) == ["/fulfillment/displayName"])
        #expect(try Self.complaints(Story.parcel("shipped", 1)).isEmpty)
    }

    @Test func `it is the place in the log that counts, in a long one, too`() throws {
        var others: [LogEntry] = []
        for at in 1...40 { others.append(try Story.parcel(nil, Int64(10 * at), #""notes":"\#(at)""#)) }
        let base = try Story.base().document
        let removes = Story.edit(205, from: base, to: try base.replacing("/fulfillments", with: nil))
        let early = try Story.parcel("readyForPickup", 203)
        let late = try Story.parcel("readyForPickup", 207)
        #expect(try Self.complaints(early, among: others + [removes]).map(\.code) == ["unknown-value"])
        #expect(try Self.complaints(late, among: others + [removes]).isEmpty)
    }

    @Test func `a place where one thing came and another went is listed once`() throws {
        let base = try Story.base().document
        let other = try base.replacing("/fulfillments/0/fulfillmentIdentifier", with: "b")
        #expect(DocumentDiff.pointers(from: base, to: other).map(\.description) == ["/fulfillments/0"])
        let first = try #require(base["fulfillments"]?[0])
        let second = try #require(other["fulfillments"]?[0])
        let both = try base.replacing("/fulfillments", with: [first, second])
        #expect(DocumentDiff.pointers(from: both, to: base).map(\.description) == ["/fulfillments/1"])
        #expect(DocumentDiff.pointers(from: both, to: other).map(\.description) == ["/fulfillments/0"])
        // The first went; where it was, the other stands now, unchanged.
        let third = try first.replacing("/fulfillmentIdentifier", with: "c")
        let swapped = try base.replacing("/fulfillments", with: [third, first])
        #expect(
            DocumentDiff.pointers(from: both, to: swapped).map(\.description) == ["/fulfillments/0", "/fulfillments/1"]
        )
    }

    @Test func `an order inside of its wrapper is known by it`() throws {
        let order = try Story.base().document
        for wrapped: JSONValue in [
            ["order": order], ["order": order, "localizations": [:]], ["revision": 1, "order": order],
        ] {
            let finding = try #require(OrderDocument.wrapperFinding(wrapped))
            #expect(finding.isError && finding.pointer?.description == "/order" && finding.code == "unknown-member")
            #expect(OrderDocument.validate(wrapped).findings == [finding])
            let lenient = OrderDocument.validate(wrapped, ValidationOptions(unknownMembers: .accept))
            #expect(lenient.document == nil && lenient.findings == [finding])
            #expect(OrderDocument.validate(text: wrapped.serialized()).findings == [finding])
        }
        for other: JSONValue in [order, ["order": 1], ["order": order, "status": "open"], [:], .null] {
            #expect(OrderDocument.wrapperFinding(other) == nil)
        }
    }

    @Test func `a wrong type is told with its article`() throws {
        let (_, findings) = OrderEvent.parse(["eventIdentifier": 7, "occurredAt": [], "payment": ["status": "paid"]])
        #expect(
            findings.map(\.message) == ["Expected a string, found a number.", "Expected a string, found an array."]
        )
    }
}
