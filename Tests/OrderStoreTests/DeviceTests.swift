// SPDX-License-Identifier: Apache-2.0

import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    @Suite struct DeviceTests {
        static let type = Samples.shop
        static let countDevices = Statement("t_count_devices", "select count(*) from devices")
        static let countRegistrations = Statement("t_count_registrations", "select count(*) from registrations")
        static let pushToken = Statement("t_push_token", "select push_token from devices")

        @Test func `a registration is 201 once, then 200; a new token takes the old one's place`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let device = try Samples.device("phone")
                let store = fixture.store
                #expect(try await store.register(device, pushToken: Samples.token(1), for: created.key) == .registered)
                #expect(try await store.register(device, pushToken: Samples.token(1), for: created.key) == .known)
                #expect(try await store.orderTypesWithDueTickets().isEmpty)
                #expect(try await store.register(device, pushToken: Samples.token(2), for: created.key) == .known)
                #expect(try await fixture.client.query(Self.pushToken).first?.text(0) == "2")
                #expect(try await fixture.number(Self.countDevices) == 1)
                // The push that went to the old token may be lost, so the new one is due at once.
                #expect(try await store.orderTypesWithDueTickets() == [created.key.orderType])
                try await fixture.expectInvariants()
            }
        }

        @Test func `a registration of an order that has changed before is due at once`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                _ = try await fixture.store.apply(try Samples.event("e1"), to: created.key)
                _ = try await fixture.store.register(
                    try Samples.device("phone"),
                    pushToken: Samples.token(1),
                    for: created.key
                )
                let claim = try await fixture.store.claimTickets(created.key.orderType, room: 10, floor: nil)
                #expect(claim.tickets.count == 1)
            }
        }

        @Test func `unregistering twice is the same as once, and the last order takes the device along`() async throws {
            try await withStore { fixture in
                let one = try await fixture.create("one")
                let two = try await fixture.create("two")
                let device = try Samples.device("phone")
                for key in [one.key, two.key] {
                    _ = try await fixture.store.register(device, pushToken: Samples.token(1), for: key)
                }
                try await fixture.store.unregister(device, from: one.key)
                try await fixture.store.unregister(device, from: one.key)
                #expect(try await fixture.number(Self.countDevices) == 1)
                _ = try await fixture.store.apply(try Samples.event("e1"), to: one.key)
                #expect(try await fixture.store.orderTypesWithDueTickets().isEmpty)
                try await fixture.store.unregister(device, from: two.key)
                #expect(try await fixture.number(Self.countDevices) == 0)
                #expect(
                    try await fixture.store.changedOrders(of: device, orderType: one.key.orderType, since: nil) == nil
                )
            }
        }

        @Test func `a list names what changed since its tag, each once`() async throws {
            try await withStore { fixture in
                let device = try Samples.device("phone")
                let store = fixture.store
                var keys: [OrderKey] = []
                for number in 0..<3 {
                    let created = try await fixture.create("order-\(number)")
                    keys.append(created.key)
                    _ = try await store.register(device, pushToken: Samples.token(1), for: created.key)
                }
                let type = keys[0].orderType
                let all = try #require(try await store.changedOrders(of: device, orderType: type, since: nil))
                #expect(all.orders == keys.map(\.order))
                #expect(all.tag.utf8.allSatisfy { (0x30...0x39).contains($0) })
                #expect(try await store.changedOrders(of: device, orderType: type, since: all.tag) == nil)
                _ = try await store.apply(try Samples.event("e1"), to: keys[1])
                let one = try #require(try await store.changedOrders(of: device, orderType: type, since: all.tag))
                #expect(one.orders == [keys[1].order])
                #expect(try await store.changedOrders(of: device, orderType: type, since: one.tag) == nil)
                // A registration made now, for an order that has not changed since, is listed as well.
                let late = try await fixture.create("order-9")
                _ = try await store.register(device, pushToken: Samples.token(1), for: late.key)
                let again = try #require(try await store.changedOrders(of: device, orderType: type, since: one.tag))
                #expect(again.orders == [late.key.order])
            }
        }

        @Test(arguments: ["", "abc", "-5", "+5", "1.5", " 7", "99999999999999999999", "9223372036854775807"])
        func `a tag that is none, or from a lost history, means all`(tag: String) async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let device = try Samples.device("phone")
                _ = try await fixture.store.register(device, pushToken: Samples.token(1), for: created.key)
                let list = try await fixture.store.changedOrders(
                    of: device,
                    orderType: created.key.orderType,
                    since: tag
                )
                #expect(list?.orders == [created.key.order])
            }
        }

        @Test func `one token under two device identifiers gives each its own ticket`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                for name in ["phone", "watch"] {
                    #expect(
                        try await fixture.store.register(
                            try Samples.device(name),
                            pushToken: Samples.token(7),
                            for: created.key
                        ) == .registered
                    )
                }
                _ = try await fixture.store.apply(try Samples.event("e1"), to: created.key)
                let claim = try await fixture.store.claimTickets(created.key.orderType, room: 10, floor: nil)
                #expect(claim.tickets.count == 2)
                #expect(Set(claim.tickets.map(\.tokenDigest)).count == 1)
            }
        }

        @Test func `fifty registrations of one phone at once are one 201 and forty-nine 200`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let created = try await fixture.create("one")
                let device = try Samples.device("phone")
                let outcomes = try await atOnce(50) { _ in
                    try await fixture.store.register(device, pushToken: Samples.token(1), for: created.key)
                }
                #expect(outcomes.filter { $0 == .registered }.count == 1)
                #expect(outcomes.filter { $0 == .known }.count == 49)
                #expect(try await fixture.number(Self.countDevices) == 1)
                #expect(try await fixture.number(Self.countRegistrations) == 1)
            }
        }

        @Test func `five hundred devices register for one order at once`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let created = try await fixture.create("one")
                let outcomes = try await atOnce(500) { number in
                    try await fixture.store.register(
                        try Samples.device("device-\(number)"),
                        pushToken: Samples.token(number + 1),
                        for: created.key
                    )
                }
                #expect(outcomes.allSatisfy { $0 == .registered })
                _ = try await fixture.store.apply(try Samples.event("e1"), to: created.key)
                let claim = try await fixture.store.claimTickets(created.key.orderType, room: 1_000, floor: nil)
                #expect(claim.tickets.count == 500)
                try await fixture.expectInvariants()
            }
        }

        @Test func `a token opens its own order only`() async throws {
            try await withStore { fixture in
                let one = try await fixture.create("one")
                let two = try await fixture.create("two")
                let store = fixture.store
                #expect(try await store.authorize(one.key, token: one.authenticationToken)?.key == one.key)
                #expect(try await store.authorize(one.key, token: two.authenticationToken) == nil)
                #expect(try await store.authorize(one.key, token: "") == nil)
                #expect(try await store.authorize(try Samples.key("none"), token: one.authenticationToken) == nil)
            }
        }

        @Test func `device log lines are cut, counted and found again by order`() async throws {
            try await withStore { fixture in
                let created = try await fixture.create("one")
                let long = String(repeating: "\u{E9}", count: 900) + "\u{0}"
                let line = DeviceLogLine(kind: "authentication", message: long, key: created.key)
                try await fixture.store.recordLog(Array(repeating: line, count: 150))
                let entries = try await fixture.store.deviceLog(limit: 1_000)
                #expect(entries.count == 100)
                #expect(entries.first?.line.message.utf8.count == 1_000)
                let read = PackageRead(key: created.key, revision: 1, notModified: true)
                try await fixture.store.recordReads([
                    read, read, PackageRead(key: created.key, revision: 1, notModified: false),
                ])
                try await fixture.store.recordReads([read])
                _ = try await fixture.store.register(
                    try Samples.device("phone"),
                    pushToken: Samples.token(1),
                    for: created.key
                )
                _ = try await fixture.store.apply(
                    try Samples.event("e1"),
                    to: created.key,
                    ChangeOptions(actor: "key-1")
                )
                let history = try #require(try await fixture.store.history(created.key))
                #expect(history.log.count == 50)
                #expect(history.reads.first?.notModified == 3)
                #expect(history.reads.first?.fullAnswers == 1)
                #expect(history.revisions.map(\.cause) == ["event", "create"])
                #expect(history.revisions.first?.actor == "key-1")
                #expect(history.events.map(\.identifier) == ["e1"])
                #expect(history.devices.count == 1)
                #expect(history.devices.first?.dueAt != nil)
            }
        }
    }
}
