// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import TestPatience
import Testing

extension StoreTests {
    /// Requests of contract size for one order, in any order of arrival.
    @Suite struct LongLogTests {
        private static let statuses = ["processing", "shipped", "onTheWay", "outForDelivery"]
        private static let base = Statement(
            "t_base_until",
            "select count(*) from order_documents where base_until is not null"
        )
        private static let rows = Statement("t_log_rows", "select count(*) from order_events")

        /// The moment of the first event; all are within the 90 days that a log goes back.
        private static let start = WallTime.now().seconds - 86_400

        private static func moment(_ number: Int) -> String { WallTime(seconds: start + Int64(number)).rfc3339 }

        /// Events a second apart, in the order of their moments.
        private static func events(_ numbers: Range<Int>) throws -> [OrderEvent] {
            try numbers.map { number in
                try Samples.event(
                    "e\(number)",
                    status: statuses[number % 4],
                    tracking: "T\(number)",
                    at: moment(number)
                )
            }
        }

        private static func keyed(_ events: [OrderEvent], _ key: OrderKey) -> [KeyedEvent] {
            events.map { KeyedEvent(key: key, event: $0) }
        }

        @Test(arguments: ["newest first", "shuffled"])
        func `a thousand late events of one order are taken, and the loop serves others meanwhile`(
            _ arrival: String
        ) async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let count = Patience.count(1_000)
                let events = try Self.events(0..<count)
                var random = SeededRandom(3)
                let sent = arrival == "shuffled" ? events.shuffled(using: &random) : Array(events.reversed())
                let gaps = Locked<Duration>(.zero)
                let over = Signal()
                let watches = fixture.loops.loops.map { loop in
                    Task(executorPreference: loop) {
                        var last = MonotonicTime.now()
                        while !over.isFired {
                            try await sleep(for: .milliseconds(5))
                            let now = MonotonicTime.now()
                            let gap = now - last
                            gaps.withLock { $0 = max($0, gap) }
                            last = now
                        }
                    }
                }
                let answers = await fixture.loops.next().run {
                    await fixture.store.apply(Self.keyed(sent, created.key))
                }
                over.fire()
                for watch in watches { try await watch.value }
                for answer in answers {
                    let answer = try answer.get()
                    #expect(answer.revision == 2)
                    #expect(["applied", "stale"].contains(answer.reason))
                }
                #expect(gaps.withLock { $0 } < .seconds(5) * Patience.factor)
                let order = try #require(try await fixture.store.order(created.key))
                #expect(order.document["fulfillments"]?[0]?["trackingNumber"]?.stringValue == "T\(count - 1)")
                #expect(try await fixture.number(Self.rows) == Int64(count))
                // Again: the same answers, whatever was folded into the base meanwhile.
                let again = await fixture.store.apply(Self.keyed(sent, created.key))
                for (answer, first) in zip(again, answers) {
                    let answer = try answer.get()
                    #expect(answer.duplicate)
                    let reason = try first.get().reason
                    #expect(answer.reason == reason)
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `a history reads no more of a long log than it shows and folds`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                for event in try Self.events(0..<3) { _ = try await fixture.store.apply(event, to: created.key) }
                // Behind the base, and of no use to anybody: what can't be parsed was not parsed.
                try await fixture.run(
                    """
                    update order_documents set base_until = now() - interval '20 days';
                    insert into order_events (order_type, order_identifier, event_identifier, kind, occurred_at, received_at,
                        fingerprint, body, verdict, changes, revision, modified_at)
                    select order_type, order_identifier, 'old' || n, 'event', now() - interval '21 days' - n * interval '1 minute',
                        now(), '\\x00', 'no JSON', 'applied', '[]', 1, modified_at from orders, generate_series(1, 600) n
                    """
                )
                let events = try #require(try await fixture.store.history(created.key)).events
                #expect(events.count == 500)
                #expect(events.suffix(4).map(\.identifier) == ["old1", "e0", "e1", "e2"])
                // Each wrote the same member: the last has the word.
                #expect(events.suffix(4).map(\.presentVerdict) == [nil, "stale", "stale", "applied"])
                #expect(events.first?.identifier == "old497")
            }
        }

        @Test func `a request that is given up stores nothing of its thousand events`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let events = Self.keyed(try Self.events(0..<1_000).reversed(), created.key)
                let start = MonotonicTime.now()
                await #expect(throws: DeadlineExceeded.self) {
                    try await withDeadline(.milliseconds(30)) {
                        let answers = await fixture.store.apply(events)
                        for answer in answers { _ = try answer.get() }
                    }
                }
                #expect(MonotonicTime.now() - start < .seconds(5) * Patience.factor)
                #expect(try await fixture.number(Self.rows) == 0)
                let order = try #require(try await fixture.store.order(created.key))
                #expect(order.head.revision == 1)
            }
        }

        @Test func `a long log is folded into its base when a late event has to go through it`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let events = try Self.events(0..<600)
                let late = try Samples.event(
                    "late",
                    status: nil,
                    tracking: "L",
                    at: Self.moment(598)
                )
                for start in stride(from: 0, to: 600, by: 200) {
                    let answers = await fixture.store.apply(Self.keyed(Array(events[start..<start + 200]), created.key))
                    for answer in answers { #expect(try answer.get().applied) }
                }
                let before = try #require(try await fixture.store.order(created.key))
                let answer = try await fixture.store.apply(late, to: created.key)
                #expect(answer.reason == "stale")
                #expect(try await fixture.number(Self.base) == 1)
                // The rows still answer duplicates.
                #expect(try await fixture.number(Self.rows) == 601)
                let again = try await fixture.store.apply(events[3], to: created.key)
                #expect(again.duplicate && again.reason == "applied")
                let after = try #require(try await fixture.store.order(created.key))
                #expect(after.document == before.document)
                // What is behind the base is stale, what is not has its place.
                let behind = try Samples.event("behind", status: nil, tracking: "B", at: Self.moment(200))
                #expect(try await fixture.store.apply(behind, to: created.key).reason == "stale")
                let next = try await fixture.store.apply(try Self.events(600..<601)[0], to: created.key)
                #expect(next.applied)
                #expect(try await fixture.store.history(created.key)?.events.count == 500)
                // Once nobody asks again, the rows go.
                try await fixture.run("update order_events set received_at = received_at - interval '73 hours'")
                _ = try await fixture.store.foldLongLogs(of: created.key.orderType, after: nil)
                #expect(try await fixture.number(Self.rows) == 200)
                try await fixture.expectInvariants()
            }
        }
    }
}
