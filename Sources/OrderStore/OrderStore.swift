// SPDX-License-Identifier: Apache-2.0

import OrderModel
package import PostgreSQL
package import ServiceRuntime

/// All SQL: orders, revisions, events, files, devices, registrations, push tickets, kept answers and keys.
///
/// Each use case is one file. What they rely on, in short: READ COMMITTED only; locks are taken orders first, then
/// devices, each sorted; the mark of a device rises under its row's lock; the push ticket is part of the device's row,
/// so a change and its tickets are one commit; only the database's clock stamps data.
package final class OrderStore: Sendable {
    /// The NOTIFY channel that workers listen on; the payload is an order type.
    package static let ticketChannel = "walletorders_tickets"

    /// Wakes the workers after a change has committed.
    package let bell: TicketBell

    let client: PostgresClient
    let tokens: TokenKeys
    let logger: Logger
    let turns: OrderTurns
    let knownTypes = Locked<Set<OrderTypeIdentifier>>([])
    // short: digests.
    let keyCache = Locked<[String: CachedKey]>([:])

    /// A store over a pool of connections.
    package init(client: PostgresClient, tokens: TokenKeys, logger: Logger) {
        self.client = client
        self.tokens = tokens
        self.logger = logger
        self.bell = TicketBell(client: client, logger: logger)
        self.turns = OrderTurns(limit: client.configuration.connectionsPerLoop > 3 ? 2 : 1)
    }

    /// Does something that locks the head of an order, when it is its turn at it.
    ///
    /// - Throws: ``StoreError`` with `busy` when others take too long.
    func inTurn<Result>(_ key: OrderKey, _ body: () async throws -> Result) async throws -> Result {
        try await turns.take(key, patience: client.configuration.lockTimeout, body)
    }

    /// The database's clock, the only one that stamps data.
    package func databaseTime() async throws -> Moment {
        let rows = try await client.query(UpkeepStatements.readClock)
        guard let row = rows.first else { throw StoreError(.corrupt, "The database did not tell its time.") }
        return Moment(try row.timestamp(0))
    }

    /// Runs a closure in one transaction, again when it lost a race or its connection.
    ///
    /// Every closure given here may run twice, also after a commit whose answer was lost: the event row, the
    /// idempotency row, or what the first run noted outside of it tells it what that did.
    func transaction<Result: Sendable>(
        lockTimeout: Duration? = nil,
        _ body: @escaping @Sendable (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        var lost = 0
        while true {
            do {
                return try await client.transaction(lockTimeout: lockTimeout, body)
            } catch let error as PostgresError where error.code == .unknownCommit && lost < 3 && !RequestTime.isOver {
                lost += 1
            } catch let error as PostgresError where error.code == .lockTimeout {
                throw StoreError.busy
            }
        }
    }

    /// Waits until the standby, when there is one, has all that was committed before. Before a caller is told that what was
    /// asked for is there already: the try before, which may have been another request, may have ended without an answer
    /// because the standby was not reached, and a failover would lose what this one read.
    ///
    /// - Throws: `PostgresError` with `unknownCommit` when the standby does not have it.
    func awaitStandby() async throws {
        _ = try await write(UpkeepStatements.awaitStandby, [])
    }

    /// Runs one statement that changes something once, and says whether it did: also when a first run did, whose commit was
    /// not answered for, so that a second one found nothing to change.
    ///
    /// - Parameter then: what a change brings with it, in the same commit.
    func changes(
        _ statement: Statement,
        _ values: [PostgresValue],
        then: (statement: Statement, values: [PostgresValue])? = nil
    ) async throws -> Bool {
        let isMade = Locked(false)
        return try await transaction { connection in
            let rows = try await connection.query(statement, values)
            if rows.affected == 0 {
                // What is so already is told as done, by this run or by whoever asks: the standby must have it.
                _ = try await connection.query(UpkeepStatements.awaitStandby)
            } else if let then {
                _ = try await connection.query(then.statement, then.values)
            }
            return isMade.withLock { isMade in
                isMade = isMade || rows.affected > 0
                return isMade
            }
        }
    }

    /// Runs one statement that does the same when it runs twice, again when its connection was lost or it met a deadlock.
    func write(_ statement: Statement, _ values: [PostgresValue]) async throws -> Rows {
        try await repeating { try await self.client.query(statement, values) }
    }

    /// Repeats work that may be done twice, when the database gave no clear answer.
    func repeating<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        var tries = 1
        while true {
            do {
                return try await body()
            } catch let error as PostgresError where error.code == .lockTimeout {
                throw StoreError.busy
            } catch let error as PostgresError
                where tries < 4 && (error.isRetryable || error.code == .unknownCommit) && !RequestTime.isOver
            {
                tries += 1
                // A lost server needs a moment; two that met on a lock must not meet again.
                try await sleep(for: .milliseconds(Int.random(in: 1...(20 << tries))))
            }
        }
    }
}
