// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("What answers advise")
    struct AdviceTests {
        private static let type = "/api/v1/order-types/\(Samples.shop)"

        /// Every route that reads, with a target that is there.
        static let targets = [
            "/api/v1/orders?type=\(Samples.shop)", Merchant.path("one"), Merchant.path("one", "/handoff"),
            Merchant.path("one", "/package"), Merchant.path("one", "/history"), Merchant.path("one", "/assets/own.png"),
            Merchant.path("one", "/localizations/de"), type + "/assets/logo.png", type + "/localizations/de",
        ]

        @Test("a route that reads refuses parameters and conditions that it does not heed", arguments: targets)
        func reading(target: String) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let admin = try await merchant.client([.admin])
                for path in [Merchant.path("one"), Self.type] {
                    let name = path == Self.type ? "logo.png" : "own.png"
                    await admin.send(.put, path + "/assets/" + name, bytes: Samples.image(7))
                    await admin.send(.put, path + "/localizations/de", json: ["A": "own"])
                }
                let query = target.contains("?") ? target + "&" : target + "?"
                for parameter in ["foo=1", "validateOnly=true", "validateOnly=false"] {
                    let answer = await admin.send(.get, query + parameter)
                    #expect(answer.status == .badRequest && answer.code == "bad-request", "\(answer.text)")
                }
                let conditional = await admin.send(.get, target, ["if-match": "\"x\""])
                #expect(conditional.status == .badRequest && conditional.code == "condition-not-heeded")
                let cached = await admin.send(.get, target, ["if-none-match": "\"x\""])
                #expect(cached.status == .ok, "\(cached.text)")
            }
        }

        @Test("who has no right key learns which one it takes")
        func keys() async throws {
            try await withMerchant { merchant in
                let none = await TestClient(merchant.router).send(.get, Merchant.path("one"))
                #expect(none.status == .unauthorized && none.text.contains("Send a merchant key"))
                let foreign = TestClient(merchant.router, headers: ["authorization": "Bearer wok_abc_def"])
                let wrong = await foreign.send(.get, Merchant.path("one"))
                #expect(wrong.status == .unauthorized && wrong.code == "unauthorized")
                #expect(wrong.text.contains("unknown, revoked, expired, or another server's"), "\(wrong.text)")
                let refused = await merchant.client.send(.post, Self.type + "/refresh")
                #expect(refused.status == .forbidden && refused.text.contains("keys create --name NAME --scope admin'"))
                let writer = try await merchant.client([.ordersWrite]).send(.get, Merchant.path("one"))
                #expect(writer.text.contains("--scope orders:read --scope orders:write'"), "\(writer.text)")
            }
        }

        @Test("a dry run of a create invents neither an identifier nor links")
        func dryCreate() async throws {
            try await withMerchant { merchant in
                var order = try #require(Samples.json("named").objectValue)
                let named = await merchant.client.send(
                    .post,
                    "/api/v1/orders?validateOnly=true",
                    json: ["order": .object(order)]
                )
                #expect(named.json["orderIdentifier"] == "named" && named.json["links"] == .null, "\(named.text)")
                order.remove("orderIdentifier")
                let nameless = await merchant.client.send(
                    .post,
                    "/api/v1/orders?validateOnly=true",
                    json: ["order": .object(order)]
                )
                #expect(nameless.status == .ok, "\(nameless.text)")
                #expect(nameless.json["orderIdentifier"] == .null && nameless.json["links"] == .null)
            }
        }

        @Test("an order inside of its wrapper is told of in one fault, wherever the order alone is wanted")
        func wrapped() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let wrapped: JSONValue = ["order": Samples.json("one"), "localizations": ["en": ["A": "b"]]]
                let shown = await merchant.client.send(.get, Merchant.path("one")).json
                let form = Merchant.form([("order", wrapped.serialized())])
                let answers = [
                    (
                        "/order/order",
                        await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                    ),
                    ("/order", await merchant.client.send(.put, Merchant.path("one"), json: wrapped)),
                    ("/order", await merchant.client.send(.patch, Merchant.path("one"), json: wrapped)),
                    ("/order", await merchant.client.send(.put, Merchant.path("one"), json: shown)),
                ]
                for (pointer, answer) in answers {
                    #expect(answer.status == .unprocessableContent && answer.code == "invalid-order", "\(answer.text)")
                    #expect(answer.json["errors"]?.arrayValue?.count == 1)
                    #expect(answer.json["errors"]?[0]?["pointer"] == .string(pointer))
                    #expect(answer.text.contains("Send what"))
                }
                let order = try #require(shown["order"])
                #expect(await merchant.client.send(.put, Merchant.path("one"), json: order).status == .ok)
            }
        }

        @Test("an event that can't be applied says why, each time it comes and in the history")
        func refusals() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one", "/events")
                let pickup: JSONValue = [
                    "eventIdentifier": "p",
                    "fulfillment": ["fulfillmentIdentifier": "parcel-1", "status": "readyForPickup"],
                ]
                let other: JSONValue = [
                    "eventIdentifier": "t",
                    "fulfillment": [
                        "fulfillmentIdentifier": "parcel-1", "fulfillmentType": "pickup", "status": "open",
                    ],
                ]
                for (event, reason, code, pointer) in [
                    (pickup, "invalid-here", "unknown-value", "/fulfillment/status"),
                    (other, "type-mismatch", "type-mismatch", "/fulfillment/fulfillmentType"),
                ] {
                    let dry = await merchant.client.send(.post, path + "?validateOnly=true", json: event)
                    let first = await merchant.client.send(.post, path, json: event)
                    let again = await merchant.client.send(.post, path, json: event)
                    for answer in [dry, first, again] {
                        #expect(answer.json["reason"] == .string(reason), "\(answer.text)")
                        #expect(answer.json["errors"]?[0]?["code"] == .string(code), "\(answer.text)")
                        #expect(answer.json["errors"]?[0]?["pointer"] == .string(pointer), "\(answer.text)")
                        #expect(answer.json["changed"] == [])
                    }
                    var bulk = try #require(event.objectValue)
                    bulk["orderTypeIdentifier"] = .string(Samples.shop)
                    bulk["orderIdentifier"] = "one"
                    bulk["eventIdentifier"] = .string("bulk-" + reason)
                    let events: JSONValue = ["events": [.null, .object(bulk)]]
                    let results = await merchant.client.send(.post, "/api/v1/events", json: events).json["results"]
                    #expect(results?[1]?["errors"]?[0]?["pointer"] == .string("/events/1" + pointer))
                }
                let history = await merchant.client.send(.get, Merchant.path("one", "/history")).json
                let errors = history["events"]?.arrayValue?.compactMap { $0["errors"]?.arrayValue?.count }
                #expect(errors == [1, 1, 1, 1])
                let plain = await merchant.client.send(.post, path, json: Merchant.event("e"))
                #expect(plain.json["applied"] == true && plain.json["errors"] == nil)
            }
        }

        @Test("an event of a bulk request hears of all its faults at once")
        func bulkFaults() async throws {
            try await withMerchant { merchant in
                let event: JSONValue = ["eventIdentifier": "b", "dimension": 1]
                let answer = await merchant.client.send(.post, "/api/v1/events", json: ["events": [event]])
                let errors = answer.json["results"]?[0]?["problem"]?["errors"]?.arrayValue ?? []
                let places = errors.compactMap { $0["pointer"]?.stringValue }
                #expect(
                    Set(places) == [
                        "/events/0/dimension", "/events/0", "/events/0/orderTypeIdentifier",
                        "/events/0/orderIdentifier",
                    ],
                    "\(answer.text)"
                )
            }
        }

        @Test("a file in other case is named, and what a phone may do without it")
        func otherCase() async throws {
            try await withMerchant { merchant in
                let order: JSONValue = Samples.json("one", logo: "logo.png")
                let form = Merchant.form([("order", order.serialized()), ("Logo.png", Samples.image(1))])
                let answer = await merchant.client.send(.post, "/api/v1/orders", form.headers, bytes: form.body)
                #expect(answer.status == .created, "\(answer.text)")
                let warning = answer.json["warnings"]?.arrayValue?.first { $0["code"] == "file-missing" }
                #expect(warning?["fix"] == #"There is "Logo.png"; upper and lower case count."#)
                #expect(warning?["message"]?.stringValue?.contains("a phone may refuse the package") == true)
                let texts: JSONValue = ["order": Samples.json("two"), "localizations": ["de_x": ["A": "b"]]]
                let locale = await merchant.client.send(.post, "/api/v1/orders", json: texts)
                #expect(
                    locale.json["errors"]?[0]?["message"]
                        == #""de_x" is not of the form language[-Script][-REGION]."#
                )
                let keys: JSONValue = [
                    "order": Samples.json("three"), "localizations": ["en": ["A": "b"], "de": ["B": "b"]],
                ]
                let differ = await merchant.client.send(.post, "/api/v1/orders", json: keys)
                let said = differ.json["warnings"]?.arrayValue?.first { $0["code"] == "strings-keys-differ" }
                #expect(said?["message"]?.stringValue?.contains("a phone may refuse the package") == true)
            }
        }

        @Test("warnings of a change are about the order that is stored, where an event had waited")
        func storedWarnings() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let first = try #require(
                    await merchant.client.send(.get, Merchant.path("one")).json["order"]?["fulfillments"]?[0]
                )
                func parcel(_ name: String, _ members: JSONObject) -> JSONValue {
                    var parcel: JSONObject = [
                        "fulfillmentType": "shipping", "fulfillmentIdentifier": .string(name), "status": "processing",
                    ]
                    for member in members { parcel[member.name] = member.value }
                    return .object(parcel)
                }
                func waits(_ name: String, _ members: JSONObject) async {
                    var members = members
                    members["fulfillmentIdentifier"] = .string(name)
                    let event: JSONValue = ["eventIdentifier": .string("w" + name), "fulfillment": .object(members)]
                    let answer = await merchant.client.send(.post, Merchant.path("one", "/events"), json: event)
                    #expect(answer.json["reason"] == "waiting")
                }
                func codes(_ answer: HTTPResponse) -> [String] {
                    #expect(answer.status == .ok, "\(answer.text)")
                    return answer.json["warnings"]?.arrayValue?.compactMap { $0["code"]?.stringValue } ?? []
                }
                // Only the date had waited: with the status of the change it is a contradiction.
                let date: JSONValue = "2026-01-04T18:00:00Z"
                await waits("p2", ["deliveredAt": date])
                let patch: JSONValue = ["fulfillments": [first, parcel("p2", [:])]]
                let path = Merchant.path("one")
                #expect(codes(await merchant.client.send(.patch, path, json: patch)) == ["status-behind-date"])
                // The status had waited: it takes the contradiction away, and that it stays is told.
                await waits("p3", ["status": "delivered"])
                let next: JSONValue = ["fulfillments": [first, parcel("p3", ["deliveredAt": date])]]
                let answer = await merchant.client.send(.patch, path, json: next)
                #expect(codes(answer) == ["overruled"])
                #expect(answer.json["warnings"]?[0]?["pointer"] == "/fulfillments/1/status")
                #expect(answer.json["changed"] == ["/fulfillments/1"])
                let order = await merchant.client.send(.get, path).json["order"]
                #expect(order?["fulfillments"]?[1]?["status"] == "delivered")
            }
        }
    }
}
