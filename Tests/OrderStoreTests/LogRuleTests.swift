// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import OrderStore

extension StoreTests {
    /// What was acknowledged stays, wherever the clock or a name puts it in the log.
    @Suite struct LogRuleTests {
        private static let ahead = Statement(
            "t_base_ahead",
            "select count(*) from order_documents where base_until > clock_timestamp()"
        )
        private static let base = Statement(
            "t_base_micros",
            "select (extract(epoch from base_until) * 1000000)::bigint from order_documents"
        )

        /// A moment in microseconds, as an event says it.
        private static func text(_ microseconds: Int64) -> String {
            let fraction = String(1_000_000 + microseconds % 1_000_000).dropFirst()
            return WallTime(seconds: microseconds / 1_000_000).rfc3339.dropLast() + ".\(fraction)Z"
        }

        private static func event(_ identifier: String, _ members: JSONObject, at: Int64? = nil) throws -> OrderEvent {
            var parcel: JSONObject = ["fulfillmentIdentifier": "parcel-1"]
            for member in members { parcel[member.name] = member.value }
            var json: JSONObject = ["eventIdentifier": .string(identifier), "fulfillment": .object(parcel)]
            if let at { json["occurredAt"] = .string(text(at)) }
            let (event, findings) = OrderEvent.parse(.object(json))
            return try #require(event, "\(findings)")
        }

        private static func parcel(_ key: OrderKey, _ fixture: StoreFixture) async throws -> JSONValue? {
            try await fixture.store.order(key)?.document["fulfillments"]?[0]
        }

        @Test func `an amount is stored in the digits of the first who said it, whoever came first`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                func total(_ text: String, _ day: Int) throws -> OrderEvent {
                    let (event, findings) = OrderEvent.parse([
                        "eventIdentifier": .string("t\(day)"), "occurredAt": .string("2026-01-0\(day)T00:00:00Z"),
                        "payment": [
                            "total": ["amount": .number(try #require(JSONNumber(text))), "currency": "USD"]
                        ],
                    ])
                    return try #require(event, "\(findings)")
                }
                for late in [false, true] {
                    let key = try await fixture.create("one-\(late)").key
                    let events = try [total("19.90", 3), total("19.9", 4)]
                    let answers = try await [
                        store.apply(events[late ? 1 : 0], to: key), store.apply(events[late ? 0 : 1], to: key),
                    ]
                    // Behind the other it says the same; before it, packages have other bytes now.
                    #expect(answers.map(\.applied) == [true, late])
                    if late { #expect(answers[1].changed == ["/payment/total"]) }
                    let amount = try await store.order(key)?.document["payment"]?["total"]?["amount"]
                    #expect(amount?.numberValue?.text == "19.90")
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `a sender whose clock is fast takes no later change away`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let start = WallTime.now().seconds * 1_000_000 + 300_000_000
                let events = try (0..<450).map { number in
                    KeyedEvent(
                        key: key,
                        event: try Self.event(
                            "e\(number)",
                            ["trackingNumber": .string("T\(number)")],
                            at: start + Int64(number) * 100_000
                        )
                    )
                }
                for answer in await store.apply(events) { #expect(try answer.get().applied) }
                // A late one goes through the whole log, which is then shortened, but never to the time to come.
                _ = try await store.apply(
                    try Self.event("late", ["carrier": "Late Post"], at: start + 44_850_000),
                    to: key
                )
                #expect(try await fixture.number(Self.ahead) == 0)
                let plain = try await store.apply(try Self.event("plain", ["notes": "plain"]), to: key)
                #expect(plain.applied)
                _ = try await store.patch(key, with: ["statusDescription": "patched"])
                let other = try Self.event("other", ["recipient": ["givenName": "Ada"]], at: start + 44_860_000)
                #expect(try await store.apply(other, to: key).changed == ["/fulfillments/0/recipient"])
                #expect(try await store.order(key)?.document["statusDescription"] == "patched")
                #expect(try await Self.parcel(key, fixture)?["notes"] == "plain")
                _ = try await store.foldLongLogs(of: key.orderType, after: nil)
                #expect(try await fixture.number(Self.ahead) == 0)
                try await fixture.expectInvariants()
            }
        }

        @Test func `a change stays though the clock was set back behind what is folded`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                try await fixture.run(
                    "update order_documents set base_until = clock_timestamp() + interval '5 minutes'"
                )
                let until = try await fixture.number(Self.base)
                _ = try await store.patch(key, with: ["statusDescription": "patched"])
                #expect(try await store.apply(try Self.event("plain", ["notes": "plain"]), to: key).applied)
                // From before both, so that the whole log is folded.
                let late = try Self.event("late", ["carrier": "Late Post"], at: until)
                #expect(try await store.apply(late, to: key).changed == ["/fulfillments/0/carrier"])
                #expect(try await store.order(key)?.document["statusDescription"] == "patched")
                let parcel = try #require(try await Self.parcel(key, fixture))
                #expect(parcel["notes"] == "plain" && parcel["carrier"] == "Late Post")
                try await fixture.expectInvariants()
            }
        }

        @Test(arguments: [true, false])
        func `two identifiers that only look alike are two events`(_ inOneRequest: Bool) async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let one = try Self.event("caf\u{E9}", ["trackingNumber": "T1"])
                let two = try Self.event("cafe\u{301}", ["carrier": "Example Post"])
                if inOneRequest {
                    let answers = await store.apply([
                        KeyedEvent(key: key, event: one), KeyedEvent(key: key, event: two),
                    ])
                    for answer in answers { #expect(try answer.get().applied) }
                } else {
                    #expect(try await store.apply(one, to: key).applied)
                    // From before it, so that the whole log is folded.
                    let old = try Self.event(
                        "old",
                        ["notes": "old"],
                        at: WallTime.now().seconds * 1_000_000 - 60_000_000
                    )
                    for answer in await store.apply([
                        KeyedEvent(key: key, event: old), KeyedEvent(key: key, event: two),
                    ]) { #expect(try answer.get().applied) }
                }
                let parcel = try #require(try await Self.parcel(key, fixture))
                #expect(parcel["trackingNumber"] == "T1" && parcel["carrier"] == "Example Post")
                let events = try #require(try await store.history(key)).events
                #expect(
                    events.filter { $0.verdict == "applied" && $0.presentVerdict == "applied" }.count == events.count
                )
                // Old by now: both are folded away, and both are known.
                try await fixture.run("update order_events set occurred_at = occurred_at - interval '91 days'")
                _ = try await store.foldLongLogs(of: key.orderType, after: nil)
                #expect(try await fixture.number(Self.base) > 0)
                for event in [one, two] { #expect(try await store.apply(event, to: key).duplicate) }
                try await fixture.expectInvariants()
            }
        }

        @Test(arguments: ["PATCH", "PUT"])
        func `a change that is overruled in part says where`(_ method: String) async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let later = WallTime.now().seconds * 1_000_000 + 300_000_000
                let event = try Self.event("later", ["carrier": "Event Post"], at: later)
                #expect(try await store.apply(event, to: key).applied)
                var document = try #require(try await store.order(key)?.document.objectValue)
                document["fulfillments"] = [
                    [
                        "fulfillmentIdentifier": "parcel-1", "fulfillmentType": "shipping", "status": "shipped",
                        "carrier": "Merchant Post",
                    ]
                ]
                let answer =
                    method == "PUT"
                    ? try await store.replace(key, with: .object(document))
                    : try await store.patch(key, with: ["fulfillments": document["fulfillments"] ?? .null])
                #expect(answer.changed == ["/fulfillments/0/status"])
                let overruled = answer.findings.filter { $0.code == "overruled" }
                #expect(overruled.map(\.severity) == [.warning])
                #expect(overruled.map(\.location) == [.pointer(JSONPointer(tokens: ["fulfillments", "0", "carrier"]))])
                let parcel = try #require(try await Self.parcel(key, fixture))
                #expect(parcel["carrier"] == "Event Post" && parcel["status"] == "shipped")
                try await fixture.expectInvariants()
            }
        }

        @Test func `a change that is overruled as a whole is refused, one beside later events is not spoken of`()
            async throws
        {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let later = WallTime.now().seconds * 1_000_000 + 300_000_000
                let options = ChangeOptions(completeWhenFulfilled: true)
                let event = try Self.event("later", ["carrier": "Event Post"], at: later)
                #expect(try await store.apply(event, to: key, options).applied)
                func fulfillments(_ members: JSONObject) -> JSONValue {
                    var parcel: JSONObject = [
                        "fulfillmentIdentifier": "parcel-1", "fulfillmentType": "shipping", "status": "open",
                        "carrier": "Event Post",
                    ]
                    for member in members { parcel[member.name] = member.value }
                    return ["fulfillments": [.object(parcel)]]
                }
                let error = await #expect(throws: StoreError.self) {
                    try await store.patch(key, with: fulfillments(["carrier": "Merchant Post"]), options)
                }
                #expect(error?.code == .invalidDocument)
                #expect(error?.findings.contains { $0.code == "overruled" && $0.isError } == true)
                // The status that is derived from it is not what was asked for, and overrules nothing.
                let answer = try await store.patch(key, with: fulfillments(["status": "delivered"]), options)
                #expect(!answer.findings.contains { $0.code == "overruled" })
                #expect(try await store.order(key)?.document["status"] == "completed")
                try await fixture.expectInvariants()
            }
        }
    }
}
