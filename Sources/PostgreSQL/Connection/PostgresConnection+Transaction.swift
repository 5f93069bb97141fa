// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Where a connection stands with regard to a transaction that the client began.
internal enum TransactionPhase: Sendable, Equatable {
    case none
    /// BEGIN goes out together with the first statement.
    case pending(lockTimeout: Duration?)
    case open
}

/// The statements around a transaction.
internal enum TransactionStatements {
    static let begin = Statement("transaction_begin", "begin isolation level read committed")
    static let commit = Statement("transaction_commit", "commit")
    static let rollback = Statement("transaction_rollback", "rollback")
    static let lockTimeout = Statement("transaction_lock_timeout", "select set_config('lock_timeout', $1, true)")
    static let all = [begin, commit, rollback, lockTimeout]
}

extension PostgresConnection {
    /// Begins a transaction with the next statement.
    internal func begin(lockTimeout: Duration?) {
        self.phase = .pending(lockTimeout: lockTimeout)
        self.transactionFailure = nil
    }

    /// Commits. A cancelled task does not stop it: the outcome would be unknown for nothing.
    ///
    /// - Throws: `.unknownCommit` when COMMIT was sent and no clear answer came back.
    internal func commit() async throws(PostgresError) {
        guard self.phase == .open else {
            self.phase = .none
            return
        }
        // Lost before COMMIT: nothing has happened.
        if let reason = self.closeReason {
            self.phase = .none
            throw reason
        }
        try await self.prepare([TransactionStatements.commit])
        let commit = Operation.Step.execute(TransactionStatements.commit, try EncodedParameters([], types: []))
        _ = try await self.commit(.steps([commit]))
    }

    /// Sends work that ends with COMMIT.
    internal func commit(_ work: Operation.Work) async throws(PostgresError) -> [QueryResult] {
        let (outcome, hasWarning) = await self.perform(work, isCancellable: false)
        switch outcome {
        case .success(let results):
            self.phase = .none
            // The server commits on its own and warns when waiting for the standby was cut short.
            if hasWarning { throw .unknownCommit }
            guard results.last?.command == "COMMIT" else {
                throw self.transactionFailure
                    ?? PostgresError(.other, "the transaction was rolled back because of an earlier error in it")
            }
            return results
        case .failure(let error):
            // An error that the server answered with is definite, and `rollback` ends what it left open.
            if error.isConnectionLoss || self.isClosed { throw .unknownCommit }
            throw error
        }
    }

    /// Rolls back; closes the connection when that fails.
    internal func rollback() async {
        let phase = self.phase
        self.phase = .none
        guard phase == .open, !self.isClosed else { return }
        do throws(PostgresError) {
            let rollback = Operation.Step.execute(TransactionStatements.rollback, try EncodedParameters([], types: []))
            let result = await self.perform(.steps([rollback]), isCancellable: false, timeout: .seconds(2))
            _ = try result.outcome.get()
        } catch {
            self.close()
        }
    }
}
