// SPDX-License-Identifier: Apache-2.0
import Console
import Cryptography
import ExactJSON
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import Testing

@Suite("Console", .database)
enum ConsoleTests {}

func withConsole(
    settings: [OrderTypeSettings]? = nil,
    faults: @escaping @Sendable () -> [String] = { [] },
    _ body: @escaping @Sendable (Console, TestClient, ShopFixture) async throws -> Void
) async throws {
    try await withShop(settings: settings) { shop in
        let console = Console(
            store: shop.store,
            types: shop.types,
            metrics: shop.metrics,
            logger: shop.log.logger,
            faults: faults
        )
        try await body(console, TestClient(console.router()), shop)
    }
}

extension ConsoleTests {
    @Suite("Health")
    struct HealthTests {
        @Test("alive whatever happens; ready with database and schema")
        func ready() async throws {
            try await withConsole { _, client, shop in
                let answer = await client.send(.get, "/readyz")
                #expect(answer.status == .ok)
                #expect(answer.json == ["ready": true, "degraded": []])
                #expect(answer.headers["cache-control"] == "no-store")
                #expect(await client.send(.head, "/readyz").status == .ok)
                await shop.database.client.close()
                let away = await client.send(.get, "/readyz")
                #expect(away.status == .serviceUnavailable)
                #expect(away.json["reason"] == "the database does not answer")
                #expect(await client.send(.get, "/livez").status == .ok)
                #expect(await client.send(.get, "/metrics").status == .ok)
            }
        }

        @Test("a fault of one order type degrades, and an expired certificate is one")
        func degraded() async throws {
            let type = try OrderTypeIdentifier(Samples.shop)
            let now = WallTime.now().seconds
            var template = TestAuthority.leafTemplate(type, now: now - 10 * 86_400)
            template.notAfter = now - 3_600
            let expired = try TestSigning.authority.issue(template)
            let settings = try TestSigning.settings(shop: expired)
            try await withConsole(settings: settings, faults: { ["a fault"] }) { _, client, _ in
                let answer = await client.send(.get, "/readyz")
                #expect(answer.status == .ok)
                let degraded = answer.json["degraded"]?.arrayValue?.compactMap(\.stringValue)
                #expect(degraded == ["a fault", "\(Samples.shop): its certificate has expired"])
            }
        }

        @Test("a certificate that expires within thirty days, or is not valid yet, degrades")
        func soon() async throws {
            let type = try OrderTypeIdentifier(Samples.shop)
            let now = WallTime.now().seconds
            for (from, to, words) in [
                (-10, 5, "expires in 4 days"), (-10, 31, nil), (2, 40, "is not valid yet; the clock may be wrong"),
            ] as [(Int64, Int64, String?)] {
                var template = TestAuthority.leafTemplate(type, now: now + from * 86_400)
                template.notAfter = now + to * 86_400 - 60
                let settings = try TestSigning.settings(shop: try TestSigning.authority.issue(template))
                try await withConsole(settings: settings) { _, client, _ in
                    let answer = await client.send(.get, "/readyz")
                    #expect(answer.status == .ok)
                    let degraded = answer.json["degraded"]?.arrayValue?.compactMap(\.stringValue)
                    #expect(degraded == words.map { ["\(Samples.shop): its certificate \($0)"] } ?? [])
                }
            }
        }

        @Test("a migration that is missing or was changed makes unready, a newer one does not")
        func schema() async throws {
            try await withConsole { _, client, shop in
                let table = Statement(
                    "t_migrations_table",
                    """
                    select c.table_name::text from information_schema.columns c
                    where c.column_name = 'checksum' and c.table_schema = 'public'
                    """
                )
                let name = try #require(try await shop.database.client.query(table).first).text(0)
                let copy = "create table kept as select * from \(name)"
                try await shop.database.run(copy)
                try await shop.database.run("update \(name) set checksum = 'other' where version = 1")
                let changed = await client.send(.get, "/readyz")
                #expect(changed.status == .serviceUnavailable)
                #expect(changed.json["reason"]?.stringValue?.contains("migration 1") == true)
                try await shop.database.run("delete from \(name)")
                #expect(await client.send(.get, "/readyz").status == .serviceUnavailable)
                try await shop.database.run("insert into \(name) select * from kept")
                #expect(await client.send(.get, "/readyz").status == .ok)
                try await shop.database.run("update kept set version = version + 1000")
                try await shop.database.run("insert into \(name) select * from kept")
                #expect(await client.send(.get, "/readyz").status == .ok)
            }
        }

        @Test("a schema that can't be read makes unready, and is not called a database that does not answer")
        func unreadableSchema() async throws {
            try await withConsole { _, client, shop in
                try await shop.database.run("alter table schema_migrations rename column checksum to other")
                let answer = await client.send(.get, "/readyz")
                #expect(answer.status == .serviceUnavailable)
                let reason = answer.json["reason"]?.stringValue ?? ""
                #expect(reason.contains("schema can't be read") && reason.contains("42703"), "\(reason)")
            }
        }

        @Test("draining makes unready before anything closes")
        func draining() async throws {
            try await withConsole { console, client, _ in
                let shutdown = Signal()
                shutdown.fire()
                try await console.run(shutdown: shutdown)
                let answer = await client.send(.get, "/readyz")
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.json["reason"] == "draining")
                #expect(await client.send(.get, "/livez").status == .ok)
            }
        }
    }
}
