// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import OrderStore

extension StoreTests {
    /// Contents that are taken away while a revision is about to pin them.
    @Suite struct PinTests {
        /// An order with the type's logo as its own.
        private static func twin(_ fixture: StoreFixture) async throws -> OrderKey {
            let file = OrderFile(name: "logo.png", contents: Samples.image(1))
            let outcome = try await fixture.store.create(
                NewOrder(document: try Samples.document("twin", logo: "logo.png"), files: [file])
            )
            guard case .created(let twin) = outcome else { throw Unexpected() }
            return twin.key
        }

        /// Erases an order while a change waits for a lock, which `release` lets go once the erasure waits too, or is done.
        private static func erase(
            _ twin: OrderKey,
            _ fixture: StoreFixture,
            _ release: () async throws -> Void
        ) async throws {
            let erased = Signal()
            let erasure = Task {
                defer { erased.fire() }
                return try await fixture.store.erase(twin)
            }
            try await fixture.waits(2, or: erased)
            try await release()
            #expect(try await erasure.value)
        }

        @Test func `a change pins no file of its type that an erasure takes meanwhile`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let store = fixture.store
                let key = try await fixture.create("one", logo: "logo.png").key
                _ = try await store.register(try Samples.device("phone"), pushToken: Samples.token(1), for: key)
                let twin = try await Self.twin(fixture)
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(1)), of: key.orderType)
                let over = Signal()
                let device = Statement("t_hold_device", "select 1 from devices for update")
                let holder = try await fixture.hold(device, until: over)
                let change = Task { try await store.patch(key, with: ["statusDescription": "new"]) }
                try await fixture.waits(1)
                // The change has planned its files and waits for the device.
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(2)), of: key.orderType)
                try await Self.erase(twin, fixture) {
                    over.fire()
                    try await holder.value
                }
                #expect(try await change.value.revision == 2)
                let part = try #require(try await store.package(key)?.parts.first)
                #expect(try await store.asset(key.orderType, part.digest) == Samples.image(1))
                try await fixture.expectInvariants()
            }
        }

        @Test func `a change plans anew when a file of its type is gone before it is pinned`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let store = fixture.store
                let key = try await fixture.create("one", logo: "logo.png").key
                let other = try await fixture.create("other").key
                _ = try await store.putFile(OrderFile(name: "a.png", contents: Samples.image(3)), of: other)
                let twin = try await Self.twin(fixture)
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(1)), of: key.orderType)
                let over = Signal()
                let asset = Statement(
                    "t_hold_asset",
                    "select 1 from assets a join order_parts p using (order_type, digest) where name = 'a.png' for update of a"
                )
                let holder = try await fixture.hold(asset, until: over)
                let change = Task {
                    try await store.putFile(OrderFile(name: "a.png", contents: Samples.image(3)), of: key)
                }
                try await fixture.waits(1)
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(2)), of: key.orderType)
                try await Self.erase(twin, fixture) {
                    over.fire()
                    try await holder.value
                }
                #expect(try await change.value.revision == 2)
                for part in try #require(try await store.package(key)).parts {
                    #expect(try await store.asset(key.orderType, part.digest) != nil, "\(part.name)")
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `a create plans anew when a file of its type is gone before it is pinned`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let store = fixture.store
                let other = try await fixture.create("other").key
                _ = try await store.putFile(OrderFile(name: "a.png", contents: Samples.image(3)), of: other)
                let twin = try await Self.twin(fixture)
                let type = twin.orderType
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(1)), of: type)
                let over = Signal()
                let asset = Statement(
                    "t_hold_asset",
                    "select 1 from assets a join order_parts p using (order_type, digest) where name = 'a.png' for update of a"
                )
                let holder = try await fixture.hold(asset, until: over)
                let new = NewOrder(
                    document: try Samples.document("one", logo: "logo.png"),
                    files: [OrderFile(name: "a.png", contents: Samples.image(3))]
                )
                let creation = Task { try await store.create(new) }
                try await fixture.waits(1)
                // The files are planned, and the order's own are being put.
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(2)), of: type)
                #expect(try await store.erase(twin))
                over.fire()
                try await holder.value
                guard case .created(let created) = try await creation.value else { throw Unexpected() }
                let parts = try #require(try await store.package(created.key)).parts
                #expect(parts.map(\.name) == ["a.png", "logo.png"])
                for part in parts {
                    #expect(try await store.asset(type, part.digest) != nil, "\(part.name)")
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `changes that pin the same strings don't wait for each other`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let store = fixture.store
                var keys: [OrderKey] = []
                for name in ["one", "two", "three"] { keys.append(try await fixture.create(name).key) }
                _ = try await store.register(try Samples.device("phone"), pushToken: Samples.token(1), for: keys[0])
                try await store.putTypeStrings(["a": "b"], locale: "de", of: keys[0].orderType)
                _ = try await store.patch(keys[2], with: ["statusDescription": "new"])
                let over = Signal()
                let device = Statement("t_hold_device", "select 1 from devices for update")
                let holder = try await fixture.hold(device, until: over)
                let key = keys[0]
                let change = Task { try await store.patch(key, with: ["statusDescription": "new"]) }
                try await fixture.waits(1)
                #expect(try await store.patch(keys[1], with: ["statusDescription": "new"]).revision == 2)
                over.fire()
                try await holder.value
                #expect(try await change.value.revision == 2)
                try await fixture.expectInvariants()
            }
        }

        @Test func `an order from the future leaves nothing behind`() async throws {
            try await withStore { fixture in
                let created = WallTime(seconds: WallTime.now().seconds + 3_600).rfc3339
                let new = NewOrder(
                    document: try Samples.document("one", created: created),
                    files: [OrderFile(name: "a.png", contents: Samples.image(3))]
                )
                let error = await #expect(throws: StoreError.self) { _ = try await fixture.store.create(new) }
                #expect(error?.findings.map(\.code) == ["created-in-future"])
                #expect(try await fixture.number(Statement("t_contents", "select count(*) from assets")) == 0)
            }
        }

        @Test func `a create that waited for an erasure is not told that its twin is at work`() async throws {
            try await withStore(connectionsPerLoop: 8) { fixture in
                let store = fixture.store
                let twin = try await Self.twin(fixture)
                let over = Signal()
                let asset = Statement("t_hold_assets", "select 1 from assets for update")
                let holder = try await fixture.hold(asset, until: over)
                let new = NewOrder(
                    document: try Samples.document("one", logo: "logo.png"),
                    files: [OrderFile(name: "logo.png", contents: Samples.image(1))],
                    idempotency: CreateOrderTests.request("k")
                )
                #expect(await code { _ = try await store.create(new) } == .busy)
                over.fire()
                try await holder.value
                guard case .created = try await store.create(new) else { throw Unexpected() }
                #expect(try await store.erase(twin))
            }
        }
    }
}
