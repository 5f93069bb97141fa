// SPDX-License-Identifier: Apache-2.0

import OrderModel
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    @Suite struct ListTests {
        /// Walks all pages.
        static func all(_ fixture: StoreFixture, _ query: OrderQuery) async throws -> [String] {
            var query = query
            var names: [String] = []
            for _ in 0..<200 {
                let page = try await fixture.store.orders(query)
                #expect(page.heads.count <= query.limit)
                names += page.heads.map(\.key.order.text)
                guard let cursor = page.cursor else { return names }
                query.cursor = cursor
            }
            Issue.record("the list does not end")
            return names
        }

        @Test func `pages by identifier, number, status and registration hold each order once`() async throws {
            try await withStore { fixture in
                let type = try OrderTypeIdentifier(Samples.shop)
                for number in 0..<23 { try await fixture.create("order-\(100 + number)") }
                try await fixture.create("elsewhere", type: Samples.bakery)
                _ = try await fixture.store.erase(try Samples.key("order-105"))
                for number in [3, 9, 22] {
                    let key = try Samples.key("order-\(100 + number)")
                    _ = try await fixture.store.register(
                        try Samples.device("d\(number)"),
                        pushToken: Samples.token(number),
                        for: key
                    )
                    _ = try await fixture.store.apply(try Samples.event("e"), to: key)
                }
                let every = try await Self.all(fixture, OrderQuery(orderType: type, limit: 4))
                #expect(every.count == 22)
                #expect(every == every.sorted())
                #expect(
                    try await Self.all(fixture, OrderQuery(orderType: type, registered: true, limit: 2))
                        == ["order-103", "order-109", "order-122"]
                )
                #expect(
                    try await Self.all(fixture, OrderQuery(orderType: type, registered: false, limit: 7)).count == 19
                )
                #expect(
                    try await Self.all(fixture, OrderQuery(orderType: type, fulfillmentStatus: "shipped", limit: 1))
                        .count
                        == 3
                )
                #expect(try await Self.all(fixture, OrderQuery(orderType: type, status: "completed")).isEmpty)
                #expect(
                    try await Self.all(fixture, OrderQuery(orderType: type, orderNumber: "N-order-104"))
                        == ["order-104"]
                )
                #expect(try await Self.all(fixture, OrderQuery(orderType: type, orderNumber: "N-elsewhere")).isEmpty)
            }
        }

        @Test func `updated since lists each order once, at its newest revision, oldest first`() async throws {
            try await withStore { fixture in
                let type = try OrderTypeIdentifier(Samples.shop)
                for number in 0..<12 { try await fixture.create("order-\(100 + number)") }
                let start = try await fixture.store.databaseTime().wallTime
                for number in [7, 2, 9] {
                    let key = try Samples.key("order-\(100 + number)")
                    for event in 0..<3 {
                        _ = try await fixture.store.apply(
                            try Samples.event("e\(event)", status: nil, tracking: "T\(event)"),
                            to: key
                        )
                    }
                }
                let since = WallTime(seconds: start.seconds - 1)
                let changed = try await Self.all(fixture, OrderQuery(orderType: type, updatedSince: since, limit: 2))
                #expect(Set(changed) == ["order-107", "order-102", "order-109"])
                #expect(changed.count == 3)
                let every = try await Self.all(
                    fixture,
                    OrderQuery(orderType: type, updatedSince: WallTime(seconds: 0), limit: 5)
                )
                #expect(Set(every).count == 12)
                #expect(every.count == 12)
            }
        }

        @Test(arguments: ["x", "", "AAAA", "MTIz"])
        func `a cursor that is none is refused`(cursor: String) async throws {
            try await withStore { fixture in
                let type = try OrderTypeIdentifier(Samples.shop)
                #expect(
                    await code { _ = try await fixture.store.orders(OrderQuery(orderType: type, cursor: cursor)) }
                        == .badCursor
                )
            }
        }
    }
}
