// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// A whole server on a free port, with routes that the tests share.
struct RunningServer: Sendable {
    let server: HTTPServer
    let port: Int
    let loops: EventLoopGroup
    let shutdown: Signal
    let probe: Probe
    let metrics: Metrics
    /// The lines that were logged.
    let log: Locked<[String]>

    /// What handlers saw.
    final class Probe: Sendable {
        /// Paths that were run, in order.
        let paths = Locked<[String]>([])
        /// Opens `/gate`.
        let gate = Signal()
        /// A handler has come to `/gate`.
        let isWaiting = Signal()
        /// It was cancelled there.
        let isCancelled = Signal()
        /// A handler has come to `/stubborn`, which heeds no cancellation.
        let isStubborn = Signal()
        /// Lets it go.
        let letGo = Signal()
        /// Answers the gate of `/slow-gate`.
        let gateAnswer = Signal()
    }

    /// Limits that let a test end soon, and no connection while a test that waits for a processor leaves it idle.
    static var limits: HTTPLimits {
        var limits = HTTPLimits.untimed
        limits.lingerTimeout = .milliseconds(200)
        limits.drainTimeout = Patience.long
        return limits
    }

    /// A server on a free port of this machine, which does not run yet.
    static func bound(
        _ router: Router,
        on loops: EventLoopGroup,
        control: HTTP2Control? = nil
    ) throws -> (server: HTTPServer, port: Int) {
        let server = HTTPServer(
            name: "test",
            address: .ip(host: "127.0.0.1", port: 0),
            tls: nil,
            router: router,
            limits: Self.limits,
            loops: loops,
            logger: Logger(label: "test", sink: LogSink(form: .text) { _ in }),
            control: control,
            metrics: Metrics()
        )
        guard case .ip(_, let port) = try server.bind() else { throw RawPeer.Failure(description: "no port") }
        return (server, port)
    }

    /// Serves while `body` runs, then ends all.
    static func with(
        _ limits: HTTPLimits = Self.limits,
        proxies: TrustedProxies = TrustedProxies(),
        tls: TLSContext? = nil,
        address: ListenAddress = .ip(host: "127.0.0.1", port: 0),
        _ body: @Sendable (RunningServer) async throws -> Void
    ) async throws {
        let probe = Probe()
        let loops = try EventLoopGroup(count: 2, name: "served")
        let metrics = Metrics()
        let log = Locked<[String]>([])
        let server = HTTPServer(
            name: "test",
            address: address,
            tls: tls,
            router: Self.router(probe),
            limits: limits,
            proxies: proxies,
            loops: loops,
            logger: Logger(
                label: "test",
                sink: LogSink(form: .text) { line in log.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
            ),
            metrics: metrics
        )
        let bound = try server.bind()
        var port = 0
        if case .ip(_, let found) = bound { port = found }
        let shutdown = Signal()
        // On a loop of its own: Swift's pool has two threads here, and a busy test elsewhere may hold both for seconds.
        let running = Locked<(any Error)?>(nil)
        let ended = Signal()
        loops.loops[0].spawn {
            do { try await server.run(shutdown: shutdown) } catch { running.withLock { $0 = error } }
            ended.fire()
        }
        let outcome: Result<Void, any Error>
        do {
            try await body(
                RunningServer(
                    server: server,
                    port: port,
                    loops: loops,
                    shutdown: shutdown,
                    probe: probe,
                    metrics: metrics,
                    log: log
                )
            )
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        probe.gate.fire()
        probe.gateAnswer.fire()
        probe.letGo.fire()
        shutdown.fire()
        try await ended.wait()
        if let error = running.withLock({ $0 }) { throw error }
        #expect(server.connectionCount == 0)
        await loops.shutdown()
        try outcome.get()
    }

    /// Runs a blocking conversation over one connection.
    func talk<Outcome: Sendable>(
        receiveBuffer: Int32 = 0,
        _ body: @escaping @Sendable (RawPeer) throws -> Outcome
    ) async throws -> Outcome {
        let port = self.port
        return try await runBlocking { try body(RawPeer(port, receiveBuffer: receiveBuffer)) }
    }

    static let largeCount = 8 * 1024 * 1024

    private static func router(_ probe: Probe) -> Router {
        let large = [UInt8](repeating: 0x61, count: largeCount)
        var router = Router()
        func on(_ method: HTTPMethod, _ pattern: String, bodyLimit: Int = 1000, _ handler: @escaping HTTPHandler) {
            router.on(method, pattern, bodyLimit: bodyLimit) { request, parameters in
                probe.paths.withLock { $0.append(request.path) }
                return try await handler(request, parameters)
            }
        }
        on(.get, "/hello") { _, _ in .text("hello") }
        on(.post, "/") { request, _ in HTTPResponse(.ok, body: .bytes(request.body)) }
        on(.get, "/") { _, _ in .text("root") }
        on(.post, "/echo") { request, _ in HTTPResponse(.ok, body: .bytes(request.body)) }
        on(.get, "/number/{n}") { _, parameters in .text(parameters["n"]) }
        on(.get, "/none") { _, _ in HTTPResponse(.noContent, body: .bytes(Array("unsendable".utf8))) }
        on(.get, "/same") { _, _ in
            HTTPResponse(.notModified, headers: ["etag": "\"1\""], body: .bytes(Array("unsendable".utf8)))
        }
        on(.get, "/large") { _, _ in HTTPResponse(.ok, body: .bytes(large)) }
        on(.post, "/large", bodyLimit: 1_000_000) { request, _ in .text("\(request.body.count)") }
        router.on(
            .post,
            "/gated",
            bodyLimit: 1_000_000,
            gate: { fields, address in
                probe.paths.withLock { $0.append("gate") }
                if address == "203.0.113.9" { return Problem(.tooManyRequests, code: "rate-limited") }
                // As a look-up in a database would.
                do { try await Task.sleep(for: .milliseconds(20)) } catch {}
                return fields["authorization"] == "yes" ? nil : Problem(.unauthorized, code: "unauthorized")
            },
            { request, _ in .text("\(request.body.count)") }
        )
        on(.get, "/hidden") { _, _ in .text("hidden") }
        for method in [HTTPMethod.get, .post] {
            on(method, "/gate", bodyLimit: 1_000_000) { _, _ in
                probe.isWaiting.fire()
                do { try await probe.gate.wait() } catch {
                    probe.isCancelled.fire()
                    throw error
                }
                return .text("open")
            }
        }
        on(.post, "/stubborn", bodyLimit: 1_000_000) { _, _ in
            probe.isStubborn.fire()
            // A task of its own isn't cancelled with the handler.
            await Task { do { try await probe.letGo.wait() } catch {} }.value
            return .text("let go")
        }
        router.on(
            .post,
            "/slow-gate",
            bodyLimit: 1_000_000,
            gate: { _, _ in
                probe.isWaiting.fire()
                do { try await probe.gateAnswer.wait() } catch {}
                return nil
            },
            { request, _ in .text("\(request.body.count)") }
        )
        on(.get, "/who") { request, _ in
            .text("\(request.remoteAddress) \(request.isSecure) \(request.version) \(request.clientCertificate != nil)")
        }
        return router
    }
}
