// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Keys and scopes")
    struct AccessTests {
        /// Every route with the scope that it asks for.
        static let routes: [(method: HTTPMethod, path: String, scope: APIScope)] = [
            (.post, "/api/v1/orders", .ordersWrite), (.get, "/api/v1/orders?type=\(Samples.shop)", .ordersRead),
            (.get, Merchant.path("one"), .ordersRead), (.patch, Merchant.path("one"), .ordersWrite),
            (.put, Merchant.path("one"), .ordersWrite), (.post, Merchant.path("one", "/events"), .ordersWrite),
            (.post, "/api/v1/events", .ordersWrite), (.get, Merchant.path("one", "/handoff"), .ordersRead),
            (.get, Merchant.path("one", "/package"), .ordersRead),
            (.get, Merchant.path("one", "/history"), .ordersRead),
            (.post, Merchant.path("one", "/share-links"), .ordersWrite),
            (.delete, Merchant.path("one", "/share-links/x"), .ordersWrite),
            (.put, Merchant.path("one", "/assets/a.png"), .ordersWrite),
            (.get, Merchant.path("one", "/assets/a.png"), .ordersRead),
            (.delete, Merchant.path("one", "/assets/a.png"), .ordersWrite),
            (.put, Merchant.path("one", "/localizations/en"), .ordersWrite),
            (.get, Merchant.path("one", "/localizations/en"), .ordersRead),
            (.delete, Merchant.path("one", "/localizations/en"), .ordersWrite),
            (.put, "/api/v1/order-types/\(Samples.shop)/assets/a.png", .admin),
            (.get, "/api/v1/order-types/\(Samples.shop)/assets/a.png", .ordersRead),
            (.delete, "/api/v1/order-types/\(Samples.shop)/assets/a.png", .admin),
            (.put, "/api/v1/order-types/\(Samples.shop)/localizations/en", .admin),
            (.get, "/api/v1/order-types/\(Samples.shop)/localizations/en", .ordersRead),
            (.delete, "/api/v1/order-types/\(Samples.shop)/localizations/en", .admin),
            (.post, "/api/v1/order-types/\(Samples.shop)/refresh", .admin),
            (.delete, Merchant.path("one"), .ordersWrite),
        ]

        /// A body that the route takes.
        private static func body(_ method: HTTPMethod, _ path: String) -> [UInt8] {
            if method == .get || method == .delete { return [] }
            if path.contains("/assets/") { return Samples.image(1) }
            return path.hasSuffix("/events") ? Merchant.event("e").serialized() : Array("{}".utf8)
        }

        /// All that a problem says but which request it was.
        private static func withoutIdentifier(_ answer: HTTPResponse) -> JSONValue {
            var document = answer.json.objectValue ?? [:]
            document.remove("requestId")
            return .object(document)
        }

        @Test("every route asks for a key with its scope; admin opens all")
        func matrix() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let keys: [(scopes: Set<APIScope>, client: TestClient)] = [
                    ([.ordersRead], try await merchant.client([.ordersRead])),
                    ([.ordersWrite], try await merchant.client([.ordersWrite])),
                    ([.admin], try await merchant.client([.admin])), ([], try await merchant.client([])),
                ]
                for route in Self.routes {
                    let naked = await TestClient(merchant.router).send(route.method, route.path)
                    #expect(naked.status == .unauthorized, "\(route.method) \(route.path)")
                    #expect(naked.headers["www-authenticate"] == "Bearer")
                    for (scopes, client) in keys {
                        let status = await client.send(route.method, route.path).status
                        let isAllowed = scopes.contains(route.scope) || scopes.contains(.admin)
                        #expect((status != .forbidden) == isAllowed, "\(route.method) \(route.path) with \(scopes)")
                        #expect(status != .unauthorized && status.code < 500)
                    }
                }
            }
        }

        @Test("wrong, revoked, misspelt and oversized keys are one 401")
        func wrongKeys() async throws {
            try await withMerchant { merchant in
                let made = try await merchant.shop.store.createAPIKey(name: "k", scopes: [.admin], orderTypes: nil)
                let good = made.secret
                let path = "/api/v1/orders?type=\(Samples.shop)"
                for value in ["Bearer \(good)", "bearer \(good)", "BEARER   \(good)"] {
                    #expect(await TestClient(merchant.router).send(.get, path, ["authorization": value]).status == .ok)
                }
                let bad = [
                    "", good, "Bearer", "Bearer ", "Basic \(good)", "AppleOrder \(good)", "Bearer \(good)x",
                    "Bearer \(good.dropLast())", "Bearer \(good.uppercased())", "Bearer wok_", "Bearer wok__",
                    "Bearer \(String(repeating: "w", count: 10_000))", "Bearer \(good) \(good)", "Bearer é",
                ]
                for value in bad {
                    let answer = await TestClient(merchant.router).send(.get, path, ["authorization": value])
                    #expect(answer.status == .unauthorized, "\(value.prefix(12))")
                    #expect(answer.code == "unauthorized")
                }
                #expect(try await merchant.shop.store.revokeAPIKey(made.key.identifier))
                let revoked = await TestClient(merchant.router).send(.get, path, ["authorization": "Bearer \(good)"])
                #expect(revoked.status == .unauthorized)
                #expect(!merchant.shop.log.text.contains(good.suffix(43)))
            }
        }

        @Test("another merchant's order is not there: the same 404 as for one that nobody has")
        func foreignOrders() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let bakery = try await merchant.client([.admin], [Samples.bakery])
                for route in Self.routes where route.path.contains("/one") {
                    let body = Self.body(route.method, route.path)
                    let foreign = await bakery.send(route.method, route.path, bytes: body)
                    let path = route.path.replacing("/\(Samples.shop)/one", with: "/\(Samples.bakery)/none")
                    let unknown = await bakery.send(route.method, path, bytes: body)
                    #expect(foreign.status == .notFound, "\(route.method) \(route.path)")
                    #expect(foreign.status == unknown.status && foreign.headers == unknown.headers)
                    #expect(Self.withoutIdentifier(foreign) == Self.withoutIdentifier(unknown), "\(route.path)")
                }
                let list = await bakery.send(.get, "/api/v1/orders?type=\(Samples.shop)")
                #expect(list.status == .notFound)
                let own = await bakery.send(.get, "/api/v1/orders")
                #expect(own.json["orders"] == [])
                let create = await bakery.send(.post, "/api/v1/orders", json: ["order": Samples.json("x")])
                #expect(create.places == ["/order/orderTypeIdentifier"])
                for path in ["assets/a.png", "localizations/en", "refresh"] {
                    let type = "/api/v1/order-types/\(Samples.shop)/\(path)"
                    let method: HTTPMethod = path == "refresh" ? .post : .get
                    #expect(await bakery.send(method, type).code == "order-type-not-found")
                }
                // Nothing of the shop's order was touched.
                #expect(await merchant.client.send(.get, Merchant.path("one")).json["revision"] == 1)
            }
        }

        @Test("a database that is away is 503 with Retry-After on every route, before the key is known")
        func databaseAway() async throws {
            try await withMerchant { merchant in
                await merchant.shop.database.client.close()
                for route in Self.routes {
                    let answer = await merchant.client.send(route.method, route.path)
                    #expect(answer.status == .serviceUnavailable, "\(route.method) \(route.path)")
                    #expect(answer.headers["retry-after"] != nil)
                }
                _ = try OrderTypeIdentifier(Samples.shop)
            }
        }
    }
}
