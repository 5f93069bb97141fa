// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime

/// Brings a database's schema up to date, once, however many processes try at the same time.
package struct Migrator: Sendable {
    /// In the order of their versions.
    package let migrations: [Migration]

    /// How long one migration may take.
    package var timeout: Duration = .seconds(600)
    /// How long to wait for another process that is migrating.
    package var patience: Duration = .seconds(900)

    /// Takes the migrations in any order.
    package init(_ migrations: [Migration]) {
        self.migrations = migrations.sorted { $0.version < $1.version }
    }

    // MARK: Looking

    /// Where the database stands. Changes nothing.
    package func status(on client: PostgresClient) async throws -> MigrationStatus {
        try await client.withConnection { connection in try await self.status(on: connection) }
    }

    private func status(on connection: PostgresConnection) async throws(PostgresError) -> MigrationStatus {
        guard try await connection.query(MigrationStatements.exists)[0].bool(0) else {
            return self.status(applied: [:])
        }
        var applied: [Int: String] = [:]
        var breaking: Set<Int> = []
        for row in try await connection.query(MigrationStatements.applied) {
            let version = Int(try row.int(0))
            applied[version] = try row.text(1)
            if try row.bool(2) { breaking.insert(version) }
        }
        return self.status(applied: applied, breaking: breaking)
    }

    /// Compares what is applied (version to checksum) with what is known.
    ///
    /// - Parameter breaking: those of the applied that programs without them can't work with.
    internal func status(applied: [Int: String], breaking: Set<Int> = []) -> MigrationStatus {
        let known = Set(self.migrations.map(\.version))
        return MigrationStatus(
            entries: self.migrations.map { migration in
                let checksum = applied[migration.version]
                return MigrationStatus.Entry(
                    version: migration.version,
                    name: migration.name,
                    isApplied: checksum != nil,
                    isChanged: checksum != nil && checksum != migration.checksum
                )
            },
            unknown: applied.keys.filter { !known.contains($0) }.sorted(),
            breaking: breaking.subtracting(known).sorted()
        )
    }

    /// Refuses what must not be migrated.
    ///
    /// - Throws: `.newerSchema`, `.migrationChanged`.
    internal func check(_ status: MigrationStatus) throws(PostgresError) {
        for (index, migration) in self.migrations.enumerated() where migration.version != index + 1 {
            throw PostgresError(
                .migrationChanged,
                "migrations are numbered from 1 without gaps; \(index + 1) is missing"
            )
        }
        if let newest = status.unknown.last {
            throw PostgresError(
                .newerSchema,
                "the database is at migration \(newest), this program knows \(self.migrations.count); "
                    + "use the version of the program that made it, or a newer one"
            )
        }
        if let changed = status.entries.first(where: \.isChanged) {
            throw PostgresError(
                .migrationChanged,
                "migration \(changed.version) (\(changed.name)) was applied with another text; "
                    + "restore its text and write the change as a new migration"
            )
        }
        if let gap = status.entries.first(where: { !$0.isApplied }),
            let later = status.entries.last(where: \.isApplied), later.version > gap.version
        {
            throw PostgresError(
                .migrationChanged,
                "migration \(later.version) is applied but \(gap.version) (\(gap.name)) is not"
            )
        }
    }

    // MARK: Doing

    /// Applies what is missing, in order; returns the versions that this call applied.
    ///
    /// - Throws: `.newerSchema`, `.migrationChanged`, `.lockTimeout` when another process migrated for too long, or what
    ///   the server says to a migration; those before it stay applied.
    @discardableResult
    package func migrate(_ client: PostgresClient, logger: Logger) async throws -> [Int] {
        try await client.withConnection { connection in
            try await self.lock(connection, logger)
            do {
                let applied = try await self.apply(on: connection, logger)
                _ = try await connection.query(MigrationStatements.unlock)
                return applied
            } catch {
                // The lock belongs to the session; it ends with it.
                connection.discard()
                throw error
            }
        }
    }

    /// Tries, then waits and tries again. Waiting inside `pg_advisory_lock` would hold a snapshot, and the holder's
    /// `CREATE INDEX CONCURRENTLY` waits for all snapshots: a deadlock.
    private func lock(_ connection: PostgresConnection, _ logger: Logger) async throws {
        let giveUp = MonotonicTime.now() + self.patience
        var isFirst = true
        while try await !connection.query(MigrationStatements.tryLock)[0].bool(0) {
            if isFirst { logger.notice("waiting for migration: another process is at it") }
            isFirst = false
            if MonotonicTime.now() > giveUp {
                throw PostgresError(.lockTimeout, "another process has been migrating for \(self.patience.inSeconds) s")
            }
            try await sleep(for: .milliseconds(Int64.random(in: 20...100)))
        }
    }

    private func apply(on connection: PostgresConnection, _ logger: Logger) async throws -> [Int] {
        try await connection.script(
            """
            create table if not exists schema_migrations (version integer primary key, name text not null,
                checksum text not null, applied_at timestamptz not null default clock_timestamp(),
                breaks_older boolean not null default false)
            """
        )
        if try await !connection.query(MigrationStatements.tellsBreaking)[0].bool(0) {
            try await connection.script(
                "alter table schema_migrations add column breaks_older boolean not null default false"
            )
        }
        let status = try await self.status(on: connection)
        try self.check(status)
        var applied: [Int] = []
        for migration in self.migrations where status.pending.contains(migration.version) {
            logger.info(
                "applying migration",
                ["version": .integer(migration.version), "name": .string(migration.name)]
            )
            try await self.applyPatiently(migration, on: connection)
            applied.append(migration.version)
        }
        return applied
    }

    /// A migration waits only briefly for its locks, since everyone else queues up behind it; so it may have to try again.
    private func applyPatiently(_ migration: Migration, on connection: PostgresConnection) async throws {
        var attempt = 1
        while true {
            do throws(PostgresError) {
                return try await self.apply(migration, on: connection)
            } catch {
                guard [.lockTimeout, .deadlock, .serialization].contains(error.code), attempt < 10 else { throw error }
                attempt += 1
            }
            try await sleep(for: .milliseconds(Int64.random(in: 50...500)))
        }
    }

    /// The invalid indexes that a migration's text names.
    private func invalidIndexes(
        of migration: Migration,
        on connection: PostgresConnection
    ) async throws(PostgresError) -> [String] {
        let words = Set(migration.sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
        var names: [String] = []
        for row in try await connection.query(MigrationStatements.invalidIndexes) {
            let name = try row.text(0)
            if words.contains(name) { names.append(name) }
        }
        return names
    }

    private func apply(_ migration: Migration, on connection: PostgresConnection) async throws(PostgresError) {
        let record: [PostgresValue] = [
            .int(Int64(migration.version)), .text(migration.name), .text(migration.checksum),
            .bool(migration.breaksOlder),
        ]
        guard migration.isTransactional else {
            // Waiting for others' transactions, as a concurrent index does twice, holds up nobody.
            try await connection.script("set statement_timeout = 0; set lock_timeout = 0")
            // What an earlier try was cut short at: `if not exists` would take it for done.
            for index in try await self.invalidIndexes(of: migration, on: connection) {
                try await connection.script("drop index concurrently \(quoted(index))", timeout: self.timeout)
            }
            try await connection.script(migration.sql, timeout: self.timeout)
            if let index = try await self.invalidIndexes(of: migration, on: connection).first {
                throw PostgresError(.other, "migration \(migration.version) left the index \(index) invalid")
            }
            try await connection.script("reset statement_timeout; reset lock_timeout")
            _ = try await connection.query(MigrationStatements.record, record)
            return
        }
        do throws(PostgresError) {
            try await connection.script("begin; set local lock_timeout = '2s'; set local statement_timeout = 0")
            try await connection.script(migration.sql, timeout: self.timeout)
            _ = try await connection.query(MigrationStatements.record, record)
            // As a statement: its warning tells that the standby does not have the change.
            _ = try await connection.query(TransactionStatements.commit)
        } catch {
            // Should this fail as well, the connection is discarded anyway; the first error is the one to tell.
            if !connection.isClosed { do throws(PostgresError) { try await connection.script("rollback") } catch {} }
            throw error
        }
    }
}

/// The statements of the migrator.
private enum MigrationStatements {
    /// The key of the advisory lock: "wo" and "mig" as bytes.
    static let tryLock = Statement("migration_try_lock", "select pg_try_advisory_lock(32623, 7170407)")
    static let unlock = Statement("migration_unlock", "select pg_advisory_unlock(32623, 7170407)")
    static let exists = Statement("migration_exists", "select to_regclass('schema_migrations') is not null")
    static let applied = Statement(
        "migration_applied",
        // Through JSON: a table of an earlier version of the program has no such column.
        """
        select version, checksum, coalesce((to_jsonb(m) ->> 'breaks_older')::boolean, false) from schema_migrations m
        order by version
        """
    )
    static let record = Statement(
        "migration_record",
        "insert into schema_migrations (version, name, checksum, breaks_older) values ($1, $2, $3, $4)"
    )
    static let tellsBreaking = Statement(
        "migration_tells_breaking",
        """
        select exists (select from pg_attribute
            where attrelid = to_regclass('schema_migrations') and attname = 'breaks_older' and not attisdropped)
        """
    )
    static let invalidIndexes = Statement(
        "migration_invalid_indexes",
        """
        select c.relname::text from pg_index i join pg_class c on c.oid = i.indexrelid
        where not i.indisvalid and c.relnamespace = current_schema()::regnamespace order by 1
        """
    )
}
