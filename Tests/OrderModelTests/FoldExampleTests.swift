// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Builds orders and entries for the tests of the fold in few words.
enum Story {
    static let order = """
        {"schemaVersion":1,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"A-1","orderType":"ecommerce",
        "createdAt":"2026-01-01T10:00:00Z","status":"open","statusDescription":"Thanks",
        "merchant":{"merchantIdentifier":"m","displayName":"Shop","url":"https://www.example.com/"},
        "orderManagementURL":"https://www.example.com/o",
        "payment":{"status":"authorized","total":{"amount":"5","currency":"USD"}},
        "fulfillments":[{"fulfillmentType":"shipping","fulfillmentIdentifier":"a","status":"open"}]}
        """

    static func base(_ text: String = order) throws -> FoldBase { FoldBase(document: try JSONValue(text: text)) }

    /// An event at second `at`: `event("e1", 1, "fulfillment", #"{"fulfillmentIdentifier":"a","status":"shipped"}"#)`.
    static func event(
        _ identifier: String,
        _ at: Int64,
        _ subject: String,
        _ members: String,
        correction: Bool = false
    ) throws -> LogEntry {
        var object = JSONObject([("eventIdentifier", .string(identifier)), (subject, try JSONValue(text: members))])
        if correction { object["correction"] = true }
        let (event, findings) = OrderEvent.parse(.object(object))
        #expect(findings.isEmpty)
        return LogEntry(try #require(event), occurredAt: at * 1_000_000)
    }

    /// A status of parcel "a", with further members.
    static func parcel(
        _ status: String?,
        _ at: Int64,
        _ more: String = "",
        correction: Bool = false,
        of identifier: String = "a"
    ) throws -> LogEntry {
        let state = status.map { #","status":"\#($0)""# } ?? ""
        let rest = more.isEmpty ? "" : "," + more
        return try event(
            "\(status ?? "update")-\(at)-\(identifier)\(more.isEmpty ? "" : "+")",
            at,
            "fulfillment",
            #"{"fulfillmentIdentifier":"\#(identifier)"\#(state)\#(rest)}"#,
            correction: correction
        )
    }

    static func edit(_ at: Int64, from before: JSONValue, to after: JSONValue) -> LogEntry {
        LogEntry(OrderEdit(from: before, to: after), identifier: "edit-\(at)", occurredAt: at * 1_000_000)
    }

    /// Every order of arrival of few entries.
    static func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        if elements.count < 2 { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    /// The one document that every order of arrival ends in.
    static func end(_ entries: [LogEntry], base text: String = order, complete: Bool = false) throws -> JSONValue {
        var end: JSONValue?
        for arrival in permutations(entries) {
            var log = OrderLog(base: try base(text), options: .init(completeWhenFulfilled: complete))
            for entry in arrival { _ = log.append(entry) }
            if let end { #expect(log.document.canonical == end.canonical) }
            end = log.document
        }
        return try #require(end)
    }
}

extension JSONValue {
    /// The bytes that do not depend on the sequence of members, but on how numbers are written.
    var canonical: [UInt8] { serialized(.canonical) }

    subscript(parcel index: Int, member: String) -> String? { self["fulfillments"]?[index]?[member]?.stringValue }
}

/// The examples that the merge rules were agreed on, each in every order of arrival.
@Suite struct FoldExampleTests {
    @Test func `a late tracking number stays under a newer status`() throws {
        let document = try Story.end([
            Story.parcel("shipped", 1, #""trackingNumber":"X""#), Story.parcel("outForDelivery", 2),
        ])
        #expect(document[parcel: 0, "status"] == "outForDelivery" && document[parcel: 0, "trackingNumber"] == "X")
    }

    struct StatusCase: Sendable, CustomTestStringConvertible {
        let reports: [(status: String, at: Int64, correction: Bool)]
        let end: String
        var testDescription: String { reports.map { "\($0.status)@\($0.at)" }.joined(separator: ", ") + " → \(end)" }
    }

    @Test(arguments: [
        StatusCase(reports: [("delivered", 1, false), ("onTheWay", 2, false)], end: "delivered"),
        StatusCase(reports: [("delivered", 1, false), ("issue", 2, false), ("onTheWay", 3, false)], end: "onTheWay"),
        StatusCase(reports: [("delivered", 2, false), ("shipped", 3, true)], end: "shipped"),
        StatusCase(reports: [("shipped", 1, true), ("delivered", 2, false)], end: "delivered"),
        StatusCase(
            reports: [("shipped", 1, false), ("delivered", 2, false), ("cancelled", 3, false)],
            end: "cancelled"
        ),
        StatusCase(reports: [("cancelled", 1, false), ("delivered", 2, false)], end: "cancelled"),
        StatusCase(reports: [("onTheWay", 1, false), ("shipped", 1, false)], end: "onTheWay"),
        StatusCase(reports: [("delivered", 1, false), ("open", 1, false), ("issue", 1, false)], end: "delivered"),
        StatusCase(reports: [("delivered", 1, false), ("shipped", 1, true)], end: "shipped"),
    ])
    func `a status moves unless the present one is final`(_ example: StatusCase) throws {
        let entries = try example.reports.map { try Story.parcel($0.status, $0.at, correction: $0.correction) }
        #expect(try Story.end(entries)[parcel: 0, "status"] == example.end)
    }

    @Test func `an update that comes before the event that adds its parcel counts in the end`() throws {
        let document = try Story.end([
            Story.event(
                "add",
                1,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","fulfillmentType":"shipping","status":"open"}"#
            ),
            Story.parcel("shipped", 2, #""trackingNumber":"Y""#, of: "b"),
        ])
        #expect(document[parcel: 1, "status"] == "shipped" && document[parcel: 1, "trackingNumber"] == "Y")
    }

    @Test func `an update whose clock is behind that of the event that adds its parcel counts, too`() throws {
        let document = try Story.end([
            Story.parcel("processing", 1, #""trackingNumber":"Y""#, of: "b"),
            Story.event(
                "add",
                2,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","fulfillmentType":"shipping","status":"open"}"#
            ),
        ])
        #expect(document[parcel: 1, "status"] == "open" && document[parcel: 1, "trackingNumber"] == "Y")
    }

    @Test func `when a status is held back, other members still apply, but not its description`() throws {
        let document = try Story.end([
            Story.parcel("delivered", 1, #""statusDescription":"At the door""#),
            Story.parcel("onTheWay", 2, #""statusDescription":"Soon","carrier":"C""#),
        ])
        #expect(document[parcel: 0, "status"] == "delivered")
        #expect(document[parcel: 0, "statusDescription"] == "At the door")
        #expect(document[parcel: 0, "carrier"] == "C")
    }

    @Test func `a status that changes without a description removes the old one`() throws {
        let document = try Story.end([
            Story.parcel("processing", 1, #""statusDescription":"Packing""#), Story.parcel("shipped", 2),
        ])
        #expect(document[parcel: 0, "status"] == "shipped" && document[parcel: 0, "statusDescription"] == nil)
    }

    @Test func `null removes a member, and newer members win one by one`() throws {
        let document = try Story.end([
            Story.parcel(nil, 1, #""carrier":"C","trackingNumber":"1""#), Story.parcel(nil, 2, #""carrier":null"#),
            Story.parcel("shipped", 3, #""trackingNumber":"2""#),
        ])
        #expect(document[parcel: 0, "carrier"] == nil && document[parcel: 0, "trackingNumber"] == "2")
    }

    @Test func `an event that does not fit is kept, skipped, and named`() throws {
        var log = OrderLog(base: try Story.base())
        #expect(log.append(try Story.parcel("shipped", 5, of: "b")).verdict == .waiting)
        #expect(log.append(try Story.parcel("pickedUp", 6)).verdict == .invalidHere)
        #expect(
            log.append(
                try Story.event("t", 7, "fulfillment", #"{"fulfillmentIdentifier":"a","fulfillmentType":"pickup"}"#)
            ).verdict == .typeMismatch
        )
        let answer = log.append(
            try Story.event(
                "n",
                8,
                "fulfillment",
                #"{"fulfillmentIdentifier":"c","fulfillmentType":"pickup","status":"open"}"#
            )
        )
        #expect(answer.verdict == .invalidHere)  // No name of the place to pick up from.
        #expect(log.document == (try Story.base().document))
        let added = log.append(
            try Story.event(
                "add",
                4,
                "fulfillment",
                #"{"fulfillmentIdentifier":"b","fulfillmentType":"shipping","status":"open"}"#
            )
        )
        #expect(added.verdict == .applied && added.changed.map(\.description) == ["/fulfillments/1"])
        #expect(log.document[parcel: 1, "status"] == "shipped")
        #expect(log.result.verdicts["shipped-5-b"] == .applied)
    }

    @Test func `an answer says what the arrival changed`() throws {
        var log = OrderLog(base: try Story.base())
        let shipped = log.append(try Story.parcel("shipped", 10, #""trackingNumber":"X""#))
        #expect(shipped.changed.map(\.description) == ["/fulfillments/0/status", "/fulfillments/0/trackingNumber"])
        #expect(log.append(try Story.parcel("processing", 5)).verdict == .stale)
        #expect(log.append(try Story.parcel("shipped", 11)).verdict == .same)
        #expect(log.append(try Story.parcel("delivered", 12)).verdict == .applied)
        #expect(log.append(try Story.parcel("onTheWay", 13)).verdict == .final)
        let late = log.append(try Story.parcel("onTheWay", 14, #""carrier":"C""#))
        #expect(late.verdict == .applied && late.changed.map(\.description) == ["/fulfillments/0/carrier"])
        let payment = log.append(try Story.event("p", 15, "payment", #"{"status":"paid"}"#))
        #expect(payment.changed.map(\.description) == ["/payment/status"])
    }
}

/// The order's own status, stated and derived.
@Suite struct CompletionTests {
    private func stated(_ status: String, _ at: Int64, correction: Bool = false) throws -> LogEntry {
        try Story.event("order-\(status)-\(at)", at, "order", #"{"status":"\#(status)"}"#, correction: correction)
    }

    @Test func `an order completes when its last parcel arrives, and shows no outdated description`() throws {
        let document = try Story.end([Story.parcel("delivered", 1)], complete: true)
        #expect(document["status"] == "completed" && document["statusDescription"] == nil)
        #expect(try Story.end([Story.parcel("delivered", 1)])["status"] == "open")
    }

    @Test func `an order of cancelled parcels is cancelled`() throws {
        #expect(try Story.end([Story.parcel("cancelled", 1)], complete: true)["status"] == "cancelled")
    }

    @Test func `a status that is stated after the newest move stands`() throws {
        #expect(try Story.end([Story.parcel("delivered", 1), stated("open", 2)], complete: true)["status"] == "open")
        #expect(
            try Story.end([Story.parcel("delivered", 2), stated("open", 1)], complete: true)["status"] == "completed"
        )
    }

    @Test func `a parcel that is added or reopened later opens the order again, with its description`() throws {
        let more = #"{"fulfillmentIdentifier":"b","fulfillmentType":"shipping","status":"open"}"#
        let added = try Story.end(
            [Story.parcel("delivered", 1), Story.event("add", 2, "fulfillment", more)],
            complete: true
        )
        #expect(added["status"] == "open" && added["statusDescription"] == "Thanks")
        let issue = try Story.end(
            [Story.parcel("delivered", 1), stated("completed", 2), Story.parcel("issue", 3)],
            complete: true
        )
        #expect(issue["status"] == "open")
    }

    @Test func `an order that is said to be cancelled stays so, except by correction`() throws {
        let cancelled = try [stated("cancelled", 1), Story.parcel("delivered", 2), stated("open", 3)]
        #expect(try Story.end(cancelled, complete: true)["status"] == "cancelled")
        #expect(try Story.end(cancelled + [stated("open", 4, correction: true)], complete: true)["status"] == "open")
    }

    @Test func `a created order keeps its status until a parcel moves`() throws {
        let order = Story.order.replacing("\"status\":\"open\"}]", with: "\"status\":\"delivered\"}]")
        #expect(try Story.end([], base: order, complete: true)["status"] == "open")
        let noted = try Story.end([Story.parcel(nil, 1, #""notes":"N""#)], base: order, complete: true)
        #expect(noted["status"] == "open")
    }
}

extension String {
    /// With the first such part replaced, which must be there: a test of an unchanged text would show nothing.
    func replacing(_ part: String, with other: String) -> String {
        guard let range = firstRange(of: part) else {
            Issue.record("\(self) has no \(part)")
            return self
        }
        var copy = self
        copy.replaceSubrange(range, with: other)
        return copy
    }
}
