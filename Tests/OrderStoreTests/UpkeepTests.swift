// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import OrderStore

extension StoreTests {
    /// What goes with time, and what must not go with it.
    @Suite struct UpkeepTests {
        private static let rows = Statement("t_upkeep_rows", "select count(*) from order_events")

        /// A first event, and 250 after it in one request.
        private static func fill(_ key: OrderKey, _ fixture: StoreFixture) async throws -> EventAnswer {
            let first = try await fixture.store.apply(try Samples.event("first", tracking: "FIRST"), to: key)
            let events = try (0..<250).map { number in
                KeyedEvent(
                    key: key,
                    event: try Samples.event(
                        "e\(number)",
                        status: number == 249 ? "outForDelivery" : nil,
                        tracking: "T\(number)"
                    )
                )
            }
            for answer in await fixture.store.apply(events) { #expect(try answer.get().applied) }
            return first
        }

        @Test func `an event that was folded away is known for three days`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                let first = try await Self.fill(key, fixture)
                let before = try #require(try await fixture.store.order(key))
                #expect(try await fixture.store.foldLongLogs(of: key.orderType, after: nil) == nil)
                let again = try await fixture.store.apply(try Samples.event("first", tracking: "FIRST"), to: key)
                #expect(again.duplicate && again.revision == first.revision && again.changed == first.changed)
                let other = await code {
                    _ = try await fixture.store.apply(try Samples.event("first", tracking: "OTHER"), to: key)
                }
                #expect(other == .eventReused)
                let after = try #require(try await fixture.store.order(key))
                #expect(after.document == before.document && after.head.revision == before.head.revision)
                #expect(try await fixture.number(Self.rows) == 251)
                // Then its row goes, and with it the others that are in the base.
                try await fixture.run("update order_events set received_at = received_at - interval '73 hours'")
                _ = try await fixture.store.foldLongLogs(of: key.orderType, after: nil)
                #expect(try await fixture.number(Self.rows) == 200)
                try await fixture.expectInvariants()
            }
        }

        @Test func `an event that came late, of more than 90 days ago, is known for three days`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                let moment = WallTime(seconds: WallTime.now().seconds - 91 * 86_400).rfc3339
                let event = try Samples.event("old", tracking: "OLD", at: moment)
                #expect(try await fixture.store.apply(event, to: key).applied)
                _ = try await fixture.store.foldLongLogs(of: key.orderType, after: nil)
                #expect(try await fixture.store.apply(event, to: key).duplicate)
                let other = try Samples.event("old", tracking: "OTHER", at: moment)
                #expect(await code { _ = try await fixture.store.apply(other, to: key) } == .eventReused)
                try await fixture.run("update order_events set received_at = received_at - interval '73 hours'")
                _ = try await fixture.store.foldLongLogs(of: key.orderType, after: nil)
                #expect(try await fixture.number(Self.rows) == 0)
                try await fixture.expectInvariants()
            }
        }

        @Test func `an order that is held or broken keeps no other log from being shortened`() async throws {
            let log = CapturedLog()
            try await withStore(logger: log.logger) { fixture in
                let store = fixture.store
                var keys: [OrderKey] = []
                for number in 0..<4 { keys.append(try await fixture.create("order-\(number)").key) }
                try await fixture.run(
                    """
                    insert into order_events (order_type, order_identifier, event_identifier, kind, occurred_at, received_at,
                        fingerprint, body, verdict, changes, revision, modified_at)
                    select order_type, order_identifier, 'e' || n, 'event', now() - (500 - n) * interval '1 minute', now(), '\\x00',
                        case when order_identifier = 'order-1' then '{}' else '{"order":{"orderNumber":"N-' || order_identifier || '"}}' end, 'same', '[]', 1, modified_at
                    from orders, generate_series(1, 250) n
                    """
                )
                let over = Signal()
                let holder = try await fixture.hold("order-2", until: over)
                #expect(try await store.foldLongLogs(of: keys[0].orderType, after: nil) == nil)
                over.fire()
                try await holder.value
                let folded = Statement(
                    "t_folded",
                    "select count(*) from order_documents where base_until is not null and order_identifier = any($1::text[])"
                )
                #expect(try await fixture.number(folded, [.texts(["order-0", "order-3"])]) == 2)
                #expect(try await fixture.number(folded, [.texts(["order-1", "order-2"])]) == 0)
                #expect(log.text.split(separator: "\n").filter { $0.contains("not shortened") }.count == 2)
                #expect(log.text.contains(keys[2].mark) && !log.text.contains("order-2"))
                // The next sweep takes the one that was held.
                _ = try await store.foldLongLogs(of: keys[0].orderType, after: nil)
                #expect(try await fixture.number(folded, [.texts(["order-2"])]) == 1)
                // What is shortened is not looked at again.
                let found = try await fixture.client.query(
                    OrderStatements.findLongLogs,
                    [.text(keys[0].orderType.text), .text(""), .int(200), .int(3)]
                )
                #expect(try found.map { try $0.text(0) } == ["order-1", "order-2"])
                #expect(try found.map { try $0.bool(1) } == [true, false])
                #expect(try found.allSatisfy { try $0.bool(2) })
            }
        }

        @Test func `a device whose token is pruned keeps its registrations for 30 days from then`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let one = try await fixture.create("one").key
                let two = try await fixture.create("two").key
                let device = try Samples.device("phone")
                let token = try Samples.token(1)
                for key in [one, two] { _ = try await store.register(device, pushToken: token, for: key) }
                try await fixture.run("update devices set token_since = token_since - interval '40 days'")
                func prune() async throws {
                    let digest = SHA256.hash(Array(token.text.utf8))
                    let pruned = try await store.prune(
                        one.orderType,
                        device: device,
                        tokenDigest: digest,
                        registeredBefore: nil
                    )
                    #expect(pruned)
                }
                func listed() async throws -> Int {
                    try await store.changedOrders(of: device, orderType: one.orderType, since: nil)?.orders.count ?? 0
                }
                try await prune()
                _ = try await store.removeExpired()
                #expect(try await listed() == 2)
                // A registration of one order brings the token back for all, and the time is forgotten.
                _ = try await store.register(device, pushToken: token, for: one)
                try await prune()
                try await fixture.run("update devices set token_gone_at = token_gone_at - interval '29 days'")
                #expect(try await store.removeExpired() == 0)
                #expect(try await listed() == 2)
                try await fixture.run("update devices set token_gone_at = token_gone_at - interval '2 days'")
                #expect(try await store.removeExpired() == 1)
                #expect(try await listed() == 0)
                try await fixture.expectInvariants()
            }
        }

        @Test func `what has had its time goes, batch by batch, and nothing else`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                try await fixture.run(
                    """
                    insert into idempotency select 'order.com.example.shop', 'POST', 'k' || n, '\\x00', null, 201, '{}',
                        now() + (n - 5) * interval '1 minute' - interval '30 seconds' from generate_series(1, 9) n;
                    insert into share_links select sha256(n::text::bytea), 's' || n, 1, 'order.com.example.shop', 'one',
                        now() - interval '60 days', now() - interval '30 days' + (n - 3) * interval '1 hour'
                            - interval '30 minutes', null from generate_series(1, 5) n;
                    insert into device_log (received_at, kind, message)
                        select now() - interval '30 days' + (n - 2) * interval '1 hour' - interval '30 minutes', 'k', 'm'
                        from generate_series(1, 5) n;
                    """
                )
                var removed = 0
                var rounds = 0
                while case let count = try await store.removeExpired(batch: 2), count > 0 {
                    removed += count
                    rounds += 1
                }
                #expect(removed == 5 + 3 + 2)
                #expect(rounds == 3)
                for (table, kept) in [("idempotency", 4), ("share_links", 2), ("device_log", 3)] {
                    let count = try await fixture.client.withConnection { connection in
                        try await connection.query(
                            Statement(
                                "t_left",
                                """
                                select case $1::text when 'idempotency' then (select count(*) from idempotency)
                                    when 'share_links' then (select count(*) from share_links)
                                    else (select count(*) from device_log) end
                                """
                            ),
                            [.text(table)]
                        ).first?.int(0)
                    }
                    #expect(count == Int64(kept), "\(table)")
                }
                #expect(try await store.order(key) != nil)
            }
        }
    }
}
