// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import Glibc
package import ServiceRuntime

/// Serves HTTP/1.1 and HTTP/2 on one address, over all loops of a group.
///
/// Over TLS the protocol is agreed on by ALPN; in clear text a client speaks HTTP/1.1, or HTTP/2 by prior knowledge.
package final class HTTPServer: Service {
    package let name: String
    /// Listeners drain together: a request of one waits for none of another.
    package var endsWithNeighbours: Bool { true }
    private let address: ListenAddress
    private let loops: EventLoopGroup
    private let logger: Logger
    private let limits: HTTPLimits
    private let admission: Admission
    private let tls: Locked<TLSContext?>
    private let shards: [ServerShard]
    private let listener = Locked<Listener?>(nil)

    /// Makes a server; it listens once `bind` is called, and serves once it runs.
    ///
    /// - Parameters:
    ///   - name: what logs and metrics call it.
    ///   - tls: nil for clear text.
    ///   - proxies: who is in front of the server.
    ///   - control: lets a simulator misbehave on purpose.
    package init(
        name: String,
        address: ListenAddress,
        tls: TLSContext?,
        router: Router,
        limits: HTTPLimits = .init(),
        proxies: TrustedProxies = .init(),
        loops: EventLoopGroup,
        logger: Logger,
        control: HTTP2Control? = nil,
        metrics: Metrics = .shared
    ) {
        self.name = name
        self.address = address
        self.loops = loops
        self.logger = logger
        self.limits = limits
        let admission = Admission(limits: limits, proxies: proxies)
        self.admission = admission
        self.tls = Locked(tls)
        self.shards = loops.loops.map { loop in
            ServerShard(
                name: name,
                loop: loop,
                router: router,
                limits: limits,
                proxies: proxies,
                admission: admission,
                logger: logger,
                control: control,
                metrics: metrics
            )
        }
    }

    /// Takes the address.
    ///
    /// - Returns: where it listens, with the port that the kernel chose for 0.
    /// - Throws: `HTTPServerError` that names the address and what is wrong with it.
    package func bind() throws(HTTPServerError) -> BoundAddress {
        if let listener = self.listener.withLock({ $0 }) { return listener.address }
        let made = try Listener(self.address, backlog: self.limits.backlog)
        self.listener.withLock { $0 = made }
        return made.address
    }

    /// Serves new connections with other certificates; open ones keep theirs.
    package func replaceTLS(_ context: TLSContext) { self.tls.withLock { $0 = context } }

    /// Whether connections are encrypted.
    package var isSecure: Bool { self.tls.withLock { $0 != nil } }

    /// Open connections.
    package var connectionCount: Int { self.admission.count }

    /// Bytes of request bodies that wait for their ends or are with handlers, as far as they are counted.
    package var bodyBytes: Int { self.admission.bodyBytes }

    package func run(shutdown: Signal) async throws {
        _ = try self.bind()
        guard let listener = self.listener.withLock({ $0 }) else { return }
        let loop = self.loops.loops[0]
        let box = try await loop.run { try self.startAccepting(listener, on: loop) }
        do { try await shutdown.wait() } catch {}
        await loop.run { box.stop() }
        self.listener.withLock { $0 = nil }
        await self.drain()
    }

    /// Lets the requests in flight end, each within the drain's time.
    private func drain() async {
        await withTaskGroup(of: Void.self) { group in
            for shard in self.shards {
                group.addTask { await shard.loop.run { await shard.drain() } }
            }
        }
    }

    /// The answer to a connection beyond the caps.
    private static let refusal: [UInt8] = {
        let problem = Problem.serviceUnavailable(
            "There are too many connections. Try again in a few seconds.",
            code: "too-many-connections",
            retryAfter: 5
        )
        let response = problem.response(requestIdentifier: "")
        var bytes = HTTP1ResponseEncoder.head(
            response.status,
            response.headers,
            bodyCount: response.body.count,
            keepsAlive: false,
            version: .http11,
            date: "",
            requestIdentifier: ""
        )
        if case .bytes(let body) = response.body { bytes += body }
        return bytes
    }()

    /// The acceptor, which is its loop's.
    private final class AcceptorBox: @unchecked Sendable {
        // Sendable by rule: used on the acceptor's loop only.
        private let acceptor: Acceptor
        init(_ acceptor: Acceptor) { self.acceptor = acceptor }
        func stop() { self.acceptor.stop() }
    }

    private func startAccepting(_ listener: Listener, on loop: EventLoop) throws -> AcceptorBox {
        var turn = 0
        let acceptor = Acceptor(
            listener: listener,
            loop: loop,
            admission: self.admission,
            // In a TLS connection nothing can be said before the handshake, which would be work for one too many.
            refusal: self.tls.withLock { $0 == nil } ? Self.refusal : nil,
            logger: self.logger
        ) { descriptor, peer in
            let shard = self.shards[turn % self.shards.count]
            turn &+= 1
            let context = self.tls.withLock { $0 }
            if shard.loop.isCurrent {
                shard.accept(descriptor, from: peer, tls: context)
            } else {
                shard.loop.execute { shard.accept(descriptor, from: peer, tls: context) }
            }
        }
        try acceptor.start()
        return AcceptorBox(acceptor)
    }
}
