// SPDX-License-Identifier: Apache-2.0

import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import OrderStore

extension StoreTests {
    /// Sessions are killed at random moments, also between a commit and its answer: what was acknowledged is there, and
    /// nothing is there twice.
    @Suite struct LostConnectionTests {
        static let kill = Statement(
            "t_kill",
            """
            select count(pg_terminate_backend(pid)) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and random() < 0.3
            """
        )
        static let countEvents = Statement(
            "t_count_events",
            """
            select count(*) from order_events e join order_revisions v using (order_type, order_identifier, revision)
            where e.verdict = 'applied'
            """
        )
        static let countOrders = Statement("t_count_lost", "select count(*) from orders")

        @Test func `a file's removal whose commit was made and not answered for is not made again`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                _ = try await store.putFile(OrderFile(name: "a.png", contents: Samples.image(1)), of: key)
                let attempts = Locked<[OrderKey: ChangeRun.Attempt]>([:])
                for _ in 1...2 {
                    // What the store does again when it does not hear what became of a commit.
                    let outcomes = try await store.transaction { connection in
                        var work = OrderWork(key: key)
                        work.edits = [
                            OrderWork.Edit(
                                index: 0,
                                identifier: try EventIdentifier("edit 1"),
                                change: .removeFile("a.png")
                            )
                        ]
                        var run = ChangeRun(
                            orderType: key.orderType,
                            options: ChangeOptions(),
                            connection: connection,
                            attempts: attempts
                        )
                        return try await run.outcomes([work])
                    }
                    guard case .change(let answer) = try #require(outcomes[0]).get() else { throw Unexpected() }
                    #expect(answer.revision == 3)
                }
                #expect(try await store.head(key)?.revision == 3)
                // Asked for anew, it is not there.
                await #expect(throws: StoreError.self) { try await store.removeFile("a.png", of: key) }
            }
        }

        @Test func `a database without room is one to come back to`() {
            #expect(OrderStore.isUnavailable(PostgresError(.exhausted, "no space left", sqlState: "53100")))
            #expect(!OrderStore.isUnavailable(PostgresError(.other, "syntax", sqlState: "42601")))
        }

        @Test func `acknowledged creates and changes survive killed sessions, each once`() async throws {
            try await withStore(connectionsPerLoop: 6) { fixture in
                let store = fixture.store
                var made: [OrderKey] = []
                for number in 0..<6 { made.append(try await fixture.create("order-\(number)").key) }
                let keys = made
                let running = Locked(6)
                let killed = Locked(Int64(0))
                let outcomes = try await atOnce(7) { task -> (events: Int, orders: Int, failures: Int) in
                    var counts = (events: 0, orders: 0, failures: 0)
                    if task == 6 {
                        while running.withLock({ $0 > 0 }) {
                            do {
                                let count = try await fixture.number(Self.kill)
                                killed.withLock { $0 += count }
                            } catch {}
                            try await sleep(for: .milliseconds(15))
                        }
                        return counts
                    }
                    for number in 0..<40 {
                        do {
                            if number % 4 == 0 {
                                let request = CreateOrderTests.request("\(task)-\(number)", "\(task)-\(number)")
                                let outcome = try await store.create(
                                    NewOrder(
                                        document: try Samples.document("new-\(task)-\(number)"),
                                        idempotency: request
                                    )
                                )
                                if case .created(let created) = outcome {
                                    #expect(
                                        try await store.authorize(
                                            created.key,
                                            token: created.authenticationToken
                                        ) != nil
                                    )
                                }
                                counts.orders += 1
                            } else {
                                let answer = try await store.apply(
                                    try Samples.event("\(task)-\(number)", status: nil, tracking: "\(task)-\(number)"),
                                    to: keys[(task + number) % keys.count]
                                )
                                #expect(answer.reason == "applied")
                                counts.events += 1
                            }
                        } catch {
                            #expect(error is PostgresError, "\(error)")
                            counts.failures += 1
                        }
                    }
                    running.withLock { $0 -= 1 }
                    return counts
                }
                let events = outcomes.map(\.events).reduce(0, +)
                let orders = outcomes.map(\.orders).reduce(0, +)
                let failures = outcomes.map(\.failures).reduce(0, +)
                #expect(killed.withLock { $0 } > 10)
                #expect(failures <= 12, "\(failures) of 240 requests failed")
                let storedEvents = try await fixture.number(Self.countEvents)
                let storedOrders = try await fixture.number(Self.countOrders)
                #expect(storedEvents >= Int64(events))
                #expect(storedEvents <= Int64(events + failures))
                #expect(storedOrders >= Int64(orders + 6))
                #expect(storedOrders <= Int64(orders + 6 + failures))
                try await fixture.expectInvariants()
            }
        }
    }
}
