// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    /// The interleavings that store-level rules exist for, provoked many times each.
    @Suite struct RaceTests {
        static let resting = Statement(
            "t_resting",
            "select count(*) from devices where due_at is null and push_token is not null"
        )

        @Test func `a change and a registration that overlap leave no device untold`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                for round in 0..<60 {
                    let created = try await fixture.create("order-\(round)")
                    let device = try Samples.device("phone-\(round)")
                    _ = try await atOnce(2) { index in
                        if index == 0 {
                            _ = try await fixture.store.apply(try Samples.event("e1"), to: created.key)
                        } else {
                            _ = try await fixture.store.register(
                                device,
                                pushToken: Samples.token(round + 1),
                                for: created.key
                            )
                        }
                    }
                }
                // Whichever came first, the order stands at revision 2 and every device has a ticket.
                #expect(try await fixture.number(Self.resting) == 0)
                try await fixture.expectInvariants()
            }
        }

        @Test func `unregistering the last order against registering another leaves no orphan`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let one = try await fixture.create("one")
                let two = try await fixture.create("two")
                for round in 0..<60 {
                    let device = try Samples.device("phone-\(round)")
                    _ = try await fixture.store.register(device, pushToken: Samples.token(round + 1), for: one.key)
                    _ = try await atOnce(2) { index in
                        if index == 0 {
                            try await fixture.store.unregister(device, from: one.key)
                        } else {
                            let outcome = try await fixture.store.register(
                                device,
                                pushToken: Samples.token(round + 1),
                                for: two.key
                            )
                            #expect(outcome == .registered)
                        }
                    }
                    let list = try await fixture.store.changedOrders(
                        of: device,
                        orderType: two.key.orderType,
                        since: nil
                    )
                    #expect(list?.orders == [two.key.order])
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `a settle and a change that overlap never lose the change`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let created = try await fixture.create("one")
                let device = try Samples.device("phone")
                _ = try await fixture.store.register(device, pushToken: Samples.token(1), for: created.key)
                for round in 0..<60 {
                    _ = try await fixture.store.push(created.key)
                    let claim = try await fixture.store.claimTickets(created.key.orderType, room: 10, floor: nil)
                    #expect(claim.tickets.count == 1)
                    _ = try await atOnce(2) { index in
                        if index == 0 {
                            _ = try await fixture.store.settle(claim, TicketTests.sent(claim))
                        } else {
                            _ = try await fixture.store.apply(
                                try Samples.event("e\(round)", status: nil, tracking: "\(round)"),
                                to: created.key
                            )
                        }
                    }
                    #expect(try await fixture.number(Self.resting) == 0)
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `sixteen writers make strictly rising revisions of one order`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let created = try await fixture.create("one")
                _ = try await fixture.store.register(
                    try Samples.device("phone"),
                    pushToken: Samples.token(1),
                    for: created.key
                )
                let answers = try await atOnce(16) { writer in
                    var answers: [EventAnswer] = []
                    for number in 0..<60 {
                        answers.append(
                            try await fixture.store.apply(
                                try Samples.event("\(writer)-\(number)", status: nil, tracking: "\(writer)-\(number)"),
                                to: created.key
                            )
                        )
                    }
                    return answers
                }.flatMap { $0 }
                #expect(answers.count == 960)
                #expect(answers.allSatisfy { $0.applied && !$0.duplicate })
                let sorted = answers.sorted { $0.revision < $1.revision }
                #expect(sorted.map(\.revision) == Array(2...961))
                #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.updatedAt < $1.updatedAt })
                try await fixture.expectInvariants()
            }
        }

        @Test func `patches with If-Match make one winner a round`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let created = try await fixture.create("one")
                for round in 0..<5 {
                    let head = try #require(try await fixture.store.head(created.key))
                    let outcomes = try await atOnce(8) { writer in
                        await code {
                            _ = try await fixture.store.patch(
                                created.key,
                                with: ["statusDescription": .string("\(round)-\(writer)")],
                                ChangeOptions(ifMatch: .entityTags([head.entityTag]))
                            )
                        }
                    }
                    #expect(outcomes.filter { $0 == nil }.count == 1)
                    #expect(outcomes.filter { $0 == .preconditionFailed }.count == 7)
                }
            }
        }

        @Test func `bulk changes over shared devices, in any order, never deadlock`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                var keys: [OrderKey] = []
                for number in 0..<30 { keys.append(try await fixture.create("order-\(number)").key) }
                let every = keys
                for number in 0..<10 {
                    for (index, key) in every.enumerated() where index % 10 == number || index % 3 == 0 {
                        _ = try await fixture.store.register(
                            try Samples.device("phone-\(number)"),
                            pushToken: Samples.token(number + 1),
                            for: key
                        )
                    }
                }
                _ = try await atOnce(8) { worker in
                    var random = SeededRandom(1, worker)
                    for round in 0..<10 {
                        if worker < 5 {
                            let events = try every.shuffled(using: &random).prefix(20).map { key in
                                KeyedEvent(
                                    key: key,
                                    event: try Samples.event(
                                        "\(worker)-\(round)",
                                        status: nil,
                                        tracking: "\(worker)-\(round)"
                                    )
                                )
                            }
                            for answer in await fixture.store.apply(Array(events)) { #expect(try answer.get().applied) }
                        } else if worker < 7 {
                            let claim = try await fixture.store.claimTickets(every[0].orderType, room: 5, floor: nil)
                            _ = try await fixture.store.settle(claim, TicketTests.sent(claim))
                        } else {
                            let device = try Samples.device("phone-\(round)")
                            try await fixture.store.unregister(device, from: every[round])
                            _ = try await fixture.store.register(
                                device,
                                pushToken: Samples.token(round + 1),
                                for: every[round]
                            )
                        }
                    }
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `changes of different orders with the same devices, settles and redrives never deadlock`()
            async throws
        {
            try await withStore(connectionsPerLoop: 8) { fixture in
                var made: [OrderKey] = []
                for number in 0..<4 { made.append(try await fixture.create("order-\(number)").key) }
                let keys = made
                for key in keys {
                    _ = try await atOnce(40) { number in
                        try await fixture.store.register(
                            try Samples.device("phone-\(number)"),
                            pushToken: Samples.token(number + 1),
                            for: key
                        )
                    }
                }
                _ = try await atOnce(8) { worker in
                    for round in 0..<25 {
                        switch worker {
                        case 0..<4:
                            _ = try await fixture.store.apply(
                                try Samples.event("\(round)", status: nil, tracking: "\(round)"),
                                to: keys[worker]
                            )
                        case 4, 5:
                            let claim = try await fixture.store.claimTickets(keys[0].orderType, room: 30, floor: nil)
                            _ = try await fixture.store.settle(claim, TicketTests.sent(claim))
                        case 6:
                            let claim = try await fixture.store.claimTickets(keys[0].orderType, room: 30, floor: nil)
                            try await fixture.store.release(claim)
                        default: _ = try await fixture.store.push(keys[round % 4])
                        }
                    }
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `pollers that walk by tag miss no change of writers that commit in any order`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let store = fixture.store
                var made: [OrderKey] = []
                for number in 0..<8 { made.append(try await fixture.create("order-\(number)").key) }
                let keys = made
                let device = try Samples.device("phone")
                for key in keys { _ = try await store.register(device, pushToken: Samples.token(1), for: key) }
                let writing = Locked(4)
                let held = try await atOnce(7) { task -> [OrderIdentifier: Int64] in
                    var random = SeededRandom(2, task)
                    var held: [OrderIdentifier: Int64] = [:]
                    if task < 4 {
                        for round in 0..<100 {
                            _ = try await store.apply(
                                try Samples.event("\(task)-\(round)", status: nil, tracking: "\(task)-\(round)"),
                                to: keys[Int.random(in: 0..<8, using: &random)]
                            )
                        }
                        writing.withLock { $0 -= 1 }
                        return held
                    }
                    var tag: String?
                    var isLast = false
                    while true {
                        if let list = try await store.changedOrders(
                            of: device,
                            orderType: keys[0].orderType,
                            since: tag
                        ) {
                            for order in list.orders {
                                held[order] = try await store.head(OrderKey(keys[0].orderType, order))?.revision
                            }
                            tag = list.tag
                        }
                        if isLast { return held }
                        // One more round after the last commit.
                        isLast = writing.withLock { $0 == 0 }
                    }
                }
                for poller in held[4...] {
                    for key in keys {
                        #expect(poller[key.order] == (try await store.head(key))?.revision, "a change was missed")
                    }
                }
            }
        }

        @Test func `an erase against changes and registrations ends in a tombstone without orphans`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                for round in 0..<20 {
                    let created = try await fixture.create("order-\(round)")
                    _ = try await atOnce(4) { index in
                        let device = try Samples.device("phone-\(index)")
                        switch index {
                        case 0: _ = try await fixture.store.erase(created.key)
                        case 1:
                            let code = await code {
                                _ = try await fixture.store.apply(try Samples.event("e1"), to: created.key)
                            }
                            #expect(code == nil || code == .orderErased)
                        default:
                            _ = try await fixture.store.register(
                                device,
                                pushToken: Samples.token(index + 1),
                                for: created.key
                            )
                        }
                    }
                    #expect(try await fixture.store.head(created.key)?.isErased == true)
                }
                let left = Statement("t_left", "select count(*) from registrations")
                #expect(try await fixture.number(left) == 0)
                try await fixture.expectInvariants()
            }
        }

        @Test func `plain and conditional changes of a type's file do not meet in a deadlock`() async throws {
            try await withStore(connectionsPerLoop: 6) { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                try await store.putTypeFile(OrderFile(name: "a.png", contents: Samples.image(0)), of: type)
                _ = try await atOnce(8) { task in
                    for round in 0..<10 {
                        // Each file has contents of its own: what was there before is touched, what comes is put.
                        let file = OrderFile(name: "a.png", contents: Samples.image(UInt8(task * 10 + round + 1)))
                        let condition: FileCondition = task % 2 == 0 ? .any : .present { _ in true }
                        try await store.putTypeFile(file, of: type, condition)
                    }
                }
                #expect(try await store.typeFiles(of: type).count == 1)
            }
        }
    }
}
