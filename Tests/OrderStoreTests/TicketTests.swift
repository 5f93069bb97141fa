// SPDX-License-Identifier: Apache-2.0

import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import TestPatience
import Testing

extension StoreTests {
    @Suite struct TicketTests {
        // In milliseconds. None of them asks how late it is now: a busy machine reads the answer later than it was true.
        static let dueAfterPush = Statement(
            "t_due_after_push",
            "select (extract(epoch from due_at - pushed_at) * 1000)::bigint from devices"
        )
        static let due = Statement("t_due", "select (extract(epoch from due_at) * 1000)::bigint from devices")
        static let clock = Statement("t_clock", "select (extract(epoch from clock_timestamp()) * 1000)::bigint")

        /// An order with one registered device that has a ticket due.
        static func start(_ fixture: StoreFixture) async throws -> (key: OrderKey, device: DeviceIdentifier) {
            let created = try await fixture.create("one")
            let device = try Samples.device("phone")
            _ = try await fixture.store.register(device, pushToken: Samples.token(1), for: created.key)
            _ = try await fixture.store.apply(try Samples.event("e1"), to: created.key)
            return (created.key, device)
        }

        static func sent(_ claim: TicketClaim) -> [TicketAnswer] {
            claim.tickets.map { TicketAnswer(device: $0.device, mark: $0.mark, verdict: .sent) }
        }

        @Test func `a change makes its devices due, and a sent ticket rests`() async throws {
            try await withStore { fixture in
                let (key, device) = try await Self.start(fixture)
                let store = fixture.store
                #expect(try await store.orderTypesWithDueTickets() == [key.orderType])
                #expect((try await store.oldestDueTicket() ?? .seconds(-1)) >= .zero)
                let claim = try await store.claimTickets(key.orderType, room: 10, floor: nil)
                #expect(claim.tickets.map(\.device) == [device])
                #expect(claim.tickets.first?.attempts == 1)
                #expect(claim.isShort)
                #expect(try await store.claimTickets(key.orderType, room: 10, floor: nil).tickets.isEmpty)
                #expect(try await store.ticketCounts().first?.inFlight == 1)
                #expect(try await store.settle(claim, Self.sent(claim)) == 1)
                #expect(try await store.settle(claim, Self.sent(claim)) == 0)
                #expect(try await store.orderTypesWithDueTickets().isEmpty)
                #expect(try await store.oldestDueTicket() == nil)
                try await fixture.expectInvariants()
            }
        }

        @Test(arguments: ["push_token = 'no token'", "token_digest = '\\x00'"])
        func `a ticket that can't be read back keeps no other from its push`(_ damage: String) async throws {
            let log = CapturedLog()
            try await withStore(logger: log.logger) { fixture in
                let (key, device) = try await Self.start(fixture)
                _ = try await fixture.store.register(
                    try Samples.device("broken"),
                    pushToken: Samples.token(2),
                    for: key
                )
                try await fixture.run(
                    "update devices set \(damage), due_at = now() - interval '1 hour' where device_identifier = 'broken'"
                )
                let claim = try await fixture.store.claimTickets(key.orderType, room: 2, floor: nil)
                #expect(claim.tickets.map(\.device) == [device])
                #expect(!claim.isShort)
                #expect(log.text.contains("can't be read and is given up"))
                #expect(try await fixture.store.settle(claim, Self.sent(claim)) == 1)
            }
        }

        @Test func `a change while the push is in flight is due again after it`() async throws {
            try await withStore { fixture in
                let (key, _) = try await Self.start(fixture)
                let claim = try await fixture.store.claimTickets(key.orderType, room: 10, floor: nil)
                _ = try await fixture.store.apply(try Samples.event("e2", status: "onTheWay"), to: key)
                _ = try await fixture.store.settle(claim, Self.sent(claim))
                #expect(try await fixture.number(Self.dueAfterPush) == 1_000)
                try await fixture.expectInvariants()
            }
        }

        @Test func `many changes in a second are one push and one more`() async throws {
            try await withStore { fixture in
                let (key, _) = try await Self.start(fixture)
                let claim = try await fixture.store.claimTickets(key.orderType, room: 10, floor: nil)
                _ = try await fixture.store.settle(claim, Self.sent(claim))
                try await fixture.run("update devices set pushed_at = now() + interval '1 hour'")
                for number in 0..<20 {
                    _ = try await fixture.store.apply(
                        try Samples.event("n\(number)", status: nil, tracking: "T\(number)"),
                        to: key
                    )
                }
                #expect(try await fixture.store.claimTickets(key.orderType, room: 10, floor: nil).tickets.isEmpty)
                // A second after the last push, however often the order changed.
                #expect(try await fixture.number(Self.dueAfterPush) == 1_000)
            }
        }

        @Test func `a ticket to retry keeps its tries and the time of its first failure`() async throws {
            try await withStore { fixture in
                let (key, device) = try await Self.start(fixture)
                let store = fixture.store
                for attempt in 1...3 {
                    let claim = try await store.claimTickets(key.orderType, room: 10, floor: nil)
                    let ticket = try #require(claim.tickets.first)
                    #expect(ticket.attempts == attempt)
                    #expect((ticket.firstFailedAt != nil) == (attempt > 1))
                    let before = try await fixture.number(Self.clock)
                    _ = try await store.settle(
                        claim,
                        [
                            TicketAnswer(
                                device: device,
                                mark: ticket.mark,
                                verdict: .retry(after: .seconds(60)),
                                reason: "TooManyRequests"
                            )
                        ]
                    )
                    let due = try await fixture.number(Self.due)
                    let after = try await fixture.number(Self.clock)
                    #expect((before + 60_000...after + 60_000).contains(due))
                    // A change does not shorten a back-off.
                    _ = try await store.apply(
                        try Samples.event("r\(attempt)", status: nil, tracking: "\(attempt)"),
                        to: key
                    )
                    #expect(try await fixture.number(Self.due) == due)
                    try await fixture.run("update devices set due_at = now()")
                }
            }
        }

        @Test func `a dead ticket rests until the next change, a redrive or a new registration`() async throws {
            try await withStore { fixture in
                let (key, device) = try await Self.start(fixture)
                let store = fixture.store
                func kill() async throws {
                    let claim = try await store.claimTickets(key.orderType, room: 10, floor: nil)
                    let ticket = try #require(claim.tickets.first)
                    _ = try await store.settle(
                        claim,
                        [TicketAnswer(device: device, mark: ticket.mark, verdict: .dead, reason: "PayloadTooLarge")]
                    )
                    #expect(try await store.orderTypesWithDueTickets().isEmpty)
                }
                try await kill()
                #expect(try await store.deadTickets(nil, limit: 10).map(\.reason) == ["PayloadTooLarge"])
                #expect(try await store.deadTickets(key.orderType, limit: 10).count == 1)
                #expect(try await store.ticketCounts().first?.dead == 1)
                #expect(try await store.redrive(key.orderType, device: device) == 1)
                try await kill()
                _ = try await store.register(device, pushToken: Samples.token(1), for: key)
                try await kill()
                _ = try await store.apply(try Samples.event("e2", status: "onTheWay"), to: key)
                #expect(try await store.orderTypesWithDueTickets().count == 1)
                #expect(try await store.deadTickets(nil, limit: 10).isEmpty)
            }
        }

        @Test func `a released claim is due at once and its try does not count`() async throws {
            try await withStore { fixture in
                let (key, _) = try await Self.start(fixture)
                let claim = try await fixture.store.claimTickets(key.orderType, room: 10, floor: nil)
                try await fixture.store.release(claim)
                let again = try await fixture.store.claimTickets(key.orderType, room: 10, floor: nil)
                #expect(again.tickets.first?.attempts == 1)
                #expect(try await fixture.store.settle(claim, Self.sent(claim)) == 0)
            }
        }

        @Test func `a late answer of a lost lease changes nothing`() async throws {
            try await withStore { fixture in
                let (key, _) = try await Self.start(fixture)
                let lost = try await fixture.store.claimTickets(key.orderType, room: 10, floor: nil)
                try await fixture.run("update devices set due_at = now()")
                let second = try await fixture.store.claimTickets(key.orderType, room: 10, floor: nil)
                _ = try await fixture.store.settle(second, Self.sent(second))
                _ = try await fixture.store.apply(try Samples.event("e2", status: "onTheWay"), to: key)
                let due = try await fixture.number(Self.due)
                #expect(try await fixture.store.settle(lost, Self.sent(lost)) == 0)
                #expect(try await fixture.number(Self.due) == due)
            }
        }

        @Test func `a 410 forgets the token unless it was registered again since`() async throws {
            try await withStore { fixture in
                let (key, device) = try await Self.start(fixture)
                let store = fixture.store
                let claim = try await store.claimTickets(key.orderType, room: 10, floor: nil)
                let ticket = try #require(claim.tickets.first)
                let before = Moment(microseconds: ticket.tokenSince.microseconds - 1_000)
                let after = Moment(microseconds: ticket.tokenSince.microseconds + 1_000)
                func prune(_ moment: Moment?) async throws -> Bool {
                    try await store.prune(
                        key.orderType,
                        device: device,
                        tokenDigest: ticket.tokenDigest,
                        registeredBefore: moment
                    )
                }
                #expect(try await prune(before) == false)
                // The same token registers again while its old 410 is on the way.
                _ = try await store.register(device, pushToken: Samples.token(1), for: key)
                #expect(try await prune(after) == false)
                #expect(try await prune(try await store.databaseTime()))
                #expect(try await prune(nil) == false)
                _ = try await store.apply(try Samples.event("e2", status: "onTheWay"), to: key)
                #expect(try await store.orderTypesWithDueTickets().isEmpty)
                // Marks went on: the list still knows the change, and the next registration is due at once.
                #expect(try await store.changedOrders(of: device, orderType: key.orderType, since: nil) != nil)
                #expect(try await store.register(device, pushToken: Samples.token(1), for: key) == .known)
                #expect(try await store.claimTickets(key.orderType, room: 10, floor: nil).tickets.count == 1)
                try await fixture.expectInvariants()
            }
        }

        @Test func `room bounds a claim, the longest due go first, and a floor skips what lies below`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                for number in 0..<30 {
                    _ = try await fixture.store.register(
                        try Samples.device("d\(number)"),
                        pushToken: Samples.token(number + 1),
                        for: created.key
                    )
                }
                #expect(try await fixture.store.push(created.key) == 30)
                try await fixture.run(
                    "update devices set due_at = now() - interval '1 minute' where device_identifier = 'd17'"
                )
                let one = try await fixture.store.claimTickets(created.key.orderType, room: 1, floor: nil)
                #expect(one.tickets.map(\.device) == [try Samples.device("d17")])
                #expect(!one.isShort)
                let rest = try await fixture.store.claimTickets(created.key.orderType, room: 100, floor: nil)
                #expect(rest.tickets.count == 29)
                #expect(rest.isShort)
                try await fixture.run("update devices set due_at = now() - interval '1 minute', claim = null")
                let floor = Moment(microseconds: rest.claimedAt.microseconds - 1_000_000)
                #expect(
                    try await fixture.store.claimTickets(created.key.orderType, room: 100, floor: floor).tickets.isEmpty
                )
            }
        }

        @Test func `a ring reaches a listener with the type as its word`() async throws {
            try await withStore { fixture in
                let (key, _) = try await Self.start(fixture)
                let heard = Signal()
                let ready = Signal()
                fixture.client.listen([OrderStore.ticketChannel]) { _, payload in
                    if payload == key.orderType.text { heard.fire() } else { ready.fire() }
                }
                let loops = try EventLoopGroup(count: 1)
                let loop = loops.next()
                try await withDeadline(Patience.long) {
                    while !heard.isFired {
                        loop.execute { fixture.store.bell.ring(key.orderType) }
                        try? await withDeadline(.milliseconds(200)) { try await heard.wait() }
                    }
                }
                #expect(heard.isFired)
                await loops.shutdown()
            }
        }
    }
}
