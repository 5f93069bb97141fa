// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// The connections of one loop. Carries out what `PoolState` decides.
internal final class ConnectionPool: @unchecked Sendable {
    // Sendable by rule: every entry point checks that it runs on `loop`, and nothing else touches the state.

    let loop: EventLoop
    private let configuration: PostgresConfiguration
    private let connector: Connector
    private let logger: Logger

    private var state: PoolState
    private var connections: [Int: PostgresConnection] = [:]
    private var waiters: [Int: CheckedContinuation<Result<PostgresConnection, PostgresError>, Never>] = [:]
    private var lastNumber = 0
    /// Connections up to this number are closed, or will be when they come back.
    private var lastCondemned = 0
    private var expiryTimer: Timer?
    private var retryTimer: Timer?
    /// Why the last attempt to connect failed; nil once one succeeded.
    private var lastFailure: PostgresError?
    private let drained = Signal()
    private let onShortage: @Sendable (PostgresError) -> Void

    /// - Parameter onShortage: called when the server has no room left.
    init(
        configuration: PostgresConfiguration,
        loop: EventLoop,
        logger: Logger,
        onShortage: @escaping @Sendable (PostgresError) -> Void = { _ in }
    ) {
        self.onShortage = onShortage
        self.loop = loop
        self.configuration = configuration
        self.connector = Connector(configuration: configuration, loop: loop, logger: logger)
        self.logger = logger
        self.state = PoolState(limit: configuration.connectionsPerLoop, waiterLimit: configuration.waiterLimit)
    }

    // MARK: Callers

    /// A connection for the caller alone, until `release`. First come, first served.
    ///
    /// - Throws: `.busy` when all stayed in use, the reason of the last attempt when none could be opened, `.cancelled`,
    ///   `.shuttingDown`.
    func acquire(
        for purpose: PoolState.Purpose = .read,
        timeout: Duration? = nil
    ) async throws(PostgresError) -> PostgresConnection {
        self.loop.preconditionOnLoop()
        if Task.isCancelled { throw PostgresError(.cancelled, "the task was cancelled") }
        if RequestTime.isOver { throw self.lastFailure ?? PostgresError(.busy, "the request's time is over") }
        self.lastNumber += 1
        let waiter = self.lastNumber
        let now = MonotonicTime.now()
        let deadline = now + RequestTime.left(of: timeout ?? self.configuration.acquireTimeout)
        switch self.state.acquire(waiter: waiter, for: purpose, deadline: deadline, now: now) {
        case .closed: throw ConnectionPool.closed
        case .crowded:
            throw PostgresError(.busy, "\(self.configuration.waiterLimit) callers wait for a connection already")
        case .lease(let identifier):
            if let connection = self.connections[identifier] { return connection }
            throw PostgresError(.other, "the pool lost count of its connections")
        case .wait(let connect):
            PoolMetrics.waits.increment()
            if connect { self.connect() }
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    self.waiters[waiter] = continuation
                    self.setTimers(now: now)
                }
            } onCancel: {
                self.loop.execute { self.cancel(waiter) }
            }
            return try result.get()
        }
    }

    /// Takes a connection back. One that is not as good as new is closed.
    func release(_ connection: PostgresConnection) {
        self.loop.preconditionOnLoop()
        if connection.isReadOnly {
            if self.dropAll(because: connection.identifier) {
                self.logger.notice("the server takes no writes; looking for the primary")
            }
        }
        // The others' plans are from before the same change of the tables: a call would meet one after the other.
        if connection.hasStalePlan { _ = self.dropAll(because: connection.identifier) }
        if let shortage = connection.shortage {
            connection.shortage = nil
            self.onShortage(shortage)
        }
        let reusable = connection.isReusable
        switch self.state.release(connection.identifier, isReusable: reusable, now: MonotonicTime.now()) {
        case .idle: break
        case .hand(let waiter): self.hand(connection, to: waiter)
        case .close(let connect):
            self.closeConnection(connection.identifier)
            if connect { self.connect() }
            self.setTimers(now: MonotonicTime.now())
            self.checkDrained()
        case .closeAndHand(let other, let waiter):
            self.closeConnection(connection.identifier)
            if let other = self.connections[other] { self.hand(other, to: waiter) }
            self.setTimers(now: MonotonicTime.now())
        }
    }

    private static let closed = PostgresError(.shuttingDown, "the database client has been closed")

    private func hand(_ connection: PostgresConnection, to waiter: Int) {
        self.waiters.removeValue(forKey: waiter)?.resume(returning: .success(connection))
    }

    private func refuse(_ waiters: [Int], _ error: PostgresError) {
        for waiter in waiters { self.waiters.removeValue(forKey: waiter)?.resume(returning: .failure(error)) }
    }

    private func cancel(_ waiter: Int) {
        // One that got its connection meanwhile sees the cancellation at its first statement.
        guard self.state.leave(waiter: waiter) else { return }
        self.refuse([waiter], PostgresError(.cancelled, "the task was cancelled"))
    }

    // MARK: Connections

    private func connect() {
        self.loop.spawn {
            // Whoever comes first may have it, not only the request that asked for it.
            await RequestTime.unlimited {
                do throws(PostgresError) {
                    self.arrived(try await self.connector.connect())
                } catch {
                    self.failed(error)
                }
            }
        }
    }

    private func arrived(_ connection: PostgresConnection) {
        PoolMetrics.opened.increment()
        if self.lastFailure != nil { self.logger.notice("the database is back") }
        self.lastFailure = nil
        self.lastNumber += 1
        let identifier = self.lastNumber
        connection.identifier = identifier
        switch self.state.connected(identifier, now: MonotonicTime.now()) {
        case .close:
            connection.close()
            self.checkDrained()
            return
        case .idle:
            self.adopt(connection)
        case .hand(let waiter, let connects):
            self.adopt(connection)
            for _ in 0..<connects { self.connect() }
            self.hand(connection, to: waiter)
        }
        self.setTimers(now: MonotonicTime.now())
    }

    private func adopt(_ connection: PostgresConnection) {
        self.connections[connection.identifier] = connection
        connection.onClose = { [weak self, identifier = connection.identifier] reason in
            self?.died(identifier, reason)
        }
    }

    private func failed(_ error: PostgresError) {
        PoolMetrics.failures.increment()
        if self.lastFailure?.code != error.code {
            self.logger.warning("no connection to the database", ["reason": .string(error.message)])
        }
        self.lastFailure = error
        let now = MonotonicTime.now()
        self.state.connectFailed(now: now, jitter: Double.random(in: 0...1))
        if error.code == .refused || error.code == .noDatabase { self.refuse(self.state.takeWaiters(), error) }
        self.setTimers(now: now)
        self.checkDrained()
    }

    private func died(_ identifier: Int, _ reason: PostgresError) {
        if case .idle(let mustConnect) = self.state.died(identifier, now: MonotonicTime.now()) {
            self.connections[identifier] = nil
            if mustConnect { self.connect() }
        }
        // A server that ends one session for maintenance ends all; the others' farewell may not have been read yet.
        if reason.code != .shuttingDown || !self.dropAll(because: identifier) { self.checkIdle() }
        self.checkDrained()
    }

    /// Closes what is idle, and what is in use as it comes back, because of what one of them met. When that one was
    /// condemned together with others before, those opened since are of another server, or of the same after its return.
    ///
    /// - Returns: whether it was the first to meet it.
    private func dropAll(because identifier: Int) -> Bool {
        guard identifier > self.lastCondemned else { return false }
        self.lastCondemned = self.lastNumber
        for identifier in self.state.dropAll() { self.closeConnection(identifier) }
        return true
    }

    private func closeConnection(_ identifier: Int) {
        guard let connection = self.connections.removeValue(forKey: identifier) else { return }
        connection.onClose = nil
        connection.close()
    }

    /// Finds idle connections that ended together with one that was just seen to.
    private func checkIdle() {
        for connection in Array(self.connections.values) { connection.checkAlive() }
    }

    // MARK: Time

    private func setTimers(now: MonotonicTime) {
        self.setTimer(\.expiryTimer, at: self.state.nextExpiry) { $0.expire() }
        self.setTimer(\.retryTimer, at: self.state.retryAt) { $0.retry() }
    }

    /// Sets a timer unless it is set for that moment or an earlier one, which will then set it again.
    private func setTimer(
        _ path: ReferenceWritableKeyPath<ConnectionPool, Timer?>,
        at deadline: MonotonicTime?,
        _ body: @escaping (ConnectionPool) -> Void
    ) {
        guard let deadline else { return }
        if let timer = self[keyPath: path] {
            if timer.deadline <= deadline { return }
            timer.cancel()
        }
        self[keyPath: path] = self.loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            self[keyPath: path] = nil
            body(self)
        }
    }

    private func expire() {
        let now = MonotonicTime.now()
        let expired = self.state.expire(now: now)
        let error =
            self.lastFailure
            ?? PostgresError(
                .busy,
                "no connection became free; all \(self.configuration.connectionsPerLoop) stayed in use"
            )
        self.refuse(expired, error)
        self.setTimers(now: now)
    }

    private func retry() {
        let now = MonotonicTime.now()
        if self.state.retry(now: now) { self.connect() }
        self.setTimers(now: now)
    }

    // MARK: The end

    /// Turns callers away and waits until what is in use has come back, or the task is cancelled.
    func close() async {
        self.loop.preconditionOnLoop()
        for identifier in self.state.close() { self.closeConnection(identifier) }
        self.refuse(self.state.takeWaiters(), ConnectionPool.closed)
        self.checkDrained()
        do { try await self.drained.wait() } catch {
            for connection in Array(self.connections.values) { connection.close() }
        }
        self.expiryTimer?.cancel()
        self.retryTimer?.cancel()
    }

    private func checkDrained() {
        if self.state.isDrained { self.drained.fire() }
    }
}

/// What a pool tells of itself.
internal enum PoolMetrics {
    static let opened = Metrics.shared.counter(
        "walletorders_postgresql_connections_opened_total",
        help: "Connections opened to the database"
    )
    static let failures = Metrics.shared.counter(
        "walletorders_postgresql_connect_failures_total",
        help: "Attempts to connect to the database that failed"
    )
    static let waits = Metrics.shared.counter(
        "walletorders_postgresql_waits_total",
        help: "Callers that found no free connection and waited"
    )
    static let retries = Metrics.shared.counter(
        "walletorders_postgresql_transaction_retries_total",
        help: "Transactions run again after a deadlock, a serialization failure or a lost connection"
    )
}
