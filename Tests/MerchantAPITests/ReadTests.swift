// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderModel
import OrderStore
import StoreTestSupport
import Testing

extension MerchantAPITests {
    @Suite("Reading orders")
    struct ReadTests {
        @Test("an order is shown without its token, with a tag that conditions take")
        func order() async throws {
            try await withMerchant { merchant in
                let created = await merchant.create("one")
                let token = try #require(created.json["orderDetails"]?["authenticationToken"]?.stringValue)
                let answer = await merchant.client.send(.get, Merchant.path("one"))
                #expect(answer.status == .ok)
                #expect(!answer.text.contains(token))
                #expect(answer.json["order"]?["authenticationToken"] == nil)
                #expect(answer.json["order"]?["updatedAt"] == "2026-01-02T03:04:05Z")
                #expect(answer.text.contains("28.80"))
                let tag = try #require(answer.headers["etag"])
                for condition in [tag, "W/\(tag)", "*", "\"x\", \(tag)"] {
                    let same = await merchant.client.send(.get, Merchant.path("one"), ["if-none-match": condition])
                    #expect(same.status == .notModified)
                }
                let other = await merchant.client.send(.get, Merchant.path("one"), ["if-none-match": "\"x\""])
                #expect(other.status == .ok)
                #expect(await merchant.client.send(.head, Merchant.path("one")).status == .ok)
                #expect(await merchant.client.send(.get, Merchant.path("none")).code == "order-not-found")
                #expect(await merchant.client.send(.get, Merchant.path("one", type: "!!")).code == "order-not-found")
            }
        }

        @Test("lists are pages, walked to the end without gap or double")
        func pages() async throws {
            try await withMerchant { merchant in
                for index in 0..<7 { await merchant.create("order-\(index)") }
                await merchant.client.send(.post, Merchant.path("order-3", "/events"), json: Merchant.event("e"))
                var seen: [String] = []
                var cursor: String?
                var pages = 0
                repeat {
                    let query = "?type=\(Samples.shop)&limit=3" + (cursor.map { "&cursor=\($0)" } ?? "")
                    let page = await merchant.client.send(.get, "/api/v1/orders" + query).json
                    seen += page["orders"]?.arrayValue?.compactMap { $0["orderIdentifier"]?.stringValue } ?? []
                    cursor = page["cursor"]?.stringValue
                    pages += 1
                } while cursor != nil && pages < 20
                #expect(seen == (0..<7).map { "order-\($0)" })
                for (filter, count) in [
                    ("status=open", 7), ("status=completed", 0), ("fulfillmentStatus=shipped", 1),
                    ("orderNumber=N-order-5", 1), ("registered=false", 7), ("registered=true", 0),
                    ("updatedSince=2026-06-01T00:00:00Z", 1), ("updatedSince=2000-01-01T00:00:00Z", 7),
                ] {
                    let page = await merchant.client.send(.get, "/api/v1/orders?type=\(Samples.shop)&\(filter)")
                    #expect(page.json["orders"]?.arrayValue?.count == count, "\(filter)")
                }
                _ = try OrderTypeIdentifier(Samples.shop)
            }
        }

        @Test(
            "odd parameters are 400, never 500",
            arguments: [
                "limit=0", "limit=201", "limit=x", "limit=99999999999999999999", "cursor=x", "cursor=%00", "cursor=",
                "cursor=OTk5OTk5OTk5OTk5OTk5OTk5OTk5IHg", "updatedSince=yesterday", "updatedSince=", "registered=yes",
                "status=%", "status=%FF", "status=bogus", "status=", "status=x%27--", "fulfillmentStatus=bogus",
            ]
        )
        func oddParameters(query: String) async throws {
            try await withMerchant { merchant in
                let answer = await merchant.client.send(.get, "/api/v1/orders?type=\(Samples.shop)&\(query)")
                #expect(answer.status == .badRequest, "\(answer.text)")
                let untyped = await merchant.client.send(.get, "/api/v1/orders?\(query)")
                #expect(untyped.status == .badRequest)
                _ = try OrderTypeIdentifier(Samples.shop)
            }
        }

        @Test(
            "extreme dates and filters are answered",
            arguments: [
                "updatedSince=9999-12-31T23:59:59Z", "updatedSince=0001-01-01T00:00:00Z",
                "cursor=OTIyMzM3MjAzNjg1NDc3NTgwNyB4", "cursor=LTkyMjMzNzIwMzY4NTQ3NzU4MDggeA",
                "orderNumber=%F0%9F%A7%81", "orderNumber=x%27--",
            ]
        )
        func extremes(query: String) async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                for more in ["", "&updatedSince=2020-01-01T00:00:00Z"] {
                    let path = "/api/v1/orders?type=\(Samples.shop)&\(query)\(more)"
                    let answer = await merchant.client.send(.get, path)
                    #expect(answer.status == .ok || answer.status == .badRequest, "\(path): \(answer.text)")
                }
                _ = try OrderTypeIdentifier(Samples.shop)
            }
        }

        @Test("the history shows devices as digests, never their identifiers or tokens")
        func history() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let key = try Samples.key("one")
                let device = try Samples.device("secret-device-identifier")
                _ = try await merchant.shop.store.register(device, pushToken: try PushToken("abcdef0123"), for: key)
                let answer = await merchant.client.send(.get, Merchant.path("one", "/history"))
                #expect(answer.status == .ok)
                #expect(answer.json["devices"]?.arrayValue?.count == 1)
                #expect(!answer.text.contains("secret-device") && !answer.text.contains("abcdef0123"))
                #expect(answer.json["log"] == [])
                #expect(await merchant.client.send(.get, Merchant.path("none", "/history")).status == .notFound)
            }
        }
    }
}
