// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

@Suite struct EventTests {
    @Test func `a thousand faults of an event are listed, and that there are more`() {
        var event: JSONObject = ["eventIdentifier": "e", "payment": ["status": "paid"]]
        for number in 0..<60_000 { event["k\(number)"] = 1 }
        let (none, findings) = OrderEvent.parse(.object(event))
        #expect(none == nil && findings.count == 1_001 && findings.last?.code == "findings-cut-off")
        let parts = JSONObject((0..<60_000).map { ("k\($0)", JSONValue.null) })
        #expect(OrderEvent.parse(["eventIdentifier": "e", "payment": .object(parts)]).findings.count == 1_001)
    }

    @Test func `what only version 1 needs may be taken out by an event; whether it fits is the order's to say`() throws
    {
        let json: JSONValue = ["eventIdentifier": "e", "payment": ["status": nil]]
        let entry = LogEntry(try #require(OrderEvent.parse(json).event), occurredAt: 1)
        let first = try Story.base()
        #expect(OrderFold().fold(first, [entry]).verdicts["e"] == .invalidHere)
        let second = FoldBase(document: try first.document.replacing("/schemaVersion", with: 2))
        let result = OrderFold().fold(second, [entry])
        #expect(result.verdicts["e"] == .applied && result.document["payment"]?["status"] == nil)
        let total = OrderEvent.parse(["eventIdentifier": "e", "payment": ["total": nil]])
        #expect(total.findings.map(\.summary) == ["error required-member-removed /payment/total"])
    }

    @Test func `unknown members of events are kept and passed on where that is allowed`() throws {
        let options = ValidationOptions(unknownMembers: .accept, isServiceFilled: true)
        let fold = OrderFold(.init(validation: options))
        let json: JSONValue = [
            "eventIdentifier": "e", "fulfillment": ["fulfillmentIdentifier": "a", "giftWrap": ["colour": "red"]],
        ]
        #expect(OrderEvent.parse(json).event == nil)
        let (event, findings) = OrderEvent.parse(json, options: options)
        #expect(findings.isEmpty)
        let base = try Story.base().document.replacing("/loyalty", with: ["points": 7])
        #expect(OrderDocument.validate(base, .init(isServiceFilled: true)).document == nil)
        #expect(OrderDocument.validate(base, options).document != nil)
        let document = fold.fold(FoldBase(document: base), [LogEntry(try #require(event), occurredAt: 1)]).document
        let stored = try OrderDocument.trusted(document)
        let package = try JSONValue(
            parsing: stored.packageForm(updatedAt: 1, webServiceURL: nil, authenticationToken: nil)
        )
        #expect(package["fulfillments"]?[0]?["giftWrap"] == ["colour": "red"] && package["loyalty"] == ["points": 7])
        let patched = base.mergePatched(with: ["loyalty": ["points": 8]])
        let edit = LogEntry(OrderEdit(from: base, to: patched), identifier: "x", occurredAt: 2)
        #expect(fold.fold(FoldBase(document: base), [edit]).document["loyalty"] == ["points": 8])
    }

    @Test(
        arguments: [
            (#"{"eventIdentifier":"e","fulfillment":{"fulfillmentIdentifier":"a","status":"shipped"}}"#, []),
            (
                #"{"eventIdentifier":"e","occurredAt":"2026-01-01T10:00:00.5Z","correction":true,"return":{"returnIdentifier":"r","status":"open"}}"#,
                []
            ),
            (
                #"{"eventIdentifier":"e","orderIdentifier":"1","orderTypeIdentifier":"order.a","order":{"orderNumber":null}}"#,
                []
            ),
            (
                #"{"eventIdentifier":"e","fulfillment":{"fulfillmentIdentifier":"a","displayName":"S","status":"readyForPickup"}}"#,
                []
            ),
            (#"[]"#, ["error wrong-type "]),
            (#"{}"#, ["error missing-member /eventIdentifier", "error missing-member "]),
            (#"{"eventIdentifier":1,"payment":{"status":"paid"}}"#, ["error wrong-type /eventIdentifier"]),
            (#"{"eventIdentifier":"","payment":{"status":"paid"}}"#, ["error bad-identifier /eventIdentifier"]),
            (#"{"eventIdentifier":"e","payment":{}}"#, ["error nothing-to-change /payment"]),
            (
                #"{"eventIdentifier":"e","payment":{"status":"paid"},"order":{"status":"open"}}"#,
                ["error several-subjects "]
            ),
            (#"{"eventIdentifier":"e","shipment":{}}"#, ["error unknown-member /shipment", "error missing-member "]),
            (
                #"{"eventIdentifier":"e","fulfillment":{"status":"shipped"}}"#,
                ["error missing-member /fulfillment/fulfillmentIdentifier"]
            ),
            (
                #"{"eventIdentifier":"e","fulfillment":{"fulfillmentIdentifier":"a","status":"Shipped"}}"#,
                ["error unknown-value /fulfillment/status"]
            ),
            (
                #"{"eventIdentifier":"e","fulfillment":{"fulfillmentIdentifier":"a","status":null}}"#,
                ["error required-member-removed /fulfillment/status"]
            ),
            (
                #"{"eventIdentifier":"e","fulfillment":{"fulfillmentIdentifier":"a","trackingNo":"1"}}"#,
                ["error unknown-member /fulfillment/trackingNo"]
            ),
            (
                #"{"eventIdentifier":"e","fulfillment":{"fulfillmentIdentifier":"a","fulfillmentType":"shipping","status":"pickedUp"}}"#,
                ["error unknown-value /fulfillment/status"]
            ),
            (
                #"{"eventIdentifier":"e","fulfillment":{"fulfillmentIdentifier":"a","recipient":{"address":{"countryCode":"USA"}}}}"#,
                ["error bad-country /fulfillment/recipient/address/countryCode"]
            ),
            (
                #"{"eventIdentifier":"e","occurredAt":"yesterday","payment":{"status":"paid"}}"#,
                ["error bad-date /occurredAt"]
            ),
            (
                #"{"eventIdentifier":"e","correction":"yes","payment":{"status":"paid"}}"#,
                ["error wrong-type /correction"]
            ),
            (
                #"{"eventIdentifier":"e","order":{"createdAt":"2026-01-01T10:00:00Z"}}"#,
                ["error fixed-member /order/createdAt"]
            ),
            (#"{"eventIdentifier":"e","order":{"fulfillments":[]}}"#, ["error fixed-member /order/fulfillments"]),
            (
                #"{"eventIdentifier":"e","order":{"authenticationToken":"0123456789abcdef"}}"#,
                ["error fixed-member /order/authenticationToken"]
            ),
        ] as [(String, [String])]
    )
    func `an event is judged by itself`(_ text: String, _ expected: [String]) throws {
        let (event, findings) = OrderEvent.parse(try JSONValue(text: text))
        #expect(findings.map(\.summary) == expected)
        #expect((event == nil) == !expected.isEmpty)
    }

    @Test func `an event more than ten minutes ahead is refused`() throws {
        let json = try JSONValue(
            text: #"{"eventIdentifier":"e","occurredAt":"2026-01-01T10:10:00Z","payment":{"status":"paid"}}"#
        )
        let now = try OrderDate(parsing: "2026-01-01T10:00:00Z").microseconds
        #expect(OrderEvent.parse(json, now: now).findings.isEmpty)
        #expect(
            OrderEvent.parse(json, now: now - 1).findings.map(\.summary) == ["error occurred-in-future /occurredAt"]
        )
    }
}
