// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// What the server knows a statement by.
internal struct PreparedStatement: Sendable {
    var sql: String
    var parameterTypes: [TypeIdentifier]
}

extension PostgresConnection {
    /// Runs one statement.
    ///
    /// - Throws: `PostgresError`, by what the server answered; `.unknownCommit` as `pipeline` does.
    package func query(_ statement: Statement, _ values: [PostgresValue] = []) async throws(PostgresError) -> Rows {
        try await self.pipeline([(statement, values)])[0]
    }

    /// Runs several statements in one round trip.
    ///
    /// The results come in their order. After an error the rest is skipped; outside a transaction, what came before the
    /// error is undone as well, since one sync ends the batch.
    ///
    /// - Throws: the first error. Outside a transaction `.unknownCommit` when a change was done with a warning: that is how
    ///   the server says that waiting for the standby was cut short, and a failover would lose the change.
    package func pipeline(_ batch: [(Statement, [PostgresValue])]) async throws(PostgresError) -> [Rows] {
        try await self.prepare(self.needed(for: batch))
        let executions = try self.executions(of: batch)
        let steps = try self.beginning() + executions
        if steps.isEmpty { return [] }
        let (outcome, hasWarning) = await self.perform(.steps(steps))
        let results = try outcome.get()
        if hasWarning, self.phase == .none, !batch.allSatisfy(\.0.isPlainRead) { throw .unknownCommit }
        return results.dropFirst(steps.count - executions.count).map { Rows($0) }
    }

    /// Runs several statements and COMMIT in one round trip: the end of a transaction, or all of it.
    ///
    /// After it the transaction is over; the closure given to `transaction` must not run anything more.
    ///
    /// - Throws: the first error, nothing having been committed; `.unknownCommit` when the connection broke.
    package func pipelineAndCommit(_ batch: [(Statement, [PostgresValue])]) async throws(PostgresError) -> [Rows] {
        precondition(self.phase != .none, "only inside a transaction")
        try await self.prepare(self.needed(for: batch))
        let executions = try self.executions(of: batch)
        let beginning = try self.beginning()
        let commit = Operation.Step.execute(TransactionStatements.commit, try EncodedParameters([], types: []))
        let results = try await self.commit(.steps(beginning + executions + [commit]))
        return results.dropFirst(beginning.count).dropLast().map { Rows($0) }
    }

    private func needed(for batch: [(Statement, [PostgresValue])]) -> [Statement] {
        self.phase == .none ? batch.map(\.0) : batch.map(\.0) + TransactionStatements.all
    }

    private func executions(
        of batch: [(Statement, [PostgresValue])]
    ) throws(PostgresError) -> [Operation.Step] {
        var steps: [Operation.Step] = []
        steps.reserveCapacity(batch.count)
        for (statement, values) in batch {
            steps.append(.execute(statement, try self.encode(values, for: statement)))
        }
        return steps
    }

    /// What has to go before the first statement of a transaction.
    private func beginning() throws(PostgresError) -> [Operation.Step] {
        guard case .pending(let lockTimeout) = self.phase else { return [] }
        var steps = [Operation.Step.execute(TransactionStatements.begin, try EncodedParameters([], types: []))]
        if let lockTimeout {
            let milliseconds = max(1, lockTimeout.nanoseconds / 1_000_000)
            let limit = TransactionStatements.lockTimeout
            steps.append(.execute(limit, try self.encode([.text("\(milliseconds)ms")], for: limit)))
        }
        self.phase = .open
        return steps
    }

    /// Runs SQL that was not written into the program as a statement: migrations. Several statements may follow each
    /// other; without a transaction of their own they form one.
    ///
    /// - Parameter timeout: when the client gives up; `statement_timeout` applies all the same. nil: the usual time.
    package func script(_ sql: String, timeout: Duration? = nil) async throws(PostgresError) {
        if case .pending = self.phase { _ = try await self.pipeline([]) }
        guard !sql.utf8.contains(0) else { throw PostgresError(.encoding, "a script contains a NUL") }
        _ = try await self.perform(.script(sql), timeout: timeout).outcome.get()
    }

    private func encode(_ values: [PostgresValue], for statement: Statement) throws(PostgresError) -> EncodedParameters
    {
        do throws(PostgresError) {
            return try EncodedParameters(values, types: self.prepared[statement.name]?.parameterTypes ?? [])
        } catch {
            throw PostgresError(error.code, "\(error.message), in statement \(statement.name)")
        }
    }

    /// Has the server parse what it does not know yet, all in one round trip, and tell the types of the parameters.
    internal func prepare(_ statements: [Statement]) async throws(PostgresError) {
        var missing = try self.missing(of: statements)
        // Another task is having one of them parsed: an empty round trip comes after that one's.
        while missing.contains(where: { self.preparing.contains($0.name) }) {
            _ = try await self.perform(.steps([])).outcome.get()
            missing = try self.missing(of: statements)
        }
        if missing.isEmpty { return }
        self.preparing.formUnion(missing.map(\.name))
        defer { self.preparing.subtract(missing.map(\.name)) }
        let steps = missing.flatMap { [Operation.Step.prepare($0), .describe($0)] }
        let results: [QueryResult]
        do throws(PostgresError) {
            results = try await self.perform(.steps(steps)).outcome.get()
        } catch {
            // The server keeps what it parsed before the error, whatever becomes of the transaction: it would refuse the
            // same names next time.
            self.discard()
            throw error
        }
        for (index, statement) in missing.enumerated() {
            self.prepared[statement.name] = PreparedStatement(
                sql: statement.sql,
                parameterTypes: results[2 * index + 1].parameterTypes
            )
        }
    }

    private func missing(of statements: [Statement]) throws(PostgresError) -> [Statement] {
        var missing: [Statement] = []
        for statement in statements {
            if let known = self.prepared[statement.name] {
                guard known.sql == statement.sql else { throw PostgresConnection.sharedName(statement) }
            } else if let twin = missing.first(where: { $0.name == statement.name }) {
                guard twin.sql == statement.sql else { throw PostgresConnection.sharedName(statement) }
            } else {
                missing.append(statement)
            }
        }
        return missing
    }

    private static func sharedName(_ statement: Statement) -> PostgresError {
        PostgresError(.other, "two statements with different text share the name \(statement.name)")
    }
}
