// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

extension PostgresClient {
    /// Runs a closure between BEGIN and COMMIT, in READ COMMITTED.
    ///
    /// After a deadlock, a serialization failure or a connection that broke before COMMIT was sent, the whole closure runs
    /// again, at most five times: it must not do anything outside of the transaction. BEGIN travels with the first statement.
    ///
    /// - Parameter lockTimeout: replaces the session's `lock_timeout` in this transaction.
    /// No try begins after ``RequestTime/end``.
    ///
    /// - Throws: what the closure throws, after a rollback; `PostgresError.unknownCommit` when the connection broke after
    ///   COMMIT was sent: then look whether the work is there.
    package func transaction<R: Sendable>(
        lockTimeout: Duration? = nil,
        _ body: @escaping @Sendable (PostgresConnection) async throws -> R
    ) async throws -> R {
        try await self.onPool { pool in
            let startedAt = MonotonicTime.now()
            var attempt = 1
            while true {
                let connection = try await pool.acquire(for: .change)
                connection.begin(lockTimeout: lockTimeout)
                do {
                    let result = try await body(connection)
                    try await connection.commit()
                    pool.release(connection)
                    return result
                } catch {
                    // The closure may have dressed the database's error in one of its own.
                    let cause = connection.transactionFailure ?? error as? PostgresError
                    await connection.rollback()
                    pool.release(connection)
                    if let error = error as? PostgresError, error.code == .unknownCommit { throw error }
                    guard let cause, cause.isRetryable, attempt < RetryPolicy.attempts,
                        MonotonicTime.now() - startedAt < RetryPolicy.patience, !RequestTime.isOver, !Task.isCancelled
                    else { throw error }
                    PoolMetrics.retries.increment()
                    try await sleep(for: RetryPolicy.delay(after: attempt, cause, random: Double.random(in: 0..<1)))
                    attempt += 1
                }
            }
        }
    }
}

/// How often and after which pause a transaction is repeated: full jitter, so that two that met do not meet again.
internal enum RetryPolicy {
    static let attempts = 5
    /// No new try begins later than this: the caller's own deadline is near or over.
    static let patience = Duration.seconds(10)

    /// - Parameter random: from 0 up to, not including, 1.
    static func delay(after attempt: Int, _ cause: PostgresError, random: Double) -> Duration {
        // A lost server needs time; a lost lock only another order of events.
        let base = cause.isConnectionLoss || cause.code == .readOnly ? 40.0 : 5.0
        let ceiling = min(500, base * Double(1 << min(attempt - 1, 8)))
        return .microseconds(Int64(ceiling * 1_000 * random))
    }
}
