// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Idempotency keys")
    struct IdempotencyTests {
        @Test("the same create again is the same answer with the right token, marked; another body is 422")
        func replay() async throws {
            try await withMerchant { merchant in
                var order = Samples.json("x").objectValue ?? [:]
                order.remove("orderIdentifier")
                let key: HTTPFields = ["idempotency-key": "checkout-1"]
                let first = await merchant.client.send(.post, "/api/v1/orders", key, json: ["order": .object(order)])
                #expect(first.status == .created)
                #expect(first.headers["idempotent-replayed"] == nil)
                // The same JSON written another way, and the key as a quoted string.
                let members = order.map { ($0.name, $0.value) }.reversed()
                let turned = JSONValue.object(["order": .object(JSONObject(Array(members)))])
                let quoted: HTTPFields = ["idempotency-key": "\"checkout-1\""]
                let second = await merchant.client.send(.post, "/api/v1/orders", quoted, json: turned)
                #expect(second.status == .created)
                #expect(second.headers["idempotent-replayed"] == "true")
                #expect(second.json == first.json)
                #expect(second.headers["location"] == first.headers["location"])
                order["orderNumber"] = "other"
                let other = await merchant.client.send(.post, "/api/v1/orders", key, json: ["order": .object(order)])
                #expect(other.status == .unprocessableContent)
                #expect(other.code == "idempotency-key-reused")
                // What is kept holds no token.
                let token = try #require(first.json["orderDetails"]?["authenticationToken"]?.stringValue)
                let kept = Statement("t_kept", "select string_agg(i::text, '') from idempotency i")
                let text = try await merchant.shop.database.client.query(kept).first?.text(0)
                #expect(text?.contains("checkout-1") == true)
                #expect(text?.contains(token) == false)
            }
        }

        @Test("sixty-four twins at once make one order and get one answer")
        func twins() async throws {
            try await withMerchant { merchant in
                var order = Samples.json("x").objectValue ?? [:]
                order.remove("orderIdentifier")
                let body: JSONValue = ["order": .object(order)]
                let answers = try await atOnce(64) { _ in
                    var answer = await merchant.client.send(
                        .post,
                        "/api/v1/orders",
                        ["idempotency-key": "twin"],
                        json: body
                    )
                    while answer.status == .conflict, answer.code == "request-in-progress" {
                        answer = await merchant.client.send(
                            .post,
                            "/api/v1/orders",
                            ["idempotency-key": "twin"],
                            json: body
                        )
                    }
                    return answer
                }
                #expect(Set(answers.map(\.status)) == [.created])
                #expect(Set(answers.map(\.json)).count == 1)
                #expect(answers.filter { $0.headers["idempotent-replayed"] == nil }.count == 1)
                let orders = Statement("t_orders", "select count(*) from orders")
                #expect(try await merchant.shop.database.number(orders) == 1)
            }
        }

        @Test("multipart requests are compared by their parts")
        func multipart() async throws {
            try await withMerchant { merchant in
                let order = Samples.json("m", logo: "logo.png").serialized()
                let key: HTTPFields = ["idempotency-key": "m"]
                var statuses: [HTTPStatus] = []
                for image in [Samples.image(1), Samples.image(1), Samples.image(2)] {
                    let form = Merchant.form([("order", order), ("logo.png", image)])
                    var headers = form.headers
                    headers.merge(key)
                    statuses.append(
                        await merchant.client.send(.post, "/api/v1/orders", headers, bytes: form.body).status
                    )
                }
                #expect(statuses == [.created, .created, .unprocessableContent])
                // The same order, written another way: indented, its members turned round.
                let turned =
                    Samples.json("m", logo: "logo.png").objectValue?.map { ($0.name, $0.value) }.reversed() ?? []
                let written = JSONValue.object(JSONObject(Array(turned))).serialized(.pretty)
                let form = Merchant.form([("logo.png", Samples.image(1)), ("order", written)])
                var headers = form.headers
                headers.merge(key)
                let again = await merchant.client.send(.post, "/api/v1/orders", headers, bytes: form.body)
                #expect(again.status == .created, "\(again.text)")
                #expect(again.headers["idempotent-replayed"] == "true")
            }
        }

        @Test("a failed request keeps nothing: mended, it goes through under the same key")
        func failures() async throws {
            try await withMerchant { merchant in
                let key: HTTPFields = ["idempotency-key": "k"]
                let bad = await merchant.client.send(.post, "/api/v1/orders", key, json: ["order": [:]])
                #expect(bad.status == .unprocessableContent)
                #expect(await merchant.create("x", key).status == .created)
                for value in ["", String(repeating: "k", count: 256)] {
                    let answer = await merchant.create("y", ["idempotency-key": value])
                    #expect(answer.code == "bad-idempotency-key")
                }
                #expect(
                    await merchant.create("y", ["idempotency-key": String(repeating: "k", count: 255)]).status
                        == .created
                )
            }
        }

        @Test("a replay after the order was erased says so, of whatever was asked")
        func erased() async throws {
            try await withMerchant { merchant in
                let key: HTTPFields = ["idempotency-key": "k"]
                #expect(await merchant.create("x", key).status == .created)
                let posts: [(path: String, body: JSONValue)] = [
                    (Merchant.path("x", "/events"), Merchant.event("e")), (Merchant.path("x", "/share-links"), [:]),
                ]
                for (path, body) in posts {
                    #expect(await merchant.client.send(.post, path, key, json: body).status.code < 300)
                }
                #expect(await merchant.client.send(.delete, Merchant.path("x")).status == .noContent)
                var replays = [await merchant.create("x", key)]
                for (path, body) in posts { replays.append(await merchant.client.send(.post, path, key, json: body)) }
                for replayed in replays {
                    #expect(replayed.status == .gone && replayed.code == "order-erased", "\(replayed.text)")
                    #expect(replayed.headers["content-type"] == "application/problem+json")
                }
                // A link is refused before its key is looked for.
                #expect(replays.map { $0.headers["idempotent-replayed"] } == ["true", "true", nil])
                #expect(await merchant.create("x").status == .conflict)
            }
        }

        @Test("an erased order takes along what kept answers to its requests say of anybody")
        func erasedAnswers() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let key: HTTPFields = ["idempotency-key": "k"]
                let event: JSONObject = [
                    "eventIdentifier": "e", "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": "one",
                    "fulfillment": [
                        "fulfillmentIdentifier": "parcel-1", "estimatedDeliveryAt": "Ada Lovelace, 12 Example Street",
                    ],
                ]
                let inapplicable: JSONObject = [
                    "eventIdentifier": "i", "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": "one",
                    "fulfillment": ["fulfillmentIdentifier": "parcel-1", "status": "readyForPickup"],
                ]
                let posts: [(String, JSONValue)] = [
                    ("/api/v1/events", ["events": [.object(event), .object(inapplicable)]]),
                    (Merchant.path("one", "/events"), Merchant.event("f")),
                    (Merchant.path("one", "/share-links"), [:]),
                ]
                for (path, body) in posts {
                    let first = await merchant.client.send(.post, path, key, json: body)
                    #expect(first.status.code < 300 && first.headers["idempotent-replayed"] == nil)
                    // Whoever sent it reads what was wrong with it.
                    if path == "/api/v1/events" {
                        #expect(first.text.contains("Ada Lovelace") && first.text.contains("readyForPickup"))
                    }
                }
                #expect(await merchant.client.send(.delete, Merchant.path("one")).status == .noContent)
                let kept = Statement(
                    "t_kept",
                    "select string_agg(route || ' ' || result, E'\\n' order by route) from idempotency"
                )
                let text = try await merchant.shop.database.client.query(kept).first?.text(0) ?? ""
                #expect(!text.contains("Ada") && !text.contains("parcel") && !text.contains("readyForPickup"))
                #expect(text.split(separator: "\n").filter { $0.hasSuffix(" {}") }.count == 2)
                // Repeated, the bulk request still says which of its events were bad, and where.
                let again = await merchant.client.send(.post, "/api/v1/events", key, json: posts[0].1)
                #expect(again.headers["idempotent-replayed"] == "true")
                let error = again.json["results"]?[0]?["problem"]?["errors"]?[0]
                #expect(error?["pointer"] == "/events/0/fulfillment/estimatedDeliveryAt")
                #expect(error?["message"]?.stringValue?.isEmpty == false)
                // A finding has all its members, also where there is nothing to say.
                #expect(error?["fix"] == .null)
            }
        }

        @Test("events, bulk and share links replay their answers too; a link's address is derived again")
        func otherPosts() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                await merchant.create("two")
                let key: HTTPFields = ["idempotency-key": "k"]
                let bulk: JSONValue = [
                    "events": [
                        [
                            "eventIdentifier": "b", "orderTypeIdentifier": .string(Samples.shop),
                            "orderIdentifier": "one",
                            "order": ["orderNumber": "7"],
                        ]
                    ]
                ]
                let posts: [(path: String, body: JSONValue, other: JSONValue)] = [
                    (Merchant.path("one", "/events"), Merchant.event("e"), Merchant.event("e", status: "delivered")),
                    ("/api/v1/events", bulk, ["events": []]),
                    (Merchant.path("one", "/share-links"), ["lifetime": 3_600], ["lifetime": 7_200]),
                ]
                for (path, body, other) in posts {
                    let first = await merchant.client.send(.post, path, key, json: body)
                    #expect(first.status.code < 300, "\(first.text)")
                    let second = await merchant.client.send(.post, path, key, json: body)
                    #expect(second.json == first.json)
                    #expect(second.status == first.status)
                    #expect(second.headers["idempotent-replayed"] == "true")
                    #expect(await merchant.client.send(.post, path, key, json: other).code == "idempotency-key-reused")
                }
                // The path is part of the request: the same key and body for another order is another request.
                let moved = await merchant.client.send(
                    .post,
                    Merchant.path("two", "/events"),
                    key,
                    json: Merchant.event("e")
                )
                #expect(moved.code == "idempotency-key-reused")
                let links = Statement("t_links", "select count(*) from share_links")
                #expect(try await merchant.shop.database.number(links) == 1)
                let kept = Statement("t_kept_links", "select string_agg(i::text, '') from idempotency i")
                #expect(try await merchant.shop.database.client.query(kept).first?.text(0).contains("/o/") == false)
                // Merchants with other types never meet each other's bulk answers.
                let bakery = try await merchant.client([.ordersWrite], [Samples.bakery])
                let foreign = await bakery.send(.post, "/api/v1/events", key, json: bulk)
                #expect(foreign.headers["idempotent-replayed"] == nil)
                #expect(foreign.json["results"]?[0]?["problem"]?["code"] == "order-not-found")
            }
        }

        @Test("of different requests under one key at once, one is done and the others do nothing")
        func keyRace() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                for round in 0..<8 {
                    let answers = try await atOnce(6) { number in
                        await merchant.client.send(
                            .post,
                            Merchant.path("one", "/events"),
                            ["idempotency-key": "race-\(round)"],
                            json: [
                                "eventIdentifier": .string("\(round)-\(number)"),
                                "fulfillment": [
                                    "fulfillmentIdentifier": "parcel-1",
                                    "trackingNumber": .string("\(round)-\(number)"),
                                ],
                            ]
                        )
                    }
                    #expect(answers.count { $0.status == .ok } == 1)
                    #expect(answers.count { $0.code == "idempotency-key-reused" } == 5)
                    let events = Statement("t_race_events", "select count(*) from order_events")
                    #expect(try await merchant.shop.database.number(events) == Int64(round + 1))
                }
            }
        }

        @Test("a failed event leaves its key free for the mended one")
        func failedEvent() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one", "/events")
                let key: HTTPFields = ["idempotency-key": "k"]
                var future = Merchant.event("e").objectValue ?? [:]
                future["occurredAt"] = "2100-01-01T00:00:00Z"
                let failed = await merchant.client.send(.post, path, key, json: .object(future))
                #expect(failed.code == "invalid-event", "\(failed.text)")
                let mended = await merchant.client.send(.post, path, key, json: Merchant.event("e"))
                #expect(mended.status == .ok, "\(mended.text)")
                #expect(mended.headers["idempotent-replayed"] == nil)
            }
        }

        @Test("a revoked link is replayed without an address; twins get one link")
        func shareLinkTwins() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one", "/share-links")
                let answers = try await atOnce(16) { _ in
                    await merchant.client.send(.post, path, ["idempotency-key": "k"])
                }
                #expect(Set(answers.map(\.json)).count == 1)
                let identifier = try #require(answers[0].json["identifier"]?.stringValue)
                #expect(answers[0].json["url"]?.stringValue != nil)
                let open = Statement("t_open_links", "select count(*) from share_links where revoked_at is null")
                #expect(try await merchant.shop.database.number(open) == 1)
                #expect(await merchant.client.send(.delete, "\(path)/\(identifier)").status == .noContent)
                let replayed = await merchant.client.send(.post, path, ["idempotency-key": "k"])
                #expect(replayed.json["url"] == .null)
            }
        }
    }
}
