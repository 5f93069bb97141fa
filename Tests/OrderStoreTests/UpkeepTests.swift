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
