// SPDX-License-Identifier: Apache-2.0

/// A statement of SQL with `$1` parameters, prepared once a connection under its name.
///
/// Made of static strings only, so that nothing can be interpolated into SQL.
package struct Statement: Sendable, Hashable {
    /// The name that the server keeps it under; unique in the program, at most 63 bytes.
    package let name: String
    /// The text.
    package let sql: String
    /// Whether running it twice is the same as running it once: a plain SELECT that takes no locks.
    internal let isPlainRead: Bool

    /// Makes a statement. Keep it in a `static let`.
    package init(_ name: StaticString, _ sql: StaticString) {
        self.name = name.description
        self.sql = sql.description
        self.isPlainRead = Statement.isPlainRead(self.sql)
        precondition(self.name.utf8.count <= 63, "a statement's name has at most 63 bytes")
    }

    package static func == (a: Statement, b: Statement) -> Bool { a.name == b.name && a.sql == b.sql }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.name) }

    /// Careful rather than clever: whatever does more than read is never taken for a read.
    private static func isPlainRead(_ sql: String) -> Bool {
        let words = sql.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
        guard words.first == "select" else { return false }
        let writers: Set<Substring> = [
            "for", "insert", "update", "delete", "into", "call", "nextval", "pg_notify", "lock",
            "pg_logical_emit_message",
        ]
        return !words.contains {
            writers.contains($0) || $0.hasPrefix("pg_advisory") || $0.hasPrefix("pg_try_advisory")
        }
    }
}
