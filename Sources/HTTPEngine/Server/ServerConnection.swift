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
    /// The handlers that wait for something.
    private var errands: [HTTPStreamNumber: Errand] = [:]
    /// Whose handler has not begun.
    private var queued: Set<HTTPStreamNumber> = []
    /// Whose handler is on its way to its first wait: most are done before it, and are never put into `errands`.
    private var beginning: HTTPStreamNumber?
    private var isHTTP2 = false
    private var timer: ServiceRuntime.Timer?
    /// When the timer fires.
    private var alarm = MonotonicTime.distantFuture
    private var isDraining = false
    private var bodies = BodyAllowance()
    /// The bytes of them that handlers have.
    private var bytesInHandlers = 0
    /// When it was accepted: the first header's time runs from there, over the TLS handshake too.
    private let began: MonotonicTime

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
        // None is set any more.
        self.alarm = MonotonicTime(nanoseconds: .min)
        self.beginning = nil
        for errand in self.errands.values { errand.cancel() }
        self.errands = [:]
        self.queued = []
        self.session = nil
        // A handler that was cancelled holds its request until it is done.
        self.bodies.end(handlersHold: self.bytesInHandlers, self.shard.admission, self.peer)
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
                control: self.shard.control,
                began: self.began
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

    func perform(_ request: consuming HTTPRequest, _ match: consuming RouteMatch, stream: HTTPStreamNumber) {
        let proxies = self.shard.proxies
        // Looked at here, or the fields would be handed over for nothing.
        request.remoteAddress = proxies.isEmpty ? self.peer.text : proxies.client(of: request.headers, from: self.peer)
        request.isSecure = self.transport.isSecure
        if self.transport.isPeerVerified { request.clientCertificate = self.transport.peerCertificate }
        let exchange = HTTPExchange(request, match, on: self, stream: stream, began: self.shard.loop.now)
        self.bytesInHandlers += exchange.request.body.count
        guard !self.isHTTP2 else {
            // A frame later in the same read may still exclude it.
            self.queued.insert(stream)
            self.shard.loop.execute { [self] in
                // Abandoned before its turn came: after a GOAWAY that excludes it the peer may send it again elsewhere.
                guard self.queued.remove(stream) != nil else { return self.releaseBody(of: exchange) }
                self.begin(exchange)
            }
            return
        }
        self.begin(exchange)
    }

    private func begin(_ exchange: HTTPExchange) {
        self.beginning = exchange.stream
        let errand = self.shard.loop.begin(exchange)
        if self.beginning == exchange.stream {
            self.beginning = nil
            self.errands[exchange.stream] = errand
        }
    }

    /// Has a request answered.
    func response(to exchange: HTTPExchange) async -> HTTPResponse {
        await self.shard.router.respond(to: exchange.request, exchange.match) { error in
            // A client that goes away is no fault of ours, and can do so as often as it likes.
            let log = Task.isCancelled ? self.shard.logger.debug : self.shard.logger.error
            log(
                "a request failed",
                [
                    "route": .string(exchange.match.name), "requestId": .string(exchange.request.identifier),
                    "error": "\(error)",
                ]
            )
        }
    }

    /// Passes an answer on to whoever still waits for it.
    func pass(_ response: HTTPResponse, to exchange: HTTPExchange) {
        self.releaseBody(of: exchange)
        if self.beginning == exchange.stream {
            self.beginning = nil
        } else {
            // Gone: the peer has closed, or the deadline has answered.
            guard !Task.isCancelled, self.errands.removeValue(forKey: exchange.stream) != nil else { return }
        }
        self.shard.note(exchange.match.name, response.status, since: exchange.began)
        self.session?.respond(response, to: exchange.stream)
    }

    /// The handler is done with it, whether or not anybody waits for its answer.
    private func releaseBody(of exchange: HTTPExchange) {
        let count = exchange.request.body.count
        if count == 0 { return }
        self.bytesInHandlers -= count
        self.releaseBody(count)
    }

    func ask(_ gate: @escaping HTTPGate, _ fields: HTTPFields, stream: HTTPStreamNumber) {
        let address = self.shard.proxies.client(of: fields, from: self.peer)
        _ = self.shard.loop.spawn { [self] in
            let problem = await gate(fields, address)
            self.session?.gateAnswered(problem, for: stream)
        }
    }

    func holdBody(_ count: Int) -> Bool { self.bodies.hold(count, self.shard.admission, self.peer) }

    func releaseBody(_ count: Int) { self.bodies.release(count, self.shard.admission, self.peer) }

    func note(_ refusal: Problem) { self.shard.note(refusal.code, refusal.status, since: .now()) }

    func abandon(stream: HTTPStreamNumber) {
        self.queued.remove(stream)
        self.errands.removeValue(forKey: stream)?.cancel()
    }

    func expectDeadline(at time: MonotonicTime) {
        if self.alarm <= time { return }
        self.timer?.cancel()
        self.alarm = time
        // Holds the connection, but not beyond its end, which cancels it; a weak reference would make each count of the
        // connection's references dearer.
        self.timer = self.shard.loop.schedule(at: time) { self.deadlineCame() }
    }

    private func deadlineCame() {
        self.timer = nil
        self.alarm = .distantFuture
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
