// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// One step from an older schema to a newer one. Never changed once released.
package struct Migration: Sendable, Hashable {
    /// Its place: from 1, without gaps.
    package let version: Int
    /// What it does, in a few words.
    package let name: String
    /// Several statements; BEGIN and COMMIT are put around them.
    package let sql: String

    package init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    /// Whether it runs inside a transaction: all but those whose first line is this mark, for
    /// `CREATE INDEX CONCURRENTLY`. Such a one holds a single statement and must be repeatable, since it may be cut short;
    /// an index of its that was left invalid then is dropped before it runs again.
    package var isTransactional: Bool { !self.sql.hasPrefix(Migration.mark) }

    /// Whether programs that don't know it can't work with what it leaves. All others expand the schema only, and a former
    /// version serves on, and may be started again, until it is replaced.
    package var breaksOlder: Bool {
        self.sql.split(separator: "\n").prefix { $0.hasPrefix("--") }.contains(Migration.breakingMark[...])
    }

    /// A line among the first, all comments, of a migration that programs without it can't work with.
    package static let breakingMark = "-- breaks older programs"

    /// The first line of a migration that can't run inside a transaction.
    package static let mark = "-- no transaction"

    /// SHA-256 over the text, as 64 hex digits.
    package var checksum: String { SHA256.hash(Array(self.sql.utf8)).hex }
}

/// Where a database stands.
package struct MigrationStatus: Sendable, Equatable {
    /// One migration and whether it is in.
    package struct Entry: Sendable, Equatable {
        package let version: Int
        package let name: String
        package let isApplied: Bool
        /// Whether the text that was applied is another than this program's.
        package let isChanged: Bool
    }

    /// Those that this program knows, in order.
    package let entries: [Entry]
    /// Versions in the database that this program does not know.
    package let unknown: [Int]
    /// Those of them that this program can't work with.
    package let breaking: [Int]

    /// Whether nothing is left to be done.
    package var isCurrent: Bool { self.unknown.isEmpty && self.entries.allSatisfy { $0.isApplied && !$0.isChanged } }
    /// Versions still to be applied.
    package var pending: [Int] { self.entries.filter { !$0.isApplied }.map(\.version) }
}
