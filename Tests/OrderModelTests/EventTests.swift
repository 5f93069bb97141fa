// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

@Suite struct EventTests {
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
