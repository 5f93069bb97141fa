// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime
import Synchronization

/// The door to the database: a pool of connections on each event loop, one of which is kept for reads: changes may wait for
/// locks, and must not keep others from being told so.
///
/// A call by a task of one of the loops stays on it; one from elsewhere, or from an actor, hops to a loop and back.
/// Closures given to `withConnection` and `transaction` run on the connection's loop.
package final class PostgresClient: Service, Sendable {
    package let name = "postgresql"
    /// What it was made with.
    package let configuration: PostgresConfiguration
    internal let logger: Logger
    private let pools: [ConnectionPool]
    private let turn = Atomic<Int>(0)
    private let lastShortage = Locked<Shortage?>(nil)
    private let listeners = Locked<[NotificationListener]>([])

    /// Makes a client. Connections are opened when first needed.
    package init(configuration: PostgresConfiguration, loops: EventLoopGroup, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        let lastShortage = self.lastShortage
        self.pools = loops.loops.map { loop in
            ConnectionPool(configuration: configuration, loop: loop, logger: logger) { error in
                let previous = lastShortage.withLock { last in
                    defer { last = Shortage(message: error.description, at: MonotonicTime.now()) }
                    return last
                }
                if previous.map({ MonotonicTime.now() - $0.at > PostgresClient.shortageTime }) ?? true {
                    logger.error("the database has no room left", ["error": .string(error.description)])
                }
            }
        }
    }

    private struct Shortage: Sendable {
        var message: String
        var at: MonotonicTime
    }

    /// How long after the last refusal the server counts as short of room: who has it mended need not wait longer.
    private static let shortageTime = Duration.seconds(60)

    /// What the server had no room for within the last minute: then it takes no changes, though it may answer.
    package var shortage: String? {
        self.lastShortage.withLock { last in
            last.flatMap { MonotonicTime.now() - $0.at > PostgresClient.shortageTime ? nil : $0.message }
        }
    }

    // MARK: Statements

    /// Runs one statement in a transaction of its own.
    ///
    /// A plain read whose connection broke is run again on another. A change is not: it may have happened. Either is when
    /// the session did not know the statement, or its plan no longer fitted the tables.
    package func query(_ statement: Statement, _ values: [PostgresValue] = []) async throws(PostgresError) -> Rows {
        if let pool = self.pool(of: EventLoop.ofTask()) { return try await self.query(statement, values, on: pool) }
        let pool = self.nextPool
        let result: Result<Rows, PostgresError> = await pool.loop.run {
            do throws(PostgresError) {
                return .success(try await self.query(statement, values, on: pool))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func query(
        _ statement: Statement,
        _ values: [PostgresValue],
        on pool: ConnectionPool
    ) async throws(PostgresError) -> Rows {
        try await self.pipeline([(statement, values)], on: pool)[0]
    }

    /// Runs several statements in one round trip and one transaction; see `PostgresConnection.pipeline`. It is repeated as
    /// `query` is.
    package func pipeline(_ batch: [(Statement, [PostgresValue])]) async throws -> [Rows] {
        try await self.onPool { pool in try await self.pipeline(batch, on: pool) }
    }

    private func pipeline(
        _ batch: [(Statement, [PostgresValue])],
        on pool: ConnectionPool
    ) async throws(PostgresError) -> [Rows] {
        let isPlainRead = batch.allSatisfy(\.0.isPlainRead)
        var attempt = 1
        while true {
            let connection = try await pool.acquire(for: isPlainRead ? .read : .change)
            do throws(PostgresError) {
                let results = try await connection.pipeline(batch)
                pool.release(connection)
                return results
            } catch {
                pool.release(connection)
                let isHarmless = isPlainRead && error.isConnectionLoss || error.isAboutPreparation
                guard isHarmless, attempt < 4, !RequestTime.isOver, !Task.isCancelled else { throw error }
                attempt += 1
            }
        }
    }

    /// Lends a connection. What the closure leaves open (a transaction, say) ends with the connection.
    package func withConnection<R: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) async throws -> R
    ) async throws -> R {
        try await self.onPool { pool in
            let connection = try await pool.acquire()
            defer { pool.release(connection) }
            return try await body(connection)
        }
    }

    /// Throws unless the database answers within two seconds.
    package func ready() async throws {
        try await withDeadline(.seconds(2)) {
            try await self.onPool { pool in
                let connection = try await pool.acquire(timeout: .milliseconds(1_800))
                defer { pool.release(connection) }
                _ = try await connection.query(PostgresClient.ping)
            }
        }
    }

    private static let ping = Statement("client_ping", "select 1")

    // MARK: Pools

    internal var loops: [EventLoop] { self.pools.map(\.loop) }

    /// Runs a closure on a loop that has a pool: this one, or the next.
    internal func onPool<R: Sendable>(
        _ body: @escaping @Sendable (ConnectionPool) async throws -> R
    ) async throws -> R {
        if let pool = self.pool(of: EventLoop.ofTask()) { return try await body(pool) }
        let pool = self.nextPool
        return try await pool.loop.run { try await body(pool) }
    }

    private func pool(of loop: EventLoop?) -> ConnectionPool? {
        guard let loop else { return nil }
        return self.pools.first { $0.loop === loop }
    }

    private var nextPool: ConnectionPool {
        let turn = self.turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return self.pools[Int(UInt(bitPattern: turn) % UInt(self.pools.count))]
    }

    // MARK: Notifications

    /// Listens on channels, on a connection of its own that is opened anew when it breaks.
    ///
    /// What was sent while it was broken is lost. So after each reconnection `onNotify` is called once for every channel
    /// with an empty payload: look what there is to do.
    package func listen(_ channels: [String], _ onNotify: @escaping @Sendable (String, String) -> Void) {
        let listener = NotificationListener(
            channels: channels,
            connector: Connector(configuration: self.configuration, loop: self.nextPool.loop, logger: self.logger),
            onNotify: onNotify
        )
        self.listeners.withLock { $0.append(listener) }
        listener.start()
    }

    // MARK: Life

    /// Waits for the shutdown, then closes.
    package func run(shutdown: Signal) async throws {
        do { try await shutdown.wait() } catch {}
        await self.close()
    }

    /// Turns new callers away, waits for the connections that are in use and closes all.
    package func close() async {
        for listener in self.listeners.withLock({ $0 }) { listener.stop() }
        for pool in self.pools { await pool.loop.run { await pool.close() } }
        for listener in self.listeners.withLock({ $0 }) { await listener.ended() }
    }
}
