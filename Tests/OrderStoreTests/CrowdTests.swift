// SPDX-License-Identifier: Apache-2.0

import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import TestPatience
import Testing

@testable import OrderStore

extension StoreTests {
    /// Many at one order: what they cost others.
    @Suite struct CrowdTests {
        @Test func `forty who wait for one order keep nobody from reading another`() async throws {
            try await withStore { fixture in
                let one = try await fixture.create("one")
                let two = try await fixture.create("two")
                let event = try Samples.event("e")
                let over = Signal()
                let holder = try await fixture.hold("one", until: over)
                let crowd = Task {
                    try await atOnce(40) { _ in
                        await code { _ = try await fixture.store.apply(event, to: one.key) }
                    }
                }
                var slowest = Duration.zero
                for _ in 0..<20 {
                    try await sleep(for: .milliseconds(50))
                    let start = MonotonicTime.now()
                    _ = try await fixture.store.package(two.key)
                    try await fixture.client.ready()
                    slowest = max(slowest, MonotonicTime.now() - start)
                }
                #expect(slowest < .seconds(1) * Patience.factor)
                let codes = try await crowd.value
                #expect(codes.allSatisfy { $0 == .busy })
                over.fire()
                try await holder.value
                #expect(try await fixture.store.apply(event, to: one.key).applied)
            }
        }

        @Test func `turns come in the order of their asking, few at a time, and who gives up is passed over`()
            async throws
        {
            let turns = OrderTurns(limit: 1)
            let key = try Samples.key("one")
            let first = Signal()
            let isIn = Signal()
            let served = Locked<[Int]>([])
            let holder = Task {
                try await turns.take(key, patience: .seconds(60)) {
                    isIn.fire()
                    try await first.wait()
                }
            }
            try await isIn.wait()
            #expect(
                await code {
                    try await turns.take(key, patience: .milliseconds(20)) { served.withLock { $0.append(0) } }
                }
                    == .busy
            )
            let cancelled = Task {
                try await turns.take(key, patience: .seconds(60)) { served.withLock { $0.append(0) } }
            }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            var waiting: [Task<Void, any Error>] = []
            for number in 1...3 {
                let asks = Signal()
                waiting.append(
                    Task.immediate {
                        asks.fire()
                        try await turns.take(key, patience: Patience.long) { served.withLock { $0.append(number) } }
                    }
                )
                try await asks.wait()
            }
            // Another order's turn is its own.
            try await turns.take(try Samples.key("two"), patience: .milliseconds(20)) {}
            first.fire()
            try await holder.value
            for task in waiting { try await task.value }
            #expect(served.withLock { $0 } == [1, 2, 3])
            try await turns.take(key, patience: .milliseconds(20)) {}
        }

        private static func follow(_ count: Int) -> String {
            """
            insert into devices (order_type, device_identifier, push_token, token_digest, token_since, mark)
            select '\(Samples.shop)', 'd' || n, 'aa', sha256('z'), now(), (extract(epoch from now()) * 1000000)::bigint
            from generate_series(1, \(count)) n;
            insert into registrations select order_type, device_identifier, 'one', mark, now() from devices
            """
        }

        @Test func `an order is followed by a thousand devices and no more`() async throws {
            try await withStore { fixture in
                let one = try await fixture.create("one")
                let two = try await fixture.create("two")
                try await fixture.run(Self.follow(999))
                let last = try Samples.device("last")
                let token = try Samples.token(7)
                #expect(try await fixture.store.register(last, pushToken: token, for: one.key) == .registered)
                let late = try Samples.device("late")
                #expect(try await fixture.store.register(late, pushToken: token, for: one.key) == .full)
                // Who follows it may change its token, and other orders may be followed.
                let other = try Samples.token(8)
                #expect(try await fixture.store.register(last, pushToken: other, for: one.key) == .known)
                #expect(try await fixture.store.register(late, pushToken: token, for: two.key) == .registered)
                try await fixture.store.unregister(last, from: one.key)
                #expect(try await fixture.store.register(late, pushToken: token, for: one.key) == .registered)
                #expect(
                    try await fixture.store.register(late, pushToken: token, for: try Samples.key("no"))
                        == .orderUnknown
                )
                try await fixture.expectInvariants()
            }
        }

        @Test func `an order that very many devices follow is erased in batches`() async throws {
            try await withStore { fixture in
                let one = try await fixture.create("one")
                try await fixture.run(Self.follow(20_000))
                let two = try await fixture.create("two")
                let both = try Samples.device("d7")
                _ = try await fixture.store.register(both, pushToken: try Samples.token(7), for: two.key)
                #expect(try await fixture.store.erase(one.key))
                let left = Statement("t_devices_left", "select count(*) from devices")
                #expect(try await fixture.number(left) == 1)
                #expect(try await fixture.store.erase(one.key) == false)
                try await fixture.expectInvariants()
            }
        }

        @Test func `an erasure under If-Match takes all of an order or nothing`() async throws {
            try await withStore { fixture in
                let key = try await fixture.create("one").key
                try await fixture.run(Self.follow(1_001))
                let tag = try #require(try await fixture.store.head(key)).entityTag
                // A change that comes as soon as a part of the erasure is committed.
                try await fixture.run(
                    """
                    create sequence t_turns;
                    create function t_change() returns trigger language plpgsql as $$ begin
                        if nextval('t_turns') = 1 then update orders set digest = sha256('other'); end if;
                        return null; end $$;
                    create constraint trigger t_change after delete on registrations deferrable initially deferred
                        for each row execute function t_change()
                    """
                )
                #expect(try await fixture.store.erase(key, ChangeOptions(ifMatch: .entityTags([tag]))))
                #expect(try await fixture.store.head(key)?.isErased == true)
            }
        }
    }
}
