// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    @Suite struct FileTests {
        static func parts(_ fixture: StoreFixture, _ key: OrderKey) async throws -> [String: OrderPart] {
            let package = try #require(try await fixture.store.package(key))
            return Dictionary(package.parts.map { ($0.name, $0) }) { first, _ in first }
        }

        @Test func `a revision pins the files that its document names, the order's own before the type's`() async throws
        {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                for (name, number) in [
                    ("logo.png", UInt8(1)), ("logo@2x.png", 2), ("de.lproj/logo.png", 3), ("other.png", 4),
                ] {
                    try await store.putTypeFile(OrderFile(name: name, contents: Samples.image(number)), of: type)
                }
                let created = try await fixture.create("one", logo: "logo.png")
                #expect(created.missingFiles.isEmpty)
                let pinned = try await Self.parts(fixture, created.key)
                #expect(pinned.keys.sorted() == ["de.lproj/logo.png", "logo.png", "logo@2x.png"])
                #expect(pinned.values.allSatisfy { $0.origin == .type })
                let digest = try #require(pinned["logo.png"]?.digest)
                #expect(try await store.asset(type, digest) == Samples.image(1))

                let own = try await store.putFile(
                    OrderFile(name: "logo.png", contents: Samples.image(9)),
                    of: created.key
                )
                #expect(own.revision == 2)
                #expect(own.changed == ["logo.png"])
                let now = try await Self.parts(fixture, created.key)
                #expect(now.keys.sorted() == ["logo.png"])
                #expect(now["logo.png"]?.origin == .order)
                #expect(try await store.orderFile("logo.png", of: created.key)?.contents == Samples.image(9))

                let same = try await store.putFile(
                    OrderFile(name: "logo.png", contents: Samples.image(9)),
                    of: created.key
                )
                #expect(!same.isNewRevision)
                let back = try await store.removeFile("logo.png", of: created.key)
                #expect(back.revision == 3)
                #expect(try await Self.parts(fixture, created.key).count == 3)
                #expect(await code { _ = try await store.removeFile("logo.png", of: created.key) } == .assetNotFound)
                try await fixture.expectInvariants()
            }
        }

        @Test func `a change of a type's file concerns later revisions only`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(1)), of: type)
                let created = try await fixture.create("one", logo: "logo.png")
                let before = try #require(try await store.package(created.key))
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(2)), of: type)
                let between = try #require(try await store.package(created.key))
                #expect(between.parts == before.parts)
                #expect(between.head.digest == before.head.digest)
                _ = try await store.apply(try Samples.event("e1"), to: created.key)
                let after = try #require(try await store.package(created.key))
                #expect(after.parts.first?.digest == SHA256.hash(Samples.image(2)))
                try await fixture.expectInvariants()
            }
        }

        @Test func `a roll-out makes one revision of each open order, and none where nothing changes`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                for number in 0..<25 {
                    try await fixture.create("order-\(number)", logo: number % 5 == 0 ? nil : "logo.png")
                }
                let device = try Samples.device("phone")
                _ = try await store.register(device, pushToken: Samples.token(1), for: try Samples.key("order-1"))
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(1)), of: type)
                try await store.startRefresh(of: type)
                #expect(try await store.pendingRefreshes() == [type])
                var rounds = 0
                var done = 0
                while let count = try await store.refreshBatch(of: type, size: 10) {
                    rounds += 1
                    done += count
                }
                #expect(done == 25)
                #expect(rounds >= 2)
                #expect(try await store.pendingRefreshes().isEmpty)
                for number in 0..<25 {
                    let head = try #require(try await store.head(try Samples.key("order-\(number)")))
                    #expect(head.revision == (number % 5 == 0 ? 1 : 2))
                }
                // Also those that it did not concern are not looked at again.
                let behind = Statement(
                    "t_behind",
                    "select count(*) from orders o join order_types t using (order_type) where o.parts_version < t.parts_version"
                )
                #expect(try await fixture.number(behind) == 0)
                #expect(try await store.orderTypesWithDueTickets() == [type])
                try await fixture.expectInvariants()
            }
        }

        @Test func `a digest that was damaged in the database is told as that, and ends no process`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let key = try await fixture.create("one").key
                _ = try await store.putFile(OrderFile(name: "a.png", contents: Samples.image(1)), of: key)
                try await fixture.run("update order_parts set digest = '\\x00'")
                #expect(await code { _ = try await store.package(key) } == .corrupt)
            }
        }

        @Test func `a roll-out comes back for an order that was held by another transaction`() async throws {
            let log = CapturedLog()
            try await withStore(logger: log.logger) { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                for number in 0..<5 { try await fixture.create("order-\(number)", logo: "logo.png") }
                try await store.putTypeFile(OrderFile(name: "logo.png", contents: Samples.image(1)), of: type)
                try await store.startRefresh(of: type)
                let over = Signal()
                let holder = try await fixture.hold("order-2", until: over)
                var done = 0
                while let count = try await store.refreshBatch(of: type, size: 2) { done += count }
                over.fire()
                try await holder.value
                #expect(done == 4)
                #expect(try await store.head(try Samples.key("order-2"))?.revision == 1)
                // The log names it as other lines do.
                let mark = try Samples.key("order-2").mark
                #expect(log.text.contains("left out") && log.text.contains(mark))
                #expect(!log.text.contains("order-2"))
                // It waits for its next pass, and is not forgotten.
                #expect(try await store.pendingRefreshes() == [type])
                #expect(try await store.refreshBatch(of: type, size: 2) == nil)
                try await fixture.run("update refreshes set claimed_at = claimed_at - interval '1 hour'")
                done = 0
                while let count = try await store.refreshBatch(of: type, size: 2) { done += count }
                #expect(done == 1)
                #expect(try await store.pendingRefreshes().isEmpty)
                for number in 0..<5 {
                    #expect(try await store.head(try Samples.key("order-\(number)"))?.revision == 2)
                }
                try await fixture.expectInvariants()
            }
        }

        @Test func `a roll-out that goes on for a day ends without the orders that stay behind`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                try await fixture.create("one", logo: "logo.png")
                try await store.startRefresh(of: type)
                let old = "started_at = started_at - interval '25 hours'"
                try await fixture.run("update refreshes set skipped = 1, cursor = 'z', \(old)")
                #expect(try await store.refreshBatch(of: type, size: 2) == nil)
                #expect(try await store.pendingRefreshes().isEmpty)
            }
        }

        @Test func `strings of the order go over the type's, key by key`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                try await store.putTypeStrings(["A": "type a", "B": "type b"], locale: "de", of: type)
                let outcome = try await store.create(
                    NewOrder(
                        document: try Samples.document("one"),
                        strings: [("de", ["B": "own b"]), ("fr", ["A": "fr a"])]
                    )
                )
                guard case .created(let created) = outcome else { throw Unexpected() }
                let parts = try await Self.parts(fixture, created.key)
                #expect(parts.keys.sorted() == ["de.lproj/order.strings", "fr.lproj/order.strings"])
                let digest = try #require(parts["de.lproj/order.strings"]?.digest)
                let bytes = try #require(try await store.asset(type, digest))
                let table = try StringsTable.parse(bytes)
                #expect(table.keys == ["A", "B"])
                #expect(table["A"] == "type a")
                #expect(table["B"] == "own b")
                #expect(try await store.typeLocales(of: type) == ["de"])
                #expect(try await store.orderStrings(locale: "de", of: created.key) == ["B": "own b"])
                let answer = try await store.removeStrings(locale: "fr", of: created.key)
                #expect(answer.revision == 2)
                #expect(try await Self.parts(fixture, created.key).count == 1)
                #expect(
                    await code { _ = try await store.removeStrings(locale: "fr", of: created.key) }
                        == .localizationNotFound
                )
                try await store.removeTypeStrings(locale: "de", of: type)
                #expect(
                    await code { try await store.removeTypeStrings(locale: "de", of: type) } == .localizationNotFound
                )
                try await fixture.expectInvariants()
            }
        }

        @Test func `contents are stored once, and swept up when nothing pins them`() async throws {
            try await withStore { fixture in
                let store = fixture.store
                let type = try OrderTypeIdentifier(Samples.shop)
                let count = Statement("t_assets", "select count(*) from assets")
                let file = OrderFile(name: "logo.png", contents: Samples.image(1))
                for number in 0..<3 {
                    _ = try await store.create(
                        NewOrder(
                            document: try Samples.document("order-\(number)", logo: "logo.png"),
                            files: [file, OrderFile(name: "copy.png", contents: Samples.image(1))]
                        )
                    )
                }
                #expect(try await fixture.number(count) == 1)
                try await store.putTypeFile(OrderFile(name: "x.png", contents: Samples.image(2)), of: type)
                try await store.removeTypeFile("x.png", of: type)
                #expect(await code { try await store.removeTypeFile("x.png", of: type) } == .assetNotFound)
                #expect(try await store.sweepFiles(after: nil).removed == 0)
                try await fixture.run("update assets set used_at = now() - interval '2 days'")
                let sweep = try await store.sweepFiles(after: nil)
                #expect(sweep.removed == 1)
                #expect(try await store.sweepFiles(after: sweep.next).next == nil)
                #expect(try await fixture.number(count) == 1)
                try await fixture.expectInvariants()
            }
        }

        @Test(arguments: ["../logo.png", "a/b/c.png", "", ".hidden", "tab\tname.png", "de.lproj/", "logo\u{0}.png"])
        func `a path that can't be in a package is refused at every door`(path: String) async throws {
            try await withStore { fixture in
                let store = fixture.store
                let created = try await fixture.create("one")
                let file = OrderFile(name: path, contents: Samples.image(1))
                #expect(await code { try await store.putTypeFile(file, of: created.key.orderType) } == .invalidDocument)
                #expect(await code { _ = try await store.putFile(file, of: created.key) } == .invalidDocument)
                let new = NewOrder(document: try Samples.document("two"), files: [file])
                #expect(await code { _ = try await store.create(new) } == .invalidDocument)
                #expect(
                    await code { _ = try await store.putStrings(["a": "b"], locale: "../x", of: created.key) }
                        == .invalidDocument
                )
                #expect(try await store.head(created.key)?.revision == 1)
            }
        }

        @Test func `type files are listed and read back`() async throws {
            try await withStore { fixture in
                let type = try OrderTypeIdentifier(Samples.shop)
                try await fixture.store.putTypeFile(OrderFile(name: "a.png", contents: Samples.image(1)), of: type)
                try await fixture.store.putTypeFile(OrderFile(name: "b.png", contents: Samples.image(2)), of: type)
                #expect(try await fixture.store.typeFiles(of: type).map(\.name) == ["a.png", "b.png"])
                #expect(try await fixture.store.typeFile("b.png", of: type)?.contents == Samples.image(2))
                #expect(try await fixture.store.typeFile("c.png", of: type) == nil)
            }
        }
    }
}
