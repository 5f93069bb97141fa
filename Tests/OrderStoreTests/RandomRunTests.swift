// SPDX-License-Identifier: Apache-2.0

import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    /// Devices, changes and workers at random, with lost answers, expired leases and 410s both ways, ending in a quiet
    /// moment in which every device must hold the newest revision of every order that it follows.
    @Suite struct RandomRunTests {
        /// A phone that does what Wallet does: registers, and on a push lists and fetches.
        final class Phone: Sendable {
            struct State: Sendable {
                var held: [OrderKey: Int64] = [:]
                var tags: [OrderTypeIdentifier: String] = [:]
                var token: Int
            }

            let device: DeviceIdentifier
            let state: Locked<State>

            init(_ number: Int) throws {
                self.device = try Samples.device("phone-\(number)")
                self.state = Locked(State(token: number * 1_000 + 1))
            }

            func follow(_ key: OrderKey, _ store: OrderStore) async throws {
                // The package comes before the registration, so the two may be apart by a change.
                guard let head = try await store.head(key) else { return }
                state.withLock { $0.held[key] = max($0.held[key] ?? 0, head.revision) }
                let token = try Samples.token(state.withLock { $0.token })
                _ = try await store.register(device, pushToken: token, for: key)
            }

            func leave(_ key: OrderKey, _ store: OrderStore) async throws {
                try await store.unregister(device, from: key)
                state.withLock { _ = $0.held.removeValue(forKey: key) }
            }

            func reinstall(_ store: OrderStore) async throws {
                let (keys, token) = state.withLock { state in
                    state.token += 1
                    return (Array(state.held.keys), state.token)
                }
                for key in keys { _ = try await store.register(device, pushToken: Samples.token(token), for: key) }
            }

            func wake(_ orderType: OrderTypeIdentifier, _ store: OrderStore) async throws {
                let tag = state.withLock { $0.tags[orderType] }
                guard let list = try await store.changedOrders(of: device, orderType: orderType, since: tag) else {
                    return
                }
                for order in list.orders {
                    let key = OrderKey(orderType, order)
                    guard let package = try await store.package(key) else { continue }
                    state.withLock { state in
                        if let held = state.held[key] { state.held[key] = max(held, package.head.revision) }
                    }
                }
                state.withLock { $0.tags[orderType] = list.tag }
            }
        }

        static func work(
            _ claim: TicketClaim,
            _ phones: [DeviceIdentifier: Phone],
            _ store: OrderStore,
            faults: SeededRandom?
        ) async throws {
            var faults = faults
            var answers: [TicketAnswer] = []
            for ticket in claim.tickets {
                guard let phone = phones[ticket.device] else { continue }
                let current = try Samples.token(phone.state.withLock { $0.token })
                if current != ticket.pushToken {
                    // The token is gone: APNs says 410 with the time at which it learnt so.
                    _ = try await store.prune(
                        claim.orderType,
                        device: ticket.device,
                        tokenDigest: ticket.tokenDigest,
                        registeredBefore: try await store.databaseTime()
                    )
                    continue
                }
                switch (faults?.next() ?? 9) % 10 {
                case 0: continue  // the worker dies before the push: the lease runs out
                case 1:
                    answers.append(
                        TicketAnswer(
                            device: ticket.device,
                            mark: ticket.mark,
                            verdict: .retry(after: .milliseconds(1)),
                            reason: "ServiceUnavailable"
                        )
                    )
                case 2:
                    try await phone.wake(claim.orderType, store)
                    continue  // pushed, and the answer is lost
                default:
                    try await phone.wake(claim.orderType, store)
                    answers.append(TicketAnswer(device: ticket.device, mark: ticket.mark, verdict: .sent, reason: nil))
                }
            }
            _ = try await store.settle(claim, answers)
        }

        @Test(arguments: [1, 2, 3])
        func `after a quiet moment every device holds the newest of all its orders`(round: Int) async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let store = fixture.store
                let types = [Samples.shop, Samples.bakery]
                var made: [OrderKey] = []
                for number in 0..<16 {
                    made.append(try await fixture.create("order-\(number)", type: types[number % 2]).key)
                }
                let keys = made
                let phones = try (0..<12).map { try Phone($0 + 1) }
                let byDevice = Dictionary(phones.map { ($0.device, $0) }) { first, _ in first }
                let writing = Locked(4 + 3)

                _ = try await atOnce(10) { task in
                    var random = SeededRandom(round, task)
                    switch task {
                    case 0..<4:  // changes
                        for number in 0..<60 {
                            if Int.random(in: 0..<4, using: &random) == 0 {
                                let events = try keys.shuffled(using: &random).prefix(5).map { key in
                                    KeyedEvent(
                                        key: key,
                                        event: try Samples.event(
                                            "\(task)-\(number)",
                                            status: nil,
                                            tracking: "\(task)-\(number)"
                                        )
                                    )
                                }
                                for answer in await store.apply(Array(events)) { #expect(try answer.get().applied) }
                            } else if let key = keys.randomElement(using: &random) {
                                _ = try await store.apply(
                                    try Samples.event("\(task)-\(number)", status: nil, tracking: "\(task)-\(number)"),
                                    to: key
                                )
                            }
                        }
                        writing.withLock { $0 -= 1 }
                    case 4..<7:  // phones; each phone belongs to one task, as one phone does one thing at a time
                        for _ in 0..<60 {
                            let phone = phones[(task - 4) * 4 + Int.random(in: 0..<4, using: &random)]
                            guard let key = keys.randomElement(using: &random) else { continue }
                            switch Int.random(in: 0..<10, using: &random) {
                            case 0..<6: try await phone.follow(key, store)
                            case 6..<8: try await phone.leave(key, store)
                            case 8: try await phone.reinstall(store)
                            default: try await phone.wake(key.orderType, store)
                            }
                        }
                        writing.withLock { $0 -= 1 }
                    default:  // workers
                        while writing.withLock({ $0 > 0 }) {
                            for orderType in try await store.orderTypesWithDueTickets() {
                                let claim = try await store.claimTickets(
                                    orderType,
                                    room: Int.random(in: 1...6, using: &random),
                                    floor: nil
                                )
                                try await Self.work(
                                    claim,
                                    byDevice,
                                    store,
                                    faults: SeededRandom(round, task, Int(random.next() >> 1))
                                )
                            }
                            if Int.random(in: 0..<5, using: &random) == 0 {
                                // Time passes: leases of workers that died run out.
                                try await fixture.run(
                                    """
                                    with dead as materialized (
                                        select order_type, device_identifier from devices
                                        where claim is not null and random() < 0.3
                                        order by order_type, device_identifier for no key update skip locked)
                                    update devices d set due_at = now() from dead x
                                    where d.order_type = x.order_type and d.device_identifier = x.device_identifier
                                    """
                                )
                            }
                            await Task.yield()
                        }
                    }
                }

                // The quiet moment: no more changes; every lease runs out, every ticket goes out.
                for phone in phones { try await phone.reinstall(store) }
                for _ in 0..<50 {
                    try await fixture.run("update devices set due_at = now() where due_at is not null")
                    let due = try await store.orderTypesWithDueTickets()
                    if due.isEmpty { break }
                    for orderType in due {
                        let claim = try await store.claimTickets(orderType, room: 100, floor: nil)
                        try await Self.work(claim, byDevice, store, faults: nil)
                    }
                }
                #expect(try await store.orderTypesWithDueTickets().isEmpty)
                var compared = 0
                for phone in phones {
                    for (key, held) in phone.state.withLock({ $0.held }) {
                        let head = try #require(try await store.head(key))
                        #expect(held == head.revision, "a device is behind")
                        compared += 1
                    }
                }
                #expect(compared > 10)
                try await fixture.expectInvariants()
            }
        }
    }
}
