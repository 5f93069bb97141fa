// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// One accepted connection: finds out which protocol is spoken, lets its session speak it, runs the handlers, and keeps the
/// deadlines.
final class ServerConnection: SocketTransportDelegate, HTTPServerSessionHost, @unchecked Sendable {
    // Sendable by rule: touched on the shard's loop only.

    /// The first bytes of HTTP/2 by prior knowledge (RFC 9113 3.4).
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    let peer: PeerAddress
    private let transport: SocketTransport
    private let shard: ServerShard
    private var session: (any HTTPServerSession)?
    /// What came in before the protocol was known.
    private var opening: [UInt8] = []
    /// The handlers at work; nil for one that has not come to its first wait.
    private var tasks: [HTTPStreamNumber: Task<Void, Never>?] = [:]
    private var isHTTP2 = false
    private var timer: ServiceRuntime.Timer?
    private var isDraining = false
    private var bodies = BodyAllowance()
    /// When bytes were first welcome: the header's time runs from there.
    private var began: MonotonicTime

    init(transport: SocketTransport, peer: PeerAddress, shard: ServerShard) {
        self.transport = transport
        self.peer = peer
        self.shard = shard
        self.began = shard.loop.now
    }

    /// Ends the connection after the requests in flight.
    func shutdown() {
        // A request that the kernel already holds is in flight too.
        self.transport.receivePending()
        self.isDraining = true
        if let session = self.session {
            session.shutdown()
        } else {
            // In its handshake, or without a whole first word: the client is about to send its request.
            self.expectDeadline(at: self.shard.loop.now + self.shard.limits.drainIdleTimeout)
        }
    }

    /// Ends it now.
    func abort() { self.transport.abort() }

    // MARK: SocketTransportDelegate

    func transportReady() {
        self.began = self.shard.loop.now
        if self.transport.isSecure {
            self.begin(isHTTP2: self.transport.applicationProtocol == "h2")
        } else {
            self.expectDeadline(at: self.began + self.shard.limits.headerTimeout)
        }
    }

    func transportReceived(_ bytes: RawSpan) {
        if let session = self.session {
            session.received(bytes)
            return
        }
        unsafe bytes.withUnsafeBytes { unsafe self.opening.append(contentsOf: $0) }
        let known = min(self.opening.count, Self.preface.count)
        let isHTTP2 = self.opening.prefix(known).elementsEqual(Self.preface.prefix(known))
        // "PRI" may still become either.
        if isHTTP2, known < Self.preface.count { return }
        self.begin(isHTTP2: isHTTP2)
        let opening = self.opening
        self.opening = []
        if let session = self.session { unsafe session.received(opening.span.bytes) }
    }

    func transportReceivedEnd() {
        if let session = self.session { session.receivedEnd() } else { self.transport.close() }
    }

    func transportWritable() { self.session?.writable() }

    func transportClosed(_ reason: TransportClosure) {
        self.timer?.cancel()
        self.timer = nil
        for task in self.tasks.values { task?.cancel() }
        self.tasks = [:]
        self.session = nil
        self.bodies.end(self.shard.admission, self.peer)
        self.shard.remove(self)
    }

    private func begin(isHTTP2: Bool) {
        self.isHTTP2 = isHTTP2
        let session: any HTTPServerSession =
            isHTTP2
            ? HTTP2ServerSession(
                transport: self.transport,
                limits: self.shard.limits,
                host: self,
                control: self.shard.control
            )
            : HTTP1ServerSession(
                transport: self.transport,
                host: self,
                shard: self.shard,
                began: self.began
            )
        self.session = session
        session.start()
        if self.isDraining { session.shutdown() }
    }

    // MARK: HTTPServerSessionHost

    func match(_ method: HTTPMethod, _ path: String) -> RouteMatch { self.shard.router.match(method, path) }

    func perform(_ request: consuming HTTPRequest, _ match: RouteMatch, stream: HTTPStreamNumber) {
        request.remoteAddress = self.shard.proxies.client(of: request.headers, from: self.peer)
        request.isSecure = self.transport.isSecure
        if self.transport.isPeerVerified { request.clientCertificate = self.transport.peerCertificate }
        let shard = self.shard
        let started = shard.loop.now
        let whole = request
        let work: @Sendable () async -> Void = { [self] in
            // Abandoned before its turn came: after a GOAWAY that excludes it the peer may send it again elsewhere.
            if Task.isCancelled { return }
            let response = await shard.router.respond(to: whole, match) { error in
                shard.logger.error(
                    "a request failed",
                    ["route": .string(match.name), "requestId": .string(whole.identifier), "error": "\(error)"]
                )
            }
            shard.note(match.name, response.status, since: started)
            // Gone: the peer has closed, or the deadline has answered.
            guard !Task.isCancelled, self.tasks.removeValue(forKey: stream) != nil else { return }
            self.session?.respond(response, to: stream)
        }
        self.tasks.updateValue(nil, forKey: stream)
        // In HTTP/2 a frame later in the same read may still exclude it.
        let task = self.isHTTP2 ? shard.loop.spawn(work) : shard.loop.begin(work)
        if self.tasks.index(forKey: stream) != nil { self.tasks[stream] = .some(task) }
    }

    func ask(_ gate: @escaping HTTPGate, _ fields: HTTPFields, stream: HTTPStreamNumber) {
        _ = self.shard.loop.spawn { [self] in
            let problem = await gate(fields)
            self.session?.gateAnswered(problem, for: stream)
        }
    }

    func holdBody(_ count: Int) -> Bool { self.bodies.hold(count, self.shard.admission, self.peer) }

    func releaseBody(_ count: Int) { self.bodies.release(count, self.shard.admission, self.peer) }

    func abandon(stream: HTTPStreamNumber) { self.tasks.removeValue(forKey: stream)??.cancel() }

    func expectDeadline(at time: MonotonicTime) {
        if let timer = self.timer {
            if timer.deadline <= time { return }
            timer.cancel()
        }
        self.timer = self.shard.loop.schedule(at: time) { [weak self] in self?.deadlineCame() }
    }

    private func deadlineCame() {
        self.timer = nil
        if self.isDraining, self.session == nil { self.transport.receivePending() }
        guard let session = self.session else {
            // Nothing, or only the beginning of a preface, within the time of a header.
            self.transport.abort()
            return
        }
        let next = session.checkDeadlines(self.shard.loop.now)
        if next < .distantFuture, !self.transport.isClosed { self.expectDeadline(at: next) }
    }
}
