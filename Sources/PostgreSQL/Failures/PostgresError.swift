// SPDX-License-Identifier: Apache-2.0

/// Why the database did not do what it was asked.
///
/// The message names states, constraints and statements, never values: a value may be someone's name or token.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What a caller can act on.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// No connection, or it broke; whether a change that was under way happened is open.
        case connection
        /// The server refuses this user or this database; trying again does not help.
        case refused
        /// The database of the configuration does not exist (3D000).
        case noDatabase
        /// All connections stayed in use until the waiting time was over.
        case busy
        /// 40001.
        case serialization
        /// 40P01.
        case deadlock
        /// 23505; `constraint` says which.
        case uniqueViolation
        /// Another constraint (class 23); `constraint` says which.
        case constraintViolation
        /// 55P03: another transaction held a lock for longer than `lock_timeout`.
        case lockTimeout
        /// The statement took longer than `statement_timeout`, or than its own deadline.
        case statementTimeout
        /// The caller's task was cancelled.
        case cancelled
        /// 25006: this server is a standby.
        case readOnly
        /// 57P01, 57P02, 57P03: the server goes down or comes up. Also: the client has been closed.
        case shuttingDown
        /// 53100, 53200, 53400, 58030: the server has no room left, on disk or in memory, or can't write. Reads may go on.
        case exhausted
        /// A value does not fit the parameter it was given for.
        case encoding
        /// A column is not of the type that it was read as.
        case decoding
        /// COMMIT was sent, and its answer never came; or COMMIT or a change in a transaction of its own was answered with a
        /// warning, which leaves open whether the standby has it. Look whether the work is there before doing it again. A
        /// change of its own whose answer never came is `connection`.
        case unknownCommit
        /// The configuration can't be read.
        case configuration
        /// A migration that was applied has another text now, or the list of migrations is not in order.
        case migrationChanged
        /// The database has migrations that this program does not know: it belongs to a newer version.
        case newerSchema
        case other
    }

    /// What a caller can act on.
    package let code: Code
    /// The five characters of the server, when it was the server that said no.
    package let sqlState: String?
    /// The constraint that was violated.
    package let constraint: String?
    /// For people; without values.
    package let message: String
    /// Whether the server ended the session with this error (severity FATAL or PANIC).
    internal let endsSession: Bool
    /// Whether the session's plan for a statement no longer fits its tables, since their columns were changed.
    internal let hasStalePlan: Bool

    package init(
        _ code: Code,
        _ message: String,
        sqlState: String? = nil,
        constraint: String? = nil
    ) {
        self.init(code, message, sqlState: sqlState, constraint: constraint, endsSession: false, hasStalePlan: false)
    }

    internal init(
        _ code: Code,
        _ message: String,
        sqlState: String?,
        constraint: String?,
        endsSession: Bool,
        hasStalePlan: Bool
    ) {
        self.code = code
        self.sqlState = sqlState
        self.constraint = constraint
        self.message = message
        self.endsSession = endsSession
        self.hasStalePlan = hasStalePlan
    }

    /// COMMIT was sent, and no clear answer came.
    package static let unknownCommit = PostgresError(
        .unknownCommit,
        "the connection broke while COMMIT was on its way, or waiting for the standby was cut short, so the change may or "
            + "may not be there; look for its idempotency row before repeating it"
    )

    /// Whether a transaction that failed so, before its COMMIT was sent, may simply be run again (PostgreSQL manual,
    /// 13.5, and reliability rules: lost sessions too).
    package var isRetryable: Bool {
        switch self.code {
        case .serialization, .deadlock, .readOnly, .connection, .shuttingDown: true
        default: self.endsSession || self.isAboutPreparation
        }
    }

    /// 42P05, 26000: client and server disagree on which prepared statements the session has. Or a plan is stale. Nothing
    /// was executed, and another session will do.
    internal var isAboutPreparation: Bool {
        self.sqlState == "42P05" || self.sqlState == "26000" || self.hasStalePlan
    }

    /// Whether the session is gone, or as good as gone.
    internal var isConnectionLoss: Bool {
        self.code == .connection || self.code == .shuttingDown || self.endsSession
    }

    package var description: String {
        var text = "PostgreSQL: \(self.message)"
        if let sqlState = self.sqlState { text += " (\(sqlState))" }
        return text
    }

    /// Equal when a caller would act alike; the words don't count.
    package static func == (a: PostgresError, b: PostgresError) -> Bool {
        a.code == b.code && a.sqlState == b.sqlState && a.constraint == b.constraint
    }
}
