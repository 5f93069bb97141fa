// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// The least server that HTTP/2 sessions need around them: accepts, runs handlers, keeps the deadline timer.
final class HTTP2TestServer: Sendable {
    let loop: EventLoop
    let port: Int
    private let listener: PlainListener
    private let hosts = Locked<[Host]>([])

    /// - Parameter tls: nil for clear text with prior knowledge.
    init(
        _ router: Router,
        limits: HTTPLimits = .untimed,
        tls: TLSContext? = nil,
        control: HTTP2Control? = nil,
        settings: SocketTransport.Settings = .init()
    ) throws {
        let loop = try EventLoop(name: "h2-server")
        self.loop = loop
        listener = try PlainListener()
        port = listener.port
        listener.accept(on: loop) { [hosts] descriptor in
            SocketOptions.apply(to: descriptor)
            let session = tls.flatMap { try? TLSSession($0, descriptor: descriptor, serverName: nil) }
            let transport = SocketTransport(
                takingOwnership: descriptor,
                loop: loop,
                tls: session,
                settings: settings
            )
            let host = Host(transport, router, limits, control)
            hosts.withLock { $0.append(host) }
            transport.start(host)
        }
    }

    /// Begins the orderly end of every connection.
    func shutdownConnections() {
        loop.execute { [self] in
            for host in hosts.withLock({ $0 }) { host.session?.shutdown() }
        }
    }

    /// Bytes that the process keeps for requests and answers: for leak checks.
    func openStreams() async -> Int {
        await loop.run { self.hosts.withLock { $0 }.reduce(0) { $0 + ($1.session?.streams.count ?? 0) } }
    }

    /// Streams whose handlers were abandoned.
    func abandoned() async -> Int {
        await loop.run { self.hosts.withLock { $0 }.reduce(0) { $0 + $1.abandoned } }
    }

    func stop() async {
        listener.stop()
        for host in hosts.withLock({ $0 }) {
            loop.execute { host.transport.abort() }
            try? await host.closed.wait()
        }
        await loop.shutdown()
    }

    final class Host: HTTPServerSessionHost, SocketTransportDelegate, @unchecked Sendable {
        // Sendable by rule: touched on the loop only.
        let transport: SocketTransport
        let router: Router
        let limits: HTTPLimits
        let control: HTTP2Control?
        let closed = Signal()
        var session: HTTP2ServerSession?
        var tasks: [Int32: Task<Void, Never>] = [:]
        var timer: ServiceRuntime.Timer?
        var abandoned = 0

        init(_ transport: SocketTransport, _ router: Router, _ limits: HTTPLimits, _ control: HTTP2Control?) {
            self.transport = transport
            self.router = router
            self.limits = limits
            self.control = control
        }

        func match(_ method: HTTPMethod, _ path: String) -> RouteMatch { router.match(method, path) }

        func perform(_ request: HTTPRequest, _ match: RouteMatch, stream: HTTPStreamNumber) {
            tasks[stream] = transport.loop.spawn { [self] in
                let response = await router.respond(to: request, match)
                tasks[stream] = nil
                session?.respond(response, to: stream)
            }
        }

        func ask(_ gate: @escaping HTTPGate, _ fields: HTTPFields, stream: HTTPStreamNumber) {
            _ = transport.loop.spawn { [self] in
                let problem = await gate(fields, "192.0.2.1")
                session?.gateAnswered(problem, for: stream)
            }
        }
        func note(_ refusal: Problem) {}
        func holdBody(_ count: Int) -> Bool { true }
        func releaseBody(_ count: Int) {}

        func abandon(stream: HTTPStreamNumber) {
            abandoned += 1
            tasks.removeValue(forKey: stream)?.cancel()
        }

        func expectDeadline(at time: MonotonicTime) {
            timer?.cancel()
            timer = transport.loop.schedule(at: time) { [weak self] in
                guard let self else { return }
                timer = nil
                let next = session?.checkDeadlines(transport.loop.now) ?? .distantFuture
                if next < .distantFuture { expectDeadline(at: next) }
            }
        }

        func transportReady() {
            let session = HTTP2ServerSession(transport: transport, limits: limits, host: self, control: control)
            self.session = session
            session.start()
        }
        func transportReceived(_ bytes: RawSpan) { session?.received(bytes) }
        func transportReceivedEnd() { session?.receivedEnd() }
        func transportWritable() { session?.writable() }
        func transportClosed(_ reason: TransportClosure) {
            timer?.cancel()
            for task in tasks.values { task.cancel() }
            tasks = [:]
            session = nil
            closed.fire()
        }
    }
}

extension Router {
    /// Routes that the tests share.
    static func forTests(gate: Signal = Signal()) -> Router {
        let body = (0..<20_480).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let large = [[UInt8]](repeating: [UInt8](repeating: 0x5a, count: 60_000), count: 50)
        var router = Router()
        router.on(.get, "/hello") { _, _ in .text("hello") }
        router.on(.get, "/body") { _, _ in HTTPResponse(.ok, body: .bytes(body)) }
        router.on(.get, "/large") { _, _ in HTTPResponse(.ok, body: .chunks(large)) }
        router.on(.get, "/nothing") { _, _ in HTTPResponse(.noContent) }
        router.on(.post, "/echo", bodyLimit: 3_000_000) { request, _ in HTTPResponse(.ok, body: .bytes(request.body)) }
        router.on(.post, "/small", bodyLimit: 100) { request, _ in HTTPResponse(.ok, body: .bytes(request.body)) }
        router.on(.get, "/gate") { _, _ in
            try await gate.wait()
            return .text("open")
        }
        router.on(.get, "/fields") { request, _ in
            .text(request.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "\n"))
        }
        router.on(.get, "/bad") { _, _ in
            HTTPResponse(
                .ok,
                headers: ["x-injected": "a\r\nb: c", "connection": "close", "transfer-encoding": "chunked"],
                body: .bytes([1])
            )
        }
        return router
    }
}

extension HTTP2ClientConnection {
    /// Connects in clear text, with prior knowledge, to a server of a test.
    static func clear(to port: Int, on loop: EventLoop) async throws -> HTTP2ClientConnection {
        try await connect(host: "127.0.0.1", port: port, tls: nil, loop: loop, deadline: Patience.long)
    }
}
