// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// Connects to the first of several addresses that answers.
///
/// The next address gets its chance when the one before has failed or has been silent for 250 ms (RFC 8305 5), so a dead
/// IPv6 route costs a blink and not a time-out. Names are looked up afresh each time: an answer kept here could lead to a
/// machine that was taken out of service.
final class ConnectRace: @unchecked Sendable {
    // Sendable by rule: touched on the loop only.

    /// One address being tried.
    private final class Attempt: ReadinessHandler {
        let descriptor: Int32
        weak var race: ConnectRace?
        var watch: Watch?

        init(descriptor: Int32, race: ConnectRace) {
            self.descriptor = descriptor
            self.race = race
        }

        func ready(_ readiness: Readiness) { race?.settle(self) }
    }

    private static let patience: Duration = .milliseconds(250)
    /// A Unix socket whose backlog is full says so instead of waiting.
    private static let backlogRetry: Duration = .milliseconds(20)

    private let endpoint: Endpoint
    private let loop: EventLoop
    private let outcome: OneShot<Result<Int32, HTTPClientError>>
    private var waiting: [SocketAddress] = []
    private var attempts: [Attempt] = []
    private var deadlineTimer: ServiceRuntime.Timer?
    private var patienceTimer: ServiceRuntime.Timer?
    private var lastError: Int32 = 0
    private var isOver = false

    private init(_ endpoint: Endpoint, _ loop: EventLoop, _ outcome: OneShot<Result<Int32, HTTPClientError>>) {
        self.endpoint = endpoint
        self.loop = loop
        self.outcome = outcome
    }

    /// Connects.
    ///
    /// - Returns: a connected, non-blocking descriptor that the caller owns.
    /// - Throws: `.refused`, `.connect`, `.timeout`, `.cancelled`.
    static func connect(
        to endpoint: Endpoint,
        loop: EventLoop,
        deadline: MonotonicTime
    ) async throws(HTTPClientError) -> Int32 {
        let outcome = OneShot<Result<Int32, HTTPClientError>>()
        let race = ConnectRace(endpoint, loop, outcome)
        loop.execute { race.start(deadline) }
        return try await outcome.value {
            loop.execute { race.fail(HTTPClientError(.cancelled, "connecting to \(endpoint) was cancelled")) }
        }.get()
    }

    private func start(_ deadline: MonotonicTime) {
        guard !isOver else { return }
        deadlineTimer = loop.schedule(at: deadline) { [self] in
            fail(HTTPClientError(.timeout, "no connection to \(endpoint) in time"))
        }
        switch endpoint {
        case .unix(let path):
            guard let address = SocketAddress(unixPath: path) else {
                return fail(HTTPClientError(.connect, "\(endpoint) is no path of 1 to 107 bytes"))
            }
            begin([address])
        case .tcp(let host, let port):
            if case .success(let addresses) = SocketAddress.resolve(host: host, port: port, literalsOnly: true) {
                return begin(addresses)
            }
            loop.spawn { [self] in
                let found = try? await runBlocking {
                    SocketAddress.resolve(host: host, port: port, literalsOnly: false)
                }
                switch found {
                case .success(let addresses): begin(addresses)
                case .failure(let failure):
                    fail(HTTPClientError(.connect, "no address for \(host): \(failure.message)"))
                case nil: fail(HTTPClientError(.connect, "no address for \(host): the look-up could not be started"))
                }
            }
        }
    }

    private func begin(_ addresses: [SocketAddress]) {
        guard !isOver else { return }
        waiting = addresses.reversed()
        next()
    }

    /// Gives the next address its chance.
    private func next() {
        patienceTimer?.cancel()
        patienceTimer = nil
        guard !isOver else { return }
        guard let address = waiting.popLast() else {
            if attempts.isEmpty { failWithLastError() }
            return
        }
        switch address.beginConnecting() {
        case .failure(let failure) where failure.errno == EAGAIN && address.family == AF_UNIX:
            waiting.append(address)
            patienceTimer = loop.schedule(after: Self.backlogRetry) { [self] in next() }
        case .failure(let failure):
            lastError = failure.errno
            next()
        case .success(let socket) where socket.isConnected: win(socket.descriptor)
        case .success(let socket):
            let attempt = Attempt(descriptor: socket.descriptor, race: self)
            do {
                attempt.watch = try loop.watch(socket.descriptor, .writable, attempt)
            } catch {
                close(socket.descriptor)
                lastError = error.errno
                return next()
            }
            attempts.append(attempt)
            if !waiting.isEmpty { patienceTimer = loop.schedule(after: Self.patience) { [self] in next() } }
        }
    }

    private func settle(_ attempt: Attempt) {
        guard !isOver, let watch = attempt.watch else { return }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe getsockopt(attempt.descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        loop.unwatch(watch)
        attempt.watch = nil
        attempts.removeAll { $0 === attempt }
        guard code != 0 else { return win(attempt.descriptor) }
        close(attempt.descriptor)
        lastError = code
        next()
    }

    private func win(_ descriptor: Int32) {
        finish()
        // Nobody waits any more: the descriptor is ours to close.
        if !outcome.finish(.success(descriptor)) { close(descriptor) }
    }

    private func failWithLastError() {
        let reason = SystemError(operation: "connect", errno: lastError)
        fail(
            HTTPClientError(
                lastError == ECONNREFUSED ? .refused : .connect,
                "cannot connect to \(endpoint): \(reason)"
            )
        )
    }

    private func fail(_ error: HTTPClientError) {
        guard !isOver else { return }
        finish()
        outcome.finish(.failure(error))
    }

    private func finish() {
        isOver = true
        deadlineTimer?.cancel()
        patienceTimer?.cancel()
        deadlineTimer = nil
        patienceTimer = nil
        waiting = []
        for attempt in attempts {
            if let watch = attempt.watch { loop.unwatch(watch) }
            attempt.watch = nil
            close(attempt.descriptor)
        }
        attempts = []
    }
}
