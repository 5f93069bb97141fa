// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Dry runs and conditions")
    struct SwitchTests {
        private static let type = "/api/v1/order-types/\(Samples.shop)"
        private static let image = Samples.image(1)
        private static let texts = Array(#"{"A":"b"}"#.utf8)

        /// Every writing route with a body that it takes, and which switches it heeds.
        struct Route: Sendable, CustomTestStringConvertible {
            let method: HTTPMethod
            let path: String
            var body: [UInt8] = []
            var isDry = false
            var heedsMatch = false
            var heedsNoneMatch = false

            var testDescription: String { "\(self.method) \(self.path)" }
        }

        static let routes: [Route] = [
            Route(
                method: .post,
                path: "/api/v1/orders",
                body: JSONValue.object(["order": Samples.json("new")]).serialized(),
                isDry: true
            ),
            Route(
                method: .patch,
                path: Merchant.path("one"),
                body: Array(#"{"orderNumber":"2"}"#.utf8),
                isDry: true,
                heedsMatch: true
            ),
            Route(
                method: .put,
                path: Merchant.path("one"),
                body: Samples.json("one").mergePatched(with: ["orderNumber": "2"]).serialized(),
                isDry: true,
                heedsMatch: true
            ),
            Route(method: .delete, path: Merchant.path("one"), isDry: true, heedsMatch: true),
            Route(
                method: .post,
                path: Merchant.path("one", "/events"),
                body: Merchant.event("e").serialized(),
                isDry: true,
                heedsMatch: true
            ),
            Route(method: .post, path: Merchant.path("one", "/share-links")),
            Route(method: .delete, path: Merchant.path("one", "/share-links/LINK")),
            Route(
                method: .put,
                path: Merchant.path("one", "/assets/a.png"),
                body: image,
                isDry: true,
                heedsMatch: true
            ),
            Route(method: .delete, path: Merchant.path("one", "/assets/own.png"), isDry: true, heedsMatch: true),
            Route(
                method: .put,
                path: Merchant.path("one", "/localizations/en"),
                body: texts,
                isDry: true,
                heedsMatch: true
            ),
            Route(method: .delete, path: Merchant.path("one", "/localizations/de"), isDry: true, heedsMatch: true),
            Route(method: .put, path: type + "/assets/b.png", body: image, heedsMatch: true, heedsNoneMatch: true),
            Route(method: .delete, path: type + "/assets/logo.png", heedsMatch: true),
            Route(method: .put, path: type + "/localizations/en", body: texts),
            Route(method: .delete, path: type + "/localizations/de"),
            Route(method: .post, path: type + "/refresh"),
        ]

        /// Everything that a route could have written.
        private static let state = Statement(
            "t_state",
            """
            select (select string_agg(o::text, ';' order by order_identifier) from orders o)
                || (select count(*) from order_events) || ' ' || (select count(*) from refreshes) || ' '
                || (select count(*) from share_links where revoked_at is null) || ' ' || (select count(*) from assets)
                || (select coalesce(string_agg(t::text, ';' order by name), '') from type_parts t)
                || (select coalesce(string_agg(s::text, ';' order by locale), '') from type_strings s)
            """
        )

        private static func withState(
            _ route: Route,
            _ body: @escaping @Sendable (Merchant, TestClient, String) async throws -> Void
        ) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let admin = try await merchant.client([.admin])
                await admin.send(.put, Merchant.path("one", "/assets/own.png"), bytes: Samples.image(7))
                await admin.send(.put, Merchant.path("one", "/localizations/de"), json: ["A": "own"])
                await admin.send(.put, Self.type + "/assets/logo.png", bytes: Samples.image(8))
                await admin.send(.put, Self.type + "/localizations/de", bytes: Self.texts)
                let link = await admin.send(.post, Merchant.path("one", "/share-links"))
                let identifier = try #require(link.json["identifier"]?.stringValue)
                try await body(merchant, admin, route.path.replacing("LINK", with: identifier))
            }
        }

        private static func state(_ merchant: Merchant) async throws -> String {
            try await merchant.shop.database.client.query(Self.state).first?.text(0) ?? ""
        }

        @Test("a dry run stores nothing, or is refused where there is none", arguments: routes)
        func dryRuns(route: Route) async throws {
            try await Self.withState(route) { merchant, admin, path in
                let before = try await Self.state(merchant)
                let dry = await admin.send(route.method, path + "?validateOnly=true", bytes: route.body)
                if route.isDry {
                    #expect(dry.status.code < 300, "\(dry.text)")
                } else {
                    #expect(dry.status == .badRequest && dry.code == "bad-validate-only", "\(dry.text)")
                }
                for slip in ["validateOnly=1", "validateonly=true", "validateOnly=false&validateOnly=true", "dry=true"]
                {
                    let answer = await admin.send(route.method, "\(path)?\(slip)", bytes: route.body)
                    #expect(answer.status == .badRequest, "\(slip): \(answer.text)")
                }
                #expect(try await Self.state(merchant) == before)
                let wet = await admin.send(route.method, path + "?validateOnly=false", bytes: route.body)
                #expect(wet.status.code < 300, "\(wet.text)")
                #expect(try await Self.state(merchant) != before)
            }
        }

        @Test("a condition that is false, or that a route does not heed, lets it do nothing", arguments: routes)
        func conditions(route: Route) async throws {
            try await Self.withState(route) { merchant, admin, path in
                let before = try await Self.state(merchant)
                let stale = await admin.send(route.method, path, ["if-match": "\"stale\""], bytes: route.body)
                #expect(stale.status == (route.heedsMatch ? .preconditionFailed : .badRequest), "\(stale.text)")
                #expect(stale.code == (route.heedsMatch ? "precondition-failed" : "condition-not-heeded"))
                let none = await admin.send(route.method, path, ["if-none-match": "\"x\""], bytes: route.body)
                #expect(none.status == .badRequest && none.code == "condition-not-heeded", "\(none.text)")
                if !route.heedsNoneMatch {
                    let any = await admin.send(route.method, path, ["if-none-match": "*"], bytes: route.body)
                    #expect(any.status == .badRequest && any.code == "condition-not-heeded", "\(any.text)")
                }
                for value in ["stale", "\"", "W/x", "\"a\", b"] {
                    let bare = await admin.send(route.method, path, ["if-match": value], bytes: route.body)
                    #expect(bare.status == .badRequest && bare.code == "condition-not-heeded", "\(value): \(bare.text)")
                }
                #expect(try await Self.state(merchant) == before)
            }
        }

        @Test(
            "an idempotency key that is none, or two, lets nothing be done, whatever else is wrong",
            arguments: routes.filter { $0.method == .post }
        )
        func keys(route: Route) async throws {
            try await Self.withState(route) { merchant, admin, path in
                let before = try await Self.state(merchant)
                var twice: HTTPFields = ["idempotency-key": "k"]
                twice.append("idempotency-key", "l")
                for headers in [twice, ["idempotency-key": ""]] {
                    for body in [route.body, Array("{".utf8)] {
                        let answer = await admin.send(route.method, path, headers, bytes: body)
                        #expect(answer.status == .badRequest && answer.code == "bad-idempotency-key", "\(answer.text)")
                    }
                }
                #expect(try await Self.state(merchant) == before)
                let once = await admin.send(route.method, path, ["idempotency-key": "k"], bytes: route.body)
                #expect(once.status.code < 300, "\(once.text)")
            }
        }

        @Test("an erasure goes on under the present tag, and its dry run says what it would")
        func erase() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let path = Merchant.path("one")
                let tag = try #require(await merchant.client.send(.get, path).headers["etag"])
                await merchant.client.send(.post, path + "/events", json: Merchant.event("e"))
                for query in ["", "?validateOnly=true"] {
                    let stale = await merchant.client.send(.delete, path + query, ["if-match": tag])
                    #expect(stale.status == .preconditionFailed, "\(stale.text)")
                }
                let now = try #require(await merchant.client.send(.get, path).headers["etag"])
                let dry = await merchant.client.send(.delete, path + "?validateOnly=true", ["if-match": now])
                #expect(dry.status == .noContent)
                #expect(await merchant.client.send(.get, path).status == .ok)
                #expect(await merchant.client.send(.delete, path, ["if-match": "\"x\", \(now)"]).status == .noContent)
                #expect(await merchant.client.send(.delete, path + "?validateOnly=true").status.code >= 400)
                await merchant.create("two")
                let any = await merchant.client.send(.delete, Merchant.path("two"), ["if-match": "*"])
                #expect(any.status == .noContent)
                let none = await merchant.client.send(
                    .delete,
                    Merchant.path("none") + "?validateOnly=true",
                    ["if-match": "*"]
                )
                #expect(none.status == .notFound)
            }
        }

        @Test("a type's file is replaced under its tag only, or put only where there is none")
        func typeFiles() async throws {
            try await withMerchant { merchant in
                let admin = try await merchant.client([.admin])
                let path = Self.type + "/assets/logo.png"
                let first = await admin.send(.put, path, ["if-none-match": "*"], bytes: Samples.image(1))
                #expect(first.status == .ok, "\(first.text)")
                let tag = try #require(first.headers["etag"])
                let again = await admin.send(.put, path, ["if-none-match": "*"], bytes: Samples.image(2))
                #expect(again.status == .preconditionFailed, "\(again.text)")
                #expect(await admin.send(.get, path).headers["etag"] == tag)
                // Both at once can't be true (RFC 9110 13.2.2 would look at If-Match alone).
                let free = Self.type + "/assets/free.png"
                let both = await admin.send(
                    .put,
                    free,
                    ["if-match": "\"none\"", "if-none-match": "*"],
                    bytes: Samples.image(4)
                )
                #expect(both.status == .badRequest && both.code == "condition-not-heeded", "\(both.text)")
                #expect(await admin.send(.get, free).status == .notFound)
                let second = await admin.send(.put, path, ["if-match": tag], bytes: Samples.image(2))
                #expect(second.status == .ok, "\(second.text)")
                for method: HTTPMethod in [.put, .delete] {
                    let late = await admin.send(method, path, ["if-match": tag], bytes: Samples.image(3))
                    #expect(late.status == .preconditionFailed, "\(late.text)")
                }
                #expect(await admin.send(.get, path).body.joined == Samples.image(2))
                let absent = await admin.send(
                    .put,
                    Self.type + "/assets/none.png",
                    ["if-match": "*"],
                    bytes: Samples.image(3)
                )
                #expect(absent.status == .preconditionFailed)
                #expect(await admin.send(.delete, path, ["if-match": "*"]).status == .noContent)
                // Of many that ask for the first place, one has it.
                let answers = try await atOnce(8) { number in
                    let bytes = Samples.image(UInt8(number))
                    return await admin.send(.put, path, ["if-none-match": "*"], bytes: bytes).status
                }
                #expect(answers.count { $0 == .ok } == 1)
                #expect(answers.count { $0 == .preconditionFailed } == 7)
            }
        }

        @Test("in a bulk request If-Match is held against each event's order")
        func bulk() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                await merchant.create("two")
                let tag = try #require(await merchant.client.send(.get, Merchant.path("one")).headers["etag"])
                let events = ["one", "two"].map { order in
                    Merchant.event("e").mergePatched(with: [
                        "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": .string(order),
                    ])
                }
                let body: JSONValue = ["events": .array(events)]
                let dry = await merchant.client.send(.post, "/api/v1/events?validateOnly=true", json: body)
                #expect(dry.json["results"]?[0]?["applied"] == true, "\(dry.text)")
                let answer = await merchant.client.send(.post, "/api/v1/events", ["if-match": tag], json: body)
                #expect(answer.json["results"]?[0]?["applied"] == true, "\(answer.text)")
                #expect(answer.json["results"]?[1]?["problem"]?["code"] == "precondition-failed")
                #expect(await merchant.client.send(.get, Merchant.path("two")).json["revision"] == 1)
                let slip = await merchant.client.send(.post, "/api/v1/events?validateonly=true", json: body)
                #expect(slip.status == .badRequest)
            }
        }
    }
}
