// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    /// A parcel that a change of the document adds, and the events that had waited for it.
    @Suite struct AdditionTests {
        private static let parcel: JSONValue = [
            "fulfillmentType": "shipping", "fulfillmentIdentifier": "parcel-2", "status": "processing",
        ]

        @Test(arguments: ["PATCH", "PUT"])
        func `a final status that had waited for a parcel counts when a change adds it`(_ method: String) async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let waits = try Samples.event("w1", status: "delivered", parcel: "parcel-2")
                #expect(try await store.apply(waits, to: key).reason == "waiting")
                let second = try Samples.event("w2", status: "onTheWay", parcel: "parcel-2")
                #expect(try await store.apply(second, to: key).reason == "waiting")
                var document = try #require(try await store.order(key)?.document.objectValue)
                document["fulfillments"] = .array((document["fulfillments"]?.arrayValue ?? []) + [Self.parcel])
                let answer =
                    method == "PUT"
                    ? try await store.replace(key, with: .object(document))
                    : try await store.patch(key, with: ["fulfillments": document["fulfillments"] ?? .null])
                #expect(answer.changed == ["/fulfillments/1"])
                let overruled = answer.findings.filter { $0.code == "overruled" }
                #expect(overruled.map(\.location) == [.pointer(JSONPointer(tokens: ["fulfillments", "1", "status"]))])
                func status() async throws -> JSONValue? {
                    try await store.order(key)?.document["fulfillments"]?[1]?["status"]
                }
                #expect(try await status() == "delivered")
                // What comes late folds the whole log.
                let late = try Samples.event("late", tracking: "T", at: "2026-01-03T00:00:00Z")
                #expect(try await store.apply(late, to: key).applied)
                #expect(try await status() == "delivered")
                let events = try #require(try await store.history(key)).events
                let verdicts = Dictionary(events.map { ($0.identifier.prefix(4), $0.presentVerdict) }) { $1 }
                #expect(verdicts == ["late": "applied", "w1": "applied", "w2": "final", "edit": "applied"])
                // A correction of the merchant's still moves it, and then the event is what was overruled.
                let parcels = try #require(try await store.order(key)?.document["fulfillments"]?.arrayValue)
                _ = try await store.patch(key, with: ["fulfillments": [parcels[0], Self.parcel]])
                #expect(try await status() == "processing")
                let after = try #require(try await store.history(key)).events
                #expect(after.first { $0.identifier == "w1" }?.presentVerdict == "stale")
                try await fixture.expectInvariants()
            }
        }

        @Test(arguments: ["PATCH", "PUT"])
        func `a change that adds a payment or parcel tells of a further status that had waited`(
            _ method: String
        ) async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                func change(_ members: JSONObject) async throws -> [Finding] {
                    if method == "PATCH" { return try await store.patch(key, with: .object(members)).findings }
                    var document = try #require(try await store.order(key)?.document.objectValue)
                    for (name, value) in members { document[name] = value.isNull ? nil : .some(value) }
                    return try await store.replace(key, with: .object(document)).findings
                }
                _ = try await change(["payment": .null])
                let refund: JSONValue = ["eventIdentifier": "psp-1", "payment": ["status": "refunded"]]
                #expect(
                    try await store.apply(try #require(OrderEvent.parse(refund).event), to: key).reason == "waiting"
                )
                let moving = try Samples.event("w1", status: "onTheWay", parcel: "parcel-2")
                #expect(try await store.apply(moving, to: key).reason == "waiting")
                let first = try #require(try await store.order(key)?.document["fulfillments"]?[0])
                let paid: JSONValue = ["status": "paid", "total": ["amount": 5, "currency": "USD"]]
                let told = try await change(["payment": paid, "fulfillments": [first, Self.parcel]])
                    .filter { $0.code == "event-overruled" }
                #expect(told.allSatisfy { $0.severity == .warning } && told.count == 2)
                let places = [["fulfillments", "1", "status"], ["payment", "status"]]
                #expect(told.map(\.location) == places.map { .pointer(JSONPointer(tokens: $0)) })
                #expect(told.last?.message.contains(#""psp-1" had said "refunded""#) == true)
                let shown = try #require(try await store.order(key)?.document)
                #expect(shown["payment"]?["status"] == "paid")
                #expect(shown["fulfillments"]?[1]?["status"] == "processing")
                // Now it is there, and nothing waits for it.
                let next: JSONValue = ["status": "refunded", "total": ["amount": 5, "currency": "USD"]]
                #expect(try await change(["payment": next]).allSatisfy { $0.code != "event-overruled" })
            }
        }

        @Test func `a final status that had waited counts, unless the edit is from before additions were marked`()
            async throws
        {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                let waits = try Samples.event("w1", status: "delivered", parcel: "parcel-2")
                #expect(try await store.apply(waits, to: key).reason == "waiting")
                let first = try #require(try await store.order(key)?.document["fulfillments"]?[0])
                _ = try await store.patch(key, with: ["fulfillments": [first, Self.parcel]])
                let events = try #require(try await store.history(key)).events
                #expect(events.map(\.presentVerdict) == ["applied", "applied"])
                // Without the mark it is a correction as ever.
                try await fixture.run("update order_events set body = replace(body, ',\"adds\":true', '')")
                #expect(
                    try #require(try await store.history(key)).events.map(\.presentVerdict) == ["stale", "applied"]
                )
            }
        }
    }
}
