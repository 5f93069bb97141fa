// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Makes connections: each address of each host in turn, with a time limit of its own, without blocking the loop.
internal struct Connector: Sendable {
    let configuration: PostgresConfiguration
    let loop: EventLoop
    let logger: Logger
    /// Where the last connection came about: tried first, or a host that went dark would cost its time again and again.
    private let lastGood = Locked<Endpoint?>(nil)

    init(configuration: PostgresConfiguration, loop: EventLoop, logger: Logger) {
        self.configuration = configuration
        self.loop = loop
        self.logger = logger
    }

    /// The oldest server whose features the store relies on.
    static let oldestServer = 150_000

    /// Connects to the first address that takes writes. On the loop.
    ///
    /// - Throws: `.refused` or `.noDatabase` when the server says so, else `.connection` (or `.shuttingDown`).
    func connect() async throws(PostgresError) -> PostgresConnection {
        self.loop.preconditionOnLoop()
        var (endpoints, unknown) = await Endpoint.all(of: self.configuration.hosts)
        if let good = self.lastGood.withLock({ $0 }), let index = endpoints.firstIndex(of: good) {
            endpoints.insert(endpoints.remove(at: index), at: 0)
        }
        // With a choice of hosts, the time for one is what a failover may cost.
        let timeout =
            endpoints.count > 1
            ? min(self.configuration.connectTimeout, .seconds(2)) : self.configuration.connectTimeout
        var failures: [(endpoint: Endpoint, error: PostgresError)] = []
        for endpoint in endpoints {
            do throws(PostgresError) {
                let connection = try await self.connect(to: endpoint, timeout: timeout)
                self.lastGood.withLock { $0 = endpoint }
                return connection
            } catch {
                failures.append((endpoint, error))
            }
        }
        throw self.summary(of: failures, unknown)
    }

    private func connect(
        to endpoint: Endpoint,
        timeout: Duration
    ) async throws(PostgresError) -> PostgresConnection {
        let notices = NoticeSink()
        let handle = try ConnectionHandle(parameters: self.configuration.parameters(for: endpoint), notices: notices)
        let attempt = ConnectAttempt(handle: handle, loop: self.loop)
        if let error = await attempt.run(timeout: timeout) {
            handle.finish()
            throw error
        }
        guard handle.serverVersion >= Connector.oldestServer else {
            throw PostgresError(
                .refused,
                "the server is version \(handle.serverVersion / 10_000); version 15 or newer is needed"
            )
        }
        guard handle.prepareForUse() else { throw PostgresError(.connection, handle.message) }
        return try PostgresConnection(
            handle: handle,
            notices: notices,
            loop: self.loop,
            configuration: self.configuration,
            logger: self.logger
        )
    }

    /// One error of several. A refusal weighs more than an absence: it will not go away by waiting.
    private func summary(
        of failures: [(endpoint: Endpoint, error: PostgresError)],
        _ unknown: [Endpoint.Unknown]
    ) -> PostgresError {
        let absence = unknown.map { "no address was found for \($0.name): \($0.reason)" }.joined(separator: "; ")
        guard let last = failures.last else { return PostgresError(.connection, absence) }
        let cause = failures.first { $0.error.code == .refused || $0.error.code == .noDatabase } ?? last
        let place = cause.endpoint.host + (cause.endpoint.address == nil ? "" : ":\(cause.endpoint.port)")
        return PostgresError(
            cause.error.code == .readOnly ? .connection : cause.error.code,
            "no connection to \(place): \(cause.error.message)" + (absence.isEmpty ? "" : "; " + absence),
            sqlState: cause.error.sqlState
        )
    }
}

/// One connection in the making: `PQconnectPoll` driven by readiness.
internal final class ConnectAttempt: ReadinessHandler {
    private let handle: ConnectionHandle
    private let loop: EventLoop
    private var watch: Watch?
    private var timer: Timer?
    private var continuation: CheckedContinuation<PostgresError?, Never>?

    init(handle: ConnectionHandle, loop: EventLoop) {
        self.handle = handle
        self.loop = loop
    }

    /// Drives the handle until it is connected; nil, or why it did not come to that.
    func run(timeout: Duration) async -> PostgresError? {
        await withCheckedContinuation { continuation in
            self.continuation = continuation
            self.timer = self.loop.schedule(after: timeout) {
                self.finish(PostgresError(.connection, "no answer within \(timeout.inSeconds) s"))
            }
            // As if `PQconnectPoll` had just said "writing": that is how libpq wants its first wait.
            self.wait(for: .writable)
        }
    }

    func ready(_ readiness: Readiness) {
        // The socket may be closed by the poll, and another get its number: it must not be in epoll then.
        self.stopWatching()
        switch self.handle.poll() {
        case .connected: self.finish(nil)
        case .failed: self.finish(self.handle.connectError)
        case .reading: self.wait(for: .readable)
        case .writing: self.wait(for: .writable)
        }
    }

    private func wait(for readiness: Readiness) {
        do throws(SystemError) {
            self.watch = try self.loop.watch(self.handle.socket, readiness, self)
        } catch {
            self.finish(PostgresError(.connection, "can't wait for the socket: \(error)"))
        }
    }

    private func stopWatching() {
        if let watch = self.watch { self.loop.unwatch(watch) }
        self.watch = nil
    }

    private func finish(_ error: PostgresError?) {
        self.stopWatching()
        self.timer?.cancel()
        self.timer = nil
        self.continuation?.resume(returning: error)
        self.continuation = nil
    }
}
