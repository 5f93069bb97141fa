// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

extension StoreTests {
    @Suite struct SignedPackagesTests {
        static func image(_ number: UInt8, _ size: Int) -> [UInt8] {
            Samples.image(number) + [UInt8](repeating: number, count: size)
        }

        static func create(_ shop: ShopFixture, _ order: String, image: [UInt8]? = nil) async throws -> OrderKey {
            let document = try Samples.document(order, logo: image == nil ? nil : "logo.png")
            let files = image.map { [OrderFile(name: "logo.png", contents: $0)] } ?? []
            _ = try await shop.store.create(NewOrder(document: document, files: files))
            return try Samples.key(order)
        }

        @Test func `whoever signs a revision, and whenever, gives the same bytes and tag, and copies no image`()
            async throws
        {
            try await withShop { shop in
                let key = try await Self.create(shop, "one", image: Self.image(1, 50_000))
                // Hours after the revision was made: the clock has nothing to do with it.
                try await shop.database.run("update orders set made_at = made_at - interval '2 hours'")
                let other = SignedPackages(store: shop.store, types: shop.types)
                let first = try #require(try await shop.packages.package(key))
                let second = try #require(try await other.package(key))
                #expect(first.package.bytes == second.package.bytes)
                #expect(first.entityTag == second.entityTag)
                let made = try #require(try await shop.store.head(key)).madeAt.seconds
                #expect(WallTime.now().seconds - made >= 7_200)
                let verifier = PackageVerifier(trust: [TestSigning.authority.root])
                #expect(verifier.verify(first.package.bytes).signingTime == made)
                #expect(try shop.packages.entityTag(of: first.head) == first.entityTag)
                let again = try #require(try await shop.packages.package(key))
                #expect(again.package.chunks.map(Self.address) == first.package.chunks.map(Self.address))
            }
        }

        static func address(_ bytes: [UInt8]) -> Int {
            unsafe bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
        }

        @Test func `whoever runs out of time while building fails none of those who wait`() async throws {
            try await withShop { shop in
                let key = try await Self.create(shop, "one", image: Self.image(1, 50_000))
                let over = Signal()
                let lock = Statement("t_lock_assets", "lock table assets in access exclusive mode")
                let holder = try await shop.database.hold(lock, until: over)
                let ended = Signal()
                let first = Task {
                    defer { ended.fire() }
                    return try await OrderStore.answering(within: .seconds(1)) { try await shop.packages.package(key) }
                }
                try await shop.database.waits(1, or: ended)
                let second = Task { try await shop.packages.package(key) }
                await #expect(throws: PostgresError.self) { _ = try await first.value }
                over.fire()
                try await holder.value
                #expect(try await second.value != nil)
            }
        }

        @Test func `a package that is there needs no further query once its head is read`() async throws {
            try await withShop { shop in
                let key = try await Self.create(shop, "one")
                let head = try #require(try await shop.store.head(key))
                let first = try #require(try await shop.packages.package(of: head))
                await shop.database.client.close()
                let again = try #require(try await shop.packages.package(of: head))
                #expect(again.package.bytes == first.package.bytes)
                await #expect(throws: PostgresError.self) { try await shop.packages.package(key) }
            }
        }

        @Test func `a head that was overtaken gets the newest revision, an erased one nothing`() async throws {
            try await withShop { shop in
                let key = try await Self.create(shop, "one")
                let head = try #require(try await shop.store.head(key))
                _ = try await shop.store.apply(try Samples.event("e"), to: key)
                let package = try #require(try await shop.packages.package(of: head))
                #expect(package.head.revision == 2)
                #expect(try shop.packages.entityTag(of: package.head) == package.entityTag)
                #expect(try await shop.store.erase(key))
                let unread = try #require(try await shop.store.head(key))
                #expect(try await shop.packages.package(of: unread) == nil)
                #expect(try await shop.packages.package(try Samples.key("none")) == nil)
            }
        }

        @Test func `memory stays within its bound, and what was let go is built again`() async throws {
            let capacity = 100_000
            try await withShop(capacity: capacity) { shop in
                var tags: [String] = []
                for index in 0..<12 {
                    let key = try await Self.create(shop, "order-\(index)", image: Self.image(UInt8(index), 15_000))
                    tags.append(try #require(try await shop.packages.package(key)).entityTag)
                    #expect(shop.packages.byteCount <= capacity)
                }
                #expect(shop.packages.byteCount > capacity / 2)
                for index in 0..<12 {
                    let package = try #require(try await shop.packages.package(try Samples.key("order-\(index)")))
                    #expect(package.entityTag == tags[index])
                    #expect(package.head.key.order.text == "order-\(index)")
                }
                // One that would push out too many others is given out and not kept.
                let held = shop.packages.byteCount
                let large = try await Self.create(shop, "large", image: Self.image(99, 60_000))
                #expect(try await shop.packages.package(large) != nil)
                #expect(shop.packages.byteCount == held)
            }
        }

        @Test func `when a build fails all who wait are told, and the next one tries again`() async throws {
            try await withShop { shop in
                let key = try await Self.create(shop, "one", image: Self.image(1, 100))
                try await shop.database.run("create table kept as select * from assets; delete from assets")
                let outcomes = try await atOnce(32) { _ -> SignedPackagesError.Code? in
                    do {
                        _ = try await shop.packages.package(key)
                        return nil
                    } catch { return (error as? SignedPackagesError)?.code }
                }
                #expect(outcomes == [SignedPackagesError.Code?](repeating: .missingAsset, count: 32))
                #expect(shop.packages.byteCount == 0)
                try await shop.database.run("insert into assets select * from kept")
                let tags = try await atOnce(32) { _ in try await shop.packages.package(key)?.entityTag }
                #expect(Set(tags).count == 1)
            }
        }

        @Test func `a caller that goes away while it builds takes nobody with it`() async throws {
            try await withShop { shop in
                let key = try await Self.create(shop, "one", image: Self.image(1, 100))
                let waits = Statement(
                    "t_waits",
                    """
                    select count(*) from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'
                    """
                )
                try await shop.database.client.withConnection { holder in
                    try await holder.script("begin; lock table assets in access exclusive mode")
                    try await withThrowingTaskGroup(of: Bool.self) { group in
                        // The first of them builds, and waits for the table.
                        let builder = Signal()
                        group.addTask {
                            await withTaskGroup(of: Void.self) { inner in
                                inner.addTask { _ = try? await shop.packages.package(key) }
                                try? await builder.wait()
                                inner.cancelAll()
                            }
                            return false
                        }
                        while try await shop.database.number(waits) == 0 { await Task.yield() }
                        for _ in 0..<8 { group.addTask { try await shop.packages.package(key) != nil } }
                        for _ in 0..<50 { _ = try await shop.store.head(key) }
                        builder.fire()
                        _ = try await group.next()
                        try await holder.script("commit")
                        for try await isThere in group { #expect(isThere) }
                    }
                }
            }
        }

        @Test func `files that are too large together are told as such, and the order goes on`() async throws {
            try await withShop { shop in
                let key = try await Self.create(shop, "one", image: Self.image(1, 2_600_000))
                // The store lets no change make such a revision; one of an older version may be there.
                try await shop.database.run(
                    """
                    insert into order_parts select order_type, order_identifier, 'logo@2x.png', digest, 'order'
                    from order_parts where name = 'logo.png'
                    """
                )
                do {
                    _ = try await shop.packages.package(key)
                    Issue.record("a package of more than 5 MB")
                } catch { #expect((error as? SignedPackagesError)?.code == .unbuildable) }
                _ = try await shop.store.removeFile("logo@2x.png", of: key)
                // What its revision is made of is what it was.
                #expect(try await shop.packages.package(key)?.head.revision == 1)
            }
        }

        @Test func `a type that is not served and an identity that ended before the revision are told apart`()
            async throws
        {
            try await withShop { shop in
                let key = try await Self.create(shop, "one")
                let head = try #require(try await shop.store.head(key))
                shop.types.replace([])
                do {
                    _ = try await shop.packages.package(of: head)
                    Issue.record("a package without an identity")
                } catch { #expect((error as? SignedPackagesError)?.code == .typeNotConfigured) }
                let now = WallTime.now().seconds
                var template = TestAuthority.leafTemplate(try OrderTypeIdentifier(Samples.shop), now: now - 864_000)
                template.notAfter = now - 3_600
                shop.types.replace(try TestSigning.settings(shop: try TestSigning.authority.issue(template)))
                do {
                    _ = try await shop.packages.package(of: head)
                    Issue.record("a package of an identity that had ended")
                } catch { #expect((error as? SignedPackagesError)?.code == .identityExpired) }
            }
        }
    }
}
