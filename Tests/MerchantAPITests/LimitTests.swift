// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import MerchantAPI
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Rate limits of merchants")
    struct LimitTests {
        private static let list = "/api/v1/orders?type=\(Samples.shop)"

        /// A merchant's door with limits whose clock is moved by hand.
        private func with(
            key: Int = 0,
            failures: Int = 0,
            _ body: @escaping @Sendable (Merchant, HandClock) async throws -> Void
        ) async throws {
            try await withShop { shop in
                let clock = HandClock()
                let limits = MerchantLimits(
                    requestsPerKey: key,
                    failuresPerAddress: failures,
                    logger: shop.log.logger,
                    metrics: shop.metrics,
                    clock: clock.read
                )
                try await body(try await Merchant(shop, limits: limits), clock)
            }
        }

        @Test("a key over its limit gets 429 until Retry-After is over; other keys go on; successes tell what is left")
        func keys() async throws {
            try await self.with(key: 3) { merchant, clock in
                for left in [2, 1, 0] {
                    let answer = await merchant.client.send(.get, Self.list)
                    #expect(answer.status == .ok)
                    #expect(answer.headers["ratelimit-policy"] == "\"merchant-key\";q=3;w=60")
                    #expect(answer.headers["ratelimit"] == "\"merchant-key\";r=\(left);t=\(max(1, left) * 20)")
                }
                let refused = await merchant.client.send(.get, Self.list)
                #expect(refused.status == .tooManyRequests)
                #expect(refused.code == "rate-limited")
                #expect(refused.json["limit"] == "merchant-key")
                #expect(refused.json["detail"]?.stringValue?.contains("Try again in 20 seconds.") == true)
                #expect(refused.headers["retry-after"] == "20")
                #expect(refused.headers["ratelimit"] == "\"merchant-key\";r=0;t=20")
                // Wherever it comes from.
                let header = merchant.client.headers
                let elsewhere = await TestClient(merchant.router, headers: header).send(
                    .get,
                    Self.list,
                    from: "192.0.2.9"
                )
                #expect(elsewhere.status == .tooManyRequests)
                let other = try await merchant.client([.ordersRead])
                #expect(await other.send(.get, Self.list).status == .ok)
                clock.pass(.seconds(20))
                #expect(await merchant.client.send(.get, Self.list).status == .ok)
                #expect(await merchant.client.send(.get, Self.list).status == .tooManyRequests)
            }
        }

        @Test("what a key may not do counts as well, and is refused before it is looked at")
        func forbidden() async throws {
            try await self.with(key: 2) { merchant, _ in
                let reader = try await merchant.client([.ordersRead])
                for _ in 0..<2 {
                    #expect(await reader.send(.post, "/api/v1/orders", json: ["order": 1]).code == "scope-missing")
                }
                #expect(await reader.send(.post, "/api/v1/orders", json: ["order": 1]).code == "rate-limited")
                for route in AccessTests.routes {
                    #expect(await reader.send(route.method, route.path).code == "rate-limited", "\(route.path)")
                }
            }
        }

        @Test("wrong keys are bounded by address, and never shut a good one out, known or new")
        func failures() async throws {
            try await self.with(failures: 5) { merchant, clock in
                let wrong = "wok_0123456789abcdef_" + String(repeating: "A", count: 43)
                let guesses: [HTTPFields] = [
                    [:], ["authorization": "Bearer nonsense"], ["authorization": "Bearer \(wrong)"],
                ]
                func guess(_ number: Int, from address: String = "192.0.2.1") async -> HTTPResponse {
                    await TestClient(merchant.router).send(.get, Self.list, guesses[number % 3], from: address)
                }
                for number in 0..<5 { #expect(await guess(number).status == .unauthorized) }
                for number in 0..<30 {
                    let refused = await guess(number)
                    #expect(refused.status == .tooManyRequests)
                    #expect(refused.json["limit"] == "merchant-failures")
                    #expect(refused.headers["retry-after"] == "12")
                    #expect(refused.headers["www-authenticate"] == nil)
                    // From the same address, a key that was never used before and one that was.
                    #expect(await merchant.client.send(.get, Self.list).status == .ok)
                }
                let new = try await merchant.client([.ordersRead])
                #expect(await new.send(.get, Self.list).status == .ok)
                #expect(await guess(2, from: "192.0.2.2").status == .unauthorized)
                for number in 0..<50 { #expect(await guess(number, from: "unix").status == .unauthorized) }
                clock.pass(.seconds(12))
                #expect(await guess(2).status == .unauthorized)
                #expect(await guess(2).status == .tooManyRequests)
                let text = merchant.shop.log.text + merchant.shop.metrics.text()
                #expect(text.contains("walletorders_rate_limited_requests_total{limit=\"merchant-failures\"} 31\n"))
                #expect(text.contains("walletorders_rate_limited_requests_total{limit=\"merchant-key\"} 0\n"))
                #expect(text.split(separator: "clients ask too often").count == 2)
                #expect(!text.contains("192.0.2.") && !text.contains(wrong) && !text.contains("wok_"))
            }
        }

        private static func events(_ count: Int) -> JSONValue {
            let events = (0..<count).map { number in
                Merchant.event("e-\(number)").mergePatched(with: [
                    "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": .string("none-\(number)"),
                ])
            }
            return ["events": .array(events)]
        }

        @Test(
            "a bulk request counts each event, one answered from memory counts one, and none is too large to have its turn"
        )
        func bulk() async throws {
            try await self.with(key: 60) { merchant, clock in
                let path = "/api/v1/events"
                func left(_ answer: HTTPResponse) -> String? {
                    answer.headers["ratelimit"]?.split(separator: ";").first { $0.hasPrefix("r=") }.map(String.init)
                }
                let key: HTTPFields = ["idempotency-key": "k"]
                let first = await merchant.client.send(.post, path, key, json: Self.events(20))
                #expect(first.status == .ok)
                #expect(left(first) == "r=40")
                let again = await merchant.client.send(.post, path, key, json: Self.events(20))
                #expect(again.headers["idempotent-replayed"] == "true")
                #expect(left(again) == "r=39")
                #expect(left(await merchant.client.send(.post, path, json: Self.events(0))) == "r=38")
                // More than there is: it is done, and owed.
                let large = await merchant.client.send(.post, path, json: Self.events(200))
                #expect(large.status == .ok)
                #expect(large.json["results"]?.arrayValue?.count == 200)
                #expect(large.headers["ratelimit"] == "\"merchant-key\";r=0;t=61")
                let refused = await merchant.client.send(.post, path, json: Self.events(1))
                #expect(refused.headers["retry-after"] == "61")
                clock.pass(.seconds(61))
                #expect(await merchant.client.send(.post, path, json: Self.events(200)).status == .ok)
            }
        }

        @Test("a key over its limit takes no query and has no body read")
        func first() async throws {
            try await self.with(key: 1) { merchant, _ in
                #expect(await merchant.client.send(.get, Self.list).status == .ok)
                await merchant.shop.database.client.close()
                for route in AccessTests.routes {
                    let answer = await merchant.client.send(route.method, route.path, bytes: Array("{".utf8))
                    #expect(answer.code == "rate-limited", "\(route.path) \(answer.text)")
                }
            }
        }

        @Test("0 is no limit, and nothing is told of any")
        func off() async throws {
            try await self.with { merchant, _ in
                for _ in 0..<200 {
                    let answer = await merchant.client.send(.get, Self.list)
                    #expect(answer.status == .ok)
                    #expect(answer.headers["ratelimit"] == nil && answer.headers["ratelimit-policy"] == nil)
                    #expect(await TestClient(merchant.router).send(.get, Self.list).status == .unauthorized)
                }
            }
        }
    }
}
