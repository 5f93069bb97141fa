// SPDX-License-Identifier: Apache-2.0
import CLinux
import Cryptography
import Glibc
import ServiceRuntime

/// What a server has on one loop: its connections there.
final class ServerShard: @unchecked Sendable {
    // Sendable by rule: what changes is touched on the loop only.

    let name: String
    let loop: EventLoop
    let router: Router
    let limits: HTTPLimits
    /// The limits that each request needs, as plain numbers: arithmetic with `Duration` is of 128 bits.
    let nanoseconds: (header: Int64, idle: Int64, request: Int64)
    let proxies: TrustedProxies
    let logger: Logger
    let control: HTTP2Control?
    let admission: Admission
    private let metrics: Metrics
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var isDraining = false
    private var drained: Signal?
    private var date: (second: Int64, line: [UInt8]) = (0, [])
    private struct Answer: Hashable {
        let route: String
        let status: Int
    }
    private var instruments: [Answer: HistogramPart] = [:]
    /// The one that was used last: mostly the one that is used next.
    private var latest: (answer: Answer, histogram: HistogramPart)?

    init(
        name: String,
        loop: EventLoop,
        router: Router,
        limits: HTTPLimits,
        proxies: TrustedProxies,
        admission: Admission,
        logger: Logger,
        control: HTTP2Control?,
        metrics: Metrics
    ) {
        self.name = name
        self.loop = loop
        self.router = router
        self.limits = limits
        self.nanoseconds = (
            limits.headerTimeout.nanoseconds, limits.idleTimeout.nanoseconds, limits.requestTimeout.nanoseconds
        )
        self.proxies = proxies
        self.admission = admission
        self.logger = logger
        self.control = control
        self.metrics = metrics
    }

    /// Takes over an accepted connection.
    func accept(_ descriptor: Int32, from peer: PeerAddress, tls context: TLSContext?) {
        if self.isDraining {
            _ = Glibc.close(descriptor)
            self.admission.leave(peer)
            return
        }
        if peer.text != "unix" { SocketOptions.apply(to: descriptor) }
        var session: TLSSession?
        if let context {
            do { session = try TLSSession(context, descriptor: descriptor, serverName: nil) } catch {
                self.logger.warning("no TLS session for a connection", ["error": .string(error.message)])
                _ = Glibc.close(descriptor)
                self.admission.leave(peer)
                return
            }
        }
        var settings = SocketTransport.Settings()
        settings.handshakeTimeout = self.limits.handshakeTimeout
        settings.writeTimeout = self.limits.writeTimeout
        settings.minimumWriteRate = self.limits.minimumWriteRate
        settings.lingerTimeout = self.limits.lingerTimeout
        let transport = SocketTransport(
            takingOwnership: descriptor,
            loop: self.loop,
            tls: session,
            settings: settings
        )
        let connection = ServerConnection(transport: transport, peer: peer, shard: self)
        self.connections[ObjectIdentifier(connection)] = connection
        transport.start(connection)
    }

    /// A connection has come to its end.
    func remove(_ connection: ServerConnection) {
        guard self.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        self.admission.leave(connection.peer)
        if self.connections.isEmpty { self.drained?.fire() }
    }

    /// Asks all connections to end after the requests in flight, waits, and cuts those that take too long.
    func drain() async {
        self.isDraining = true
        let drained = Signal()
        self.drained = drained
        for connection in self.connections.values { connection.shutdown() }
        if self.connections.isEmpty { return }
        do { try await withDeadline(self.limits.drainTimeout) { try await drained.wait() } } catch {}
        for connection in self.connections.values { connection.abort() }
    }

    /// The line of the `Date` field for HTTP/1.1, written once a second.
    var dateLine: [UInt8] {
        let now = WallTime.now()
        if self.date.second != now.seconds {
            self.date = (now.seconds, HTTP1ResponseEncoder.dateLine(now.httpDate))
        }
        return self.date.line
    }

    /// Counts an answer by route and status, with the time it took.
    func note(_ route: String, _ status: HTTPStatus, since start: MonotonicTime) {
        let seconds = Double(MonotonicTime.now().nanoseconds &- start.nanoseconds) / 1e9
        self.histogram(Answer(route: route, status: status.code)).observe(seconds)
    }

    private func histogram(_ answer: Answer) -> HistogramPart {
        if let latest = self.latest, latest.answer == answer { return latest.histogram }
        let histogram: HistogramPart
        if let known = self.instruments[answer] {
            histogram = known
        } else {
            histogram = self.metrics.histogram(
                "walletorders_http_request_duration_seconds",
                help: "Time from a whole request to its answer.",
                labels: [("server", self.name), ("route", answer.route), ("status", String(answer.status))]
            ).part()
            self.instruments[answer] = histogram
        }
        self.latest = (answer, histogram)
        return histogram
    }
}
