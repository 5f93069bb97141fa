// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Changing orders")
    struct ChangeTests {
        @Test("PATCH merges, honours If-Match, and answers what changed")
        func patch() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one")
                let tag = try #require(await merchant.client.send(.get, path).headers["etag"])
                let body: JSONValue = ["orderNumber": "2", "customer": ["givenName": "Ada"]]
                for wrong in ["\"x\"", "W/\(tag)", "", "\"a\", \"b\""] {
                    let refused = await merchant.client.send(.patch, path, ["if-match": wrong], json: body)
                    #expect(refused.status == .preconditionFailed, "\(wrong)")
                }
                let answer = await merchant.client.send(.patch, path, ["if-match": "\"x\",\(tag)"], json: body)
                #expect(answer.status == .ok, "\(answer.text)")
                #expect(answer.json["revision"] == 2)
                let changed = answer.json["changed"]?.arrayValue?.compactMap(\.stringValue) ?? []
                #expect(changed.contains("/orderNumber"))
                let shown = await merchant.client.send(.get, path)
                #expect(shown.json["order"]?["orderNumber"] == "2")
                #expect(shown.headers["etag"] == answer.headers["etag"])
                #expect(
                    await merchant.client.send(.patch, path, ["if-match": tag], json: body).status
                        == .preconditionFailed
                )
                let same = await merchant.client.send(.patch, path, ["if-match": "*"], json: body)
                #expect(same.json["revision"] == 2)
                #expect(same.json["changed"] == [])
            }
        }

        @Test(
            "faults of a change are pointers into the document; identifiers can't change",
            arguments: [
                (#"{"status": "done"}"#, ["/status"]), (#"{"orderIdentifier": "two"}"#, ["/orderIdentifier"]),
                (#"{"orderTypeIdentifier": "order.com.example.bakery"}"#, ["/orderTypeIdentifier"]),
                (#"{"payment": {"status": null}, "merchant": null}"#, ["/merchant", "/payment/status"]),
                (#"{"nonsense": 1}"#, ["/nonsense"]), ("[]", [""]), ("7", [""]),
            ]
        )
        func patchFaults(body: String, places: [String]) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let answer = await merchant.client.send(.patch, Merchant.path("one"), bytes: Array(body.utf8))
                #expect(answer.status == .unprocessableContent, "\(answer.text)")
                #expect(answer.places.sorted() == places, "\(answer.text)")
                #expect(await merchant.client.send(.get, Merchant.path("one")).json["revision"] == 1)
            }
        }

        @Test("PUT replaces, and is no way to create")
        func put() async throws {
            try await withMerchant { merchant in
                let path = Merchant.path("one")
                let unknown = await merchant.client.send(.put, path, json: Samples.json("one"))
                #expect(unknown.status == .notFound)
                await merchant.create("one")
                var order = Samples.json("one").objectValue ?? [:]
                order.remove("orderNumber")
                order.remove("orderIdentifier")
                let answer = await merchant.client.send(.put, path, json: .object(order))
                #expect(answer.status == .ok, "\(answer.text)")
                #expect(await merchant.client.send(.get, path).json["order"]?["orderNumber"] == nil)
                let other = await merchant.client.send(.put, path, json: Samples.json("two"))
                #expect(other.status == .unprocessableContent)
                #expect(other.places == ["/orderIdentifier"])
            }
        }

        @Test("a dry run answers and stores nothing, on every route that has one")
        func validateOnly() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                var order = Samples.json("one").objectValue ?? [:]
                order["orderNumber"] = "2"
                let runs: [(HTTPMethod, String, JSONValue)] = [
                    (.patch, "", ["orderNumber": "2"]), (.put, "", .object(order)),
                    (.post, "/events", Merchant.event("e")),
                ]
                for (method, rest, body) in runs {
                    let path = Merchant.path("one", rest) + "?validateOnly=true"
                    let answer = await merchant.client.send(method, path, ["idempotency-key": "k"], json: body)
                    #expect(answer.status == .ok, "\(answer.text)")
                    #expect(answer.json["changed"]?.arrayValue?.isEmpty == false)
                    let slip = Merchant.path("one", rest) + "?validateOnly=1"
                    #expect(await merchant.client.send(method, slip, json: body).status == .badRequest)
                }
                #expect(await merchant.client.send(.get, Merchant.path("one")).json["revision"] == 1)
                let rows = Statement(
                    "t_log",
                    "select (select count(*) from order_events) + (select count(*) from idempotency)"
                )
                let stored = try await merchant.shop.database.number(rows)
                #expect(stored == 0)
            }
        }

        @Test("an erased order is gone for every route, and its identifier stays taken")
        func erase() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                #expect(await merchant.client.send(.delete, Merchant.path("one")).status == .noContent)
                #expect(await merchant.client.send(.delete, Merchant.path("one")).status == .gone)
                for rest in ["", "/handoff", "/package"] {
                    #expect(await merchant.client.send(.get, Merchant.path("one", rest)).status == .gone)
                }
                #expect(await merchant.client.send(.patch, Merchant.path("one"), json: [:]).status == .gone)
                let event = await merchant.client.send(
                    .post,
                    Merchant.path("one", "/events"),
                    json: Merchant.event("e")
                )
                #expect(event.status == .gone)
                #expect(await merchant.client.send(.post, Merchant.path("one", "/share-links")).status == .gone)
                #expect(await merchant.client.send(.get, Merchant.path("one", "/history")).json["erased"] == true)
                #expect(await merchant.create("one").status == .conflict)
            }
        }

        @Test("an event has one effect however often it comes, and another body under its name is 422")
        func events() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one", "/events")
                let first = await merchant.client.send(.post, path, json: Merchant.event("e"))
                #expect(first.json["applied"] == true)
                #expect(first.json["duplicate"] == false)
                #expect(
                    first.json.objectValue?.keys == [
                        "eventIdentifier", "applied", "reason", "revision", "updatedAt", "changed", "duplicate",
                    ]
                )
                let again = await merchant.client.send(.post, path, json: Merchant.event("e"))
                #expect(again.json["duplicate"] == true)
                #expect(again.json["revision"] == first.json["revision"])
                let other = await merchant.client.send(.post, path, json: Merchant.event("e", status: "delivered"))
                #expect(other.status == .unprocessableContent)
                #expect(other.code == "event-identifier-reused")
                let unknown = await merchant.client.send(
                    .post,
                    Merchant.path("no", "/events"),
                    json: Merchant.event("e")
                )
                #expect(unknown.status == .notFound)
                let history = await merchant.client.send(.get, Merchant.path("one", "/history")).json
                #expect(history["events"]?[0]?["presentVerdict"] == "applied")
                #expect(history["revisions"]?.arrayValue?.count == 2)
            }
        }

        @Test("an event that names another order than its path is refused; one that names the same is taken")
        func contradiction() async throws {
            try await withMerchant { merchant in
                await merchant.create("L1")
                await merchant.create("L2")
                let path = Merchant.path("L1", "/events")
                let rows: [(type: JSONValue?, order: JSONValue?, places: [String])] = [
                    (nil, "L2", ["/orderIdentifier"]), (nil, "l1", ["/orderIdentifier"]),
                    (.string(Samples.bakery), nil, ["/orderTypeIdentifier"]),
                    ("order.com.other", "L2", ["/orderIdentifier", "/orderTypeIdentifier"]),
                    (.string(Samples.shop), "L1", []), (nil, "L1", []), (nil, nil, []),
                ]
                for (index, row) in rows.enumerated() {
                    var event = Merchant.event("e\(index)").objectValue ?? [:]
                    if let type = row.type { event["orderTypeIdentifier"] = type }
                    if let order = row.order { event["orderIdentifier"] = order }
                    let before = await merchant.client.send(.get, Merchant.path("L1")).json["revision"]
                    let answer = await merchant.client.send(.post, path, json: .object(event))
                    #expect(answer.places.sorted() == row.places, "\(answer.text)")
                    if row.places.isEmpty {
                        #expect(answer.status == .ok)
                        continue
                    }
                    #expect(answer.status == .unprocessableContent && answer.code == "invalid-event")
                    #expect(answer.json["errors"]?[0]?["code"] == "identifier-changed")
                    #expect(await merchant.client.send(.get, Merchant.path("L1")).json["revision"] == before)
                }
            }
        }

        @Test(
            "an event that is none tells all that is wrong with it",
            arguments: [
                ("{", 400, [""]), ("[]", 422, [""]), ("{}", 422, nil),
                (#"{"eventIdentifier": 1, "occurredAt": "yesterday", "fulfillment": {}}"#, 422, nil),
                (
                    #"{"eventIdentifier": "a", "occurredAt": "9999-12-31T23:59:59Z", "order": {"orderNumber": "1"}}"#,
                    422, ["/occurredAt"]
                ),
                (#"{"eventIdentifier": "a", "occurredAt": "99999999999-12-31T23:59:59Z", "order": {}}"#, 422, nil),
            ] as [(String, Int, [String]?)]
        )
        func badEvents(body: String, status: Int, places: [String]?) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let answer = await merchant.client.send(.post, Merchant.path("one", "/events"), bytes: Array(body.utf8))
                #expect(answer.status.code == status, "\(answer.text)")
                #expect(!answer.places.isEmpty)
                if let places { #expect(answer.places == places, "\(answer.text)") }
            }
        }

        @Test("of a bulk request one bad event spoils none, and each answer stands at its event's place")
        func bulk() async throws {
            try await withMerchant { merchant in
                for order in ["a", "b"] { await merchant.create(order) }
                await merchant.create("c", type: Samples.bakery)
                func event(_ name: String, _ order: String, type: String = Samples.shop, status: String) -> JSONValue {
                    var event = Merchant.event(name, status: status).objectValue ?? [:]
                    event["orderTypeIdentifier"] = .string(type)
                    event["orderIdentifier"] = .string(order)
                    return .object(event)
                }
                let events: [JSONValue] = [
                    event("1", "a", status: "shipped"), event("2", "b", status: "nonsense"),
                    event("3", "none", status: "shipped"), event("4", "c", type: Samples.bakery, status: "delivered"),
                    event("5", "a", status: "outForDelivery"), Merchant.event("6"), .null, 7,
                    event("8", "b", type: "!!", status: "shipped"),
                    [
                        "eventIdentifier": "9", "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": "b",
                        "occurredAt": "9999-12-31T23:59:59Z", "order": ["orderNumber": "1"],
                    ],
                ]
                let answer = await merchant.client.send(.post, "/api/v1/events", json: ["events": .array(events)])
                #expect(answer.status == .ok)
                let results = try #require(answer.json["results"]?.arrayValue)
                let codes = results.map { $0["problem"]?["code"]?.stringValue ?? "ok" }
                #expect(
                    codes == [
                        "ok", "invalid-event", "order-not-found", "ok", "ok", "invalid-event", "invalid-event",
                        "invalid-event", "order-not-found", "invalid-event",
                    ]
                )
                #expect(results[1]["problem"]?["errors"]?[0]?["pointer"] == "/events/1/fulfillment/status")
                #expect(results[9]["problem"]?["errors"]?[0]?["pointer"] == "/events/9/occurredAt")
                #expect(
                    results.compactMap { $0["eventIdentifier"]?.stringValue } == [
                        "1", "2", "3", "4", "5", "6", "8", "9",
                    ]
                )
                // Two events of one order made one revision; the bakery's orders complete by themselves.
                #expect(results[0]["revision"] == 2)
                #expect(results[4]["revision"] == 2)
                let bakery = await merchant.client.send(.get, Merchant.path("c", type: Samples.bakery))
                #expect(bakery.json["order"]?["status"] == "completed")
            }
        }

        @Test("when all events of a bulk request fail through no fault of theirs, the log says so in one line")
        func bulkFailure() async throws {
            try await withMerchant { merchant in
                let events = JSONValue.array(
                    (0..<5).map { number in
                        [
                            "eventIdentifier": "e", "orderTypeIdentifier": .string(Samples.shop),
                            "orderIdentifier": .string("o\(number)"), "order": ["orderNumber": "7"],
                        ]
                    }
                )
                for number in 0..<5 { await merchant.create("o\(number)") }
                try await merchant.shop.database.run("alter table order_documents rename to gone")
                let answer = await merchant.client.send(.post, "/api/v1/events", json: ["events": events])
                let results = answer.json["results"]?.arrayValue ?? []
                #expect(results.count { $0["problem"]?["code"] == "internal-error" } == 5, "\(answer.text)")
                let lines = merchant.shop.log.text.split(separator: "\n").filter { $0.contains("bulk request failed") }
                #expect(lines.count == 1)
                #expect(lines.first?.contains("\"events\":5") == true)
            }
        }

        @Test("an event of a bulk request that does not name its order is told what it lacks")
        func nameless() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let event: JSONObject = ["eventIdentifier": "e", "order": ["statusDescription": "Packed"]]
                let place: JSONObject = ["orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": "one"]
                for missing in [
                    ["orderTypeIdentifier"], ["orderIdentifier"], ["orderTypeIdentifier", "orderIdentifier"],
                ] {
                    var incomplete = event
                    for (name, value) in place where !missing.contains(name) { incomplete[name] = value }
                    let answer = await merchant.client.send(
                        .post,
                        "/api/v1/events",
                        json: ["events": [.object(incomplete)]]
                    )
                    let problem = answer.json["results"]?[0]?["problem"]
                    #expect(problem?["code"] == "invalid-event", "\(answer.text)")
                    let errors = problem?["errors"]?.arrayValue ?? []
                    #expect(errors.compactMap { $0["pointer"]?.stringValue } == missing.map { "/events/0/" + $0 })
                    #expect(errors.allSatisfy { $0["code"] == "missing-member" })
                }
            }
        }

        @Test("a bulk request is an array of at most a thousand")
        func bulkBounds() async throws {
            try await withMerchant { merchant in
                for body: JSONValue in [[], [:], ["events": [:]], ["events": nil]] {
                    let answer = await merchant.client.send(.post, "/api/v1/events", json: body)
                    #expect(answer.code == "malformed-events")
                }
                let none = await merchant.client.send(.post, "/api/v1/events", json: ["events": []])
                #expect(none.json == ["results": []])
                let many = JSONValue.array([JSONValue](repeating: .null, count: 1_001))
                #expect(
                    await merchant.client.send(.post, "/api/v1/events", json: ["events": many]).code
                        == "too-many-events"
                )
                let most = JSONValue.array([JSONValue](repeating: .null, count: 1_000))
                let answer = await merchant.client.send(.post, "/api/v1/events", json: ["events": most])
                #expect(answer.json["results"]?.arrayValue?.count == 1_000)
            }
        }
    }
}
