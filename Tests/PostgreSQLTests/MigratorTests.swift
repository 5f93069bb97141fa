// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@testable import PostgreSQL

struct MigratorTests {
    private static let migrations = [
        Migration(version: 2, name: "add names", sql: "alter table things add name text; insert into log values (2)"),
        Migration(
            version: 1,
            name: "make tables",
            sql: "create table things (id bigint); create table log (version int); insert into log values (1)"
        ),
        Migration(version: 3, name: "count", sql: "insert into log values (3)"),
    ]

    private static let log = Statement("test_migration_log", "select version from log order by version")
    private static let exists = Statement("test_migration_table", "select to_regclass($1) is not null")

    @Test("What is missing is applied in order, once, and the status tells")
    func order() async throws {
        try await withClient { client in
            let migrator = Migrator(Self.migrations)
            let before = try await migrator.status(on: client)
            #expect(before.pending == [1, 2, 3])
            let first = try await Migrator(Self.migrations.filter { $0.version < 3 }).migrate(
                client,
                logger: TestServer.logger
            )
            #expect(first == [1, 2])
            let between = try await migrator.status(on: client)
            #expect(between.pending == [3] && !between.isCurrent)
            let second = try await migrator.migrate(client, logger: TestServer.logger)
            #expect(second == [3])
            let third = try await migrator.migrate(client, logger: TestServer.logger)
            #expect(third.isEmpty)
            let after = try await migrator.status(on: client)
            #expect(after.isCurrent && after.entries.map(\.name) == ["make tables", "add names", "count"])
        }
    }

    @Test("Twenty that start at once apply each migration once")
    func crowd() async throws {
        try await withClient(
            loops: 2,
            {
                $0.connectionsPerLoop = 10; $0.acquireTimeout = Patience.long
            }
        ) { client in
            let applied = Collector<Int>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        for version in try await Migrator(Self.migrations).migrate(client, logger: TestServer.logger) {
                            applied.add(version)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await client.query(Self.log)
            #expect(applied.all.sorted() == [1, 2, 3])
            #expect(try rows.map { try $0.int(0) } == [1, 2, 3])
        }
    }

    @Test("One that fails leaves nothing of itself, and all of those before it")
    func failure() async throws {
        try await withClient { client in
            var migrations = Self.migrations
            migrations[2] = Migration(version: 3, name: "fail", sql: "create table half (id int); select 1/0")
            let migrator = Migrator(migrations)
            let error = await postgresError { try await migrator.migrate(client, logger: TestServer.logger) }
            #expect(error?.sqlState == "22012")
            let status = try await migrator.status(on: client)
            #expect(status.pending == [3])
            let half = try await client.query(Self.exists, [.text("half")])[0].bool(0)
            #expect(!half)
            let rest = try await Migrator(Self.migrations).migrate(client, logger: TestServer.logger)
            #expect(rest == [3])
        }
    }

    @Test("A session that is killed in the middle leaves a database that the next one finishes")
    func killed() async throws {
        try await withClient { client in
            var migrations = Self.migrations
            migrations[2] = Migration(
                version: 3,
                name: "die",
                sql: "create table half (id int); select pg_terminate_backend(pg_backend_pid())"
            )
            let error = await postgresError {
                try await Migrator(migrations).migrate(client, logger: TestServer.logger)
            }
            #expect(error?.code == .shuttingDown)
            let rest = try await Migrator(Self.migrations).migrate(client, logger: TestServer.logger)
            #expect(rest == [3])
            let half = try await client.query(Self.exists, [.text("half")])[0].bool(0)
            #expect(!half)
        }
    }

    @Test("A released migration whose text changed is refused, and so is a newer database")
    func refusals() async throws {
        try await withClient { client in
            try await Migrator(Self.migrations).migrate(client, logger: TestServer.logger)
            var changed = Self.migrations
            changed[2] = Migration(version: 3, name: "count", sql: "insert into log values (33)")
            let first = await postgresError { try await Migrator(changed).migrate(client, logger: TestServer.logger) }
            #expect(first?.code == .migrationChanged)
            #expect(first?.message.contains("migration 3 (count)") == true)
            let older = Migrator(Self.migrations.filter { $0.version < 3 })
            let second = await postgresError { try await older.migrate(client, logger: TestServer.logger) }
            #expect(second?.code == .newerSchema)
            let status = try await older.status(on: client)
            #expect(status.unknown == [3] && !status.isCurrent)
        }
    }

    @Test("Numbers with a gap, and a gap in what was applied, are refused")
    func gaps() {
        let gap = Migrator(Self.migrations.filter { $0.version != 2 })
        #expect(throws: PostgresError(.migrationChanged, "")) { try gap.check(gap.status(applied: [:])) }
        let migrator = Migrator(Self.migrations)
        let last = migrator.migrations[2]
        #expect(throws: PostgresError(.migrationChanged, "")) {
            try migrator.check(migrator.status(applied: [3: last.checksum]))
        }
    }

    @Test("What can't run inside a transaction runs outside of one")
    func withoutTransaction() async throws {
        let index = Migration(
            version: 4,
            name: "index",
            sql: Migration.mark + "\ncreate index concurrently if not exists things_name on things (name)"
        )
        try await withClient { client in
            try await Migrator(Self.migrations + [index]).migrate(client, logger: TestServer.logger)
            let isThere = try await client.query(Self.exists, [.text("things_name")])[0].bool(0)
            #expect(isThere)
        }
    }

    @Test("An index built beside a long transaction waits for it, and one cut short is built anew")
    func invalidIndex() async throws {
        let index = Migration(
            version: 4,
            name: "index",
            sql: Migration.mark + "\ncreate index concurrently if not exists things_name on things (name)"
        )
        let isValid = Statement(
            "test_index_valid",
            "select bool_and(indisvalid) from pg_index where indexrelid = 'things_name'::regclass"
        )
        try await withClient({ $0.lockTimeout = .milliseconds(100) }) { client in
            try await Migrator(Self.migrations).migrate(client, logger: TestServer.logger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let isWriting = Signal()
                group.addTask {
                    try await client.transaction { connection in
                        _ = try await connection.query(Statement("test_write", "insert into things values (1, 'one')"))
                        isWriting.fire()
                        _ = try await connection.query(TestStatements.sleep, [.double(0.5)])
                    }
                }
                try await isWriting.wait()
                try await Migrator(Self.migrations + [index]).migrate(client, logger: TestServer.logger)
                try await group.waitForAll()
            }
            let first = try await client.query(isValid)[0].bool(0)
            #expect(first)
            // As a try leaves it that was killed, or cancelled, in the middle.
            try await client.withConnection { connection in
                try await connection.script("delete from schema_migrations where version = 4; drop index things_name")
                try await connection.script("insert into things values (1, 'one')")
                let failure = await postgresError {
                    try await connection.script("create unique index concurrently things_name on things (name)")
                }
                #expect(failure?.code == .uniqueViolation)
            }
            let between = try await client.query(isValid)[0].bool(0)
            #expect(!between)
            try await Migrator(Self.migrations + [index]).migrate(client, logger: TestServer.logger)
            let second = try await client.query(isValid)[0].bool(0)
            #expect(second)
        }
    }

    @Test("A newer schema is told as breaking only where one of its migrations says so")
    func breaking() async throws {
        #expect(!Self.migrations[0].breaksOlder)
        let expanding = Migration(version: 4, name: "expand", sql: "alter table things add more text")
        let breaking = Migration(
            version: 5,
            name: "contract",
            sql: "-- Drops what version 4 replaced.\n" + Migration.breakingMark + "\nalter table things drop name"
        )
        #expect(breaking.breaksOlder && breaking.isTransactional)
        try await withClient { client in
            // A database of a program that did not know of this yet.
            try await client.withConnection {
                try await $0.script(
                    """
                    create table schema_migrations (version integer primary key, name text not null,
                        checksum text not null, applied_at timestamptz not null default clock_timestamp())
                    """
                )
            }
            let older = Migrator(Self.migrations)
            let before = try await older.status(on: client)
            #expect(before.pending == [1, 2, 3] && before.breaking.isEmpty)
            try await Migrator(Self.migrations + [expanding]).migrate(client, logger: TestServer.logger)
            let expanded = try await older.status(on: client)
            #expect(expanded.unknown == [4] && expanded.breaking.isEmpty)
            let newer = Migrator(Self.migrations + [expanding, breaking])
            try await newer.migrate(client, logger: TestServer.logger)
            let contracted = try await older.status(on: client)
            #expect(contracted.unknown == [4, 5] && contracted.breaking == [5])
            let own = try await newer.status(on: client)
            #expect(own.isCurrent && own.breaking.isEmpty)
        }
    }

    @Test("A migration that the standby may not have is not told as applied", arguments: [true, false])
    func unknownCommit(_ isTransactional: Bool) async throws {
        try await withClient { client in
            try await Migrator(Self.migrations).migrate(client, logger: TestServer.logger)
            try await client.withConnection {
                try await $0.script(
                    """
                    create function warn() returns trigger language plpgsql as
                        $$ begin raise warning 'canceling wait for synchronous replication'; return null; end $$;
                    create constraint trigger warn after insert on schema_migrations deferrable initially deferred
                        for each row execute function warn()
                    """
                )
            }
            let last = Migration(
                version: 4,
                name: "last",
                sql: (isTransactional ? "" : Migration.mark + "\n") + "alter table things alter name set default 'x'"
            )
            let error = await postgresError {
                try await Migrator(Self.migrations + [last]).migrate(client, logger: TestServer.logger)
            }
            #expect(error?.code == .unknownCommit)
        }
    }

    @Test("The session's own limits are back afterwards")
    func limits() async throws {
        let show = Statement("test_migration_limits", "select current_setting('statement_timeout')")
        try await withClient({ $0.connectionsPerLoop = 1 }) { client in
            try await Migrator(Self.migrations).migrate(client, logger: TestServer.logger)
            let limit = try await client.query(show)[0].text(0)
            #expect(limit == "5s")
        }
    }
}
