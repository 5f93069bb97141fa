// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
package import Cryptography
package import ServiceRuntime
import Synchronization

/// One HTTP/2 connection to a server, with everything visible that a careful client needs (RFC 9113).
///
/// Every `send` ends exactly once, at its deadline at the latest. No stream is opened beyond what the peer's latest SETTINGS
/// allow, and none after a GOAWAY; an error's code says whether the request may be sent again.
@safe
package final class HTTP2ClientConnection: SocketTransportDelegate, @unchecked Sendable {
    // Sendable by rule: `published` is atomic or locked; everything else is touched on the loop only.

    /// Bounds of a connection.
    package struct Limits: Sendable {
        /// Streams that are opened at once however many the peer allows.
        package var streams = 1000
        /// Requests that wait for a stream; further ones are refused as `.notProcessed`.
        package var queue = 10_000
        /// Header list of an answer in bytes.
        package var headerBytes = 32 * 1024
        /// How long a connection is kept without a request; nil: as long as the peer keeps it.
        package var idleTimeout: Duration?

        /// The defaults.
        package init() {}
    }

    /// What other threads may read.
    private struct Published: Sendable {
        var goAwayCode: HTTP2ErrorCode?
        var goAwayReason: [UInt8]?
    }

    /// The loop that it lives on. Sending from a task of this loop costs least.
    package let loop: EventLoop
    let transport: SocketTransport
    let session: NGHTTP2Session
    let limits: Limits
    let peer: String

    private let published = Locked(Published())
    private let goingAway = Atomic<Bool>(false)
    private let openCount = Atomic<Int>(0)
    private let limit = Atomic<Int>(0)

    var open: [HTTP2Exchange] = []
    private var queue: [HTTP2Exchange] = []
    private var queueHead = 0
    private var isPumpScheduled = false
    private var hasSettings = false
    /// The beginning of the first frame while it may be a GOAWAY, for which nghttp2 has no ear before SETTINGS; nil later.
    private var opening: [UInt8]? = []
    /// Nothing more goes into or comes out of nghttp2.
    private var isOver = false
    private var deadlineTimer: ServiceRuntime.Timer?
    private var earliestDeadline = MonotonicTime.distantFuture
    private var pings: [UInt64: OneShot<Result<Void, HTTPClientError>>] = [:]
    private var pingNumber: UInt64 = 0
    private var onSettings: OneShot<Result<Void, HTTPClientError>>?
    private var onIdle: [OneShot<Void>] = []
    private let closed = Signal()
    private var idleTimer: ServiceRuntime.Timer?
    private var lastUse = MonotonicTime.now()
    /// Called once, when it takes no more requests because it has ended. On the loop.
    var onEnd: (() -> Void)?

    /// Takes over a connected transport that has agreed on HTTP/2.
    init(_ transport: SocketTransport, peer: String, limits: Limits) {
        self.transport = transport
        self.peer = peer
        self.limits = limits
        loop = transport.loop
        session = NGHTTP2Session(client: Self.template)
        session.attach(self)
    }

    // MARK: Life

    /// Connects and waits for the server's SETTINGS, so that even the first streams keep to them.
    ///
    /// The host is looked up afresh each time.
    /// - Parameter tls: nil for clear text with prior knowledge.
    /// - Throws: `.refused`, `.connect`, `.tls` (also when the server does not speak HTTP/2), `.timeout`, `.cancelled`;
    ///   `.closed` when the server ends it at once, with the reason of its GOAWAY if it gave one.
    package static func connect(
        host: String,
        port: Int,
        tls: TLSContext?,
        loop: EventLoop,
        deadline: Duration,
        limits: Limits = .init()
    ) async throws(HTTPClientError) -> HTTP2ClientConnection {
        try await connect(
            to: .tcp(host: host, port: port),
            tls: tls,
            loop: loop,
            deadline: MonotonicTime.now() + deadline,
            limits: limits
        )
    }

    /// Connects to any endpoint.
    package static func connect(
        to endpoint: Endpoint,
        tls: TLSContext?,
        loop: EventLoop,
        deadline: MonotonicTime,
        limits: Limits = .init()
    ) async throws(HTTPClientError) -> HTTP2ClientConnection {
        let transport = try await SocketTransport.connect(
            to: endpoint,
            tls: tls,
            loop: loop,
            deadline: deadline,
            settings: Self.transportSettings
        )
        if tls != nil {
            let agreed = await loop.run { transport.applicationProtocol }
            guard agreed == "h2" else {
                loop.execute { transport.abort() }
                throw HTTPClientError(.tls, "\(endpoint) does not offer HTTP/2")
            }
        }
        let connection = HTTP2ClientConnection(transport, peer: "\(endpoint)", limits: limits)
        try await connection.begin(deadline: deadline)
        return connection
    }

    static var transportSettings: SocketTransport.Settings {
        var settings = SocketTransport.Settings()
        settings.lingerTimeout = .milliseconds(200)
        return settings
    }

    /// Says the first words and waits for the server's.
    func begin(deadline: MonotonicTime) async throws(HTTPClientError) {
        let outcome = OneShot<Result<Void, HTTPClientError>>()
        loop.execute { [self] in
            onSettings = outcome
            let timer = loop.schedule(at: deadline) { [self] in
                if onSettings != nil { end(HTTPClientError(.timeout, "\(peer) sent no SETTINGS in time")) }
            }
            deadlineTimer = timer
            let code = session.submitSettings([
                (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
                (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1024 * 1024),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.headerBytes),
            ])
            unsafe nghttp2_session_set_local_window_size(session.pointer, 0, 0, 8 * 1024 * 1024)
            guard code == 0 else { return end(HTTPClientError(.protocolError, "SETTINGS could not be made")) }
            transport.adopt(self)
            pump()
        }
        try await outcome.value { [self] in
            loop.execute { [self] in end(HTTPClientError(.cancelled, "connecting to \(peer) was cancelled")) }
        }.get()
    }

    /// Ends the connection now. Requests without an answer fail: open ones as `.closed`, waiting ones as `.notProcessed`.
    package func close() async {
        loop.execute { [self] in
            if !isOver { session.goAway(lastStream: 0, code: .noError) }
            pump()
            end(HTTPClientError(.closed, "the connection to \(peer) was closed here"), politely: true)
        }
        await closed.waitUncancelled()
    }

    /// Takes no more requests, waits for the answers to those it has, at most for `deadline`, and closes.
    package func drain(deadline: Duration) async {
        let idle = OneShot<Void>()
        goingAway.store(true, ordering: .relaxed)
        loop.execute { [self] in
            onIdle.append(idle)
            _ = loop.schedule(after: deadline) { idle.finish(()) }
            checkIdle()
        }
        await idle.value { idle.finish(()) }
        await close()
    }

    // MARK: What others may read, from any thread

    /// Whether no more requests are taken: after a GOAWAY or the end of the connection.
    package var isGoingAway: Bool { goingAway.load(ordering: .relaxed) }
    /// The debug data of the last GOAWAY: push services put a JSON reason there.
    package var goAwayReason: [UInt8]? { published.withLock { $0.goAwayReason } }
    /// The error code of the last GOAWAY.
    package var goAwayCode: HTTP2ErrorCode? { published.withLock { $0.goAwayCode } }
    /// Streams open now.
    package var openStreams: Int { openCount.load(ordering: .relaxed) }
    /// Streams that may be open at once, by the peer's latest SETTINGS and our own bound.
    package var streamLimit: Int { limit.load(ordering: .relaxed) }

    // MARK: Requests

    /// Sends a request and waits for the whole answer. Waits for a free stream, first come first served.
    ///
    /// Cancelling the task resets the stream.
    /// - Throws: `.notProcessed` (safe to send again), `.timeout`, `.closed`, `.reset`, `.tooLarge`, `.protocolError`,
    ///   `.cancelled`.
    package func send(
        _ request: HTTP2Request,
        deadline: Duration
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let exchange = HTTP2Exchange(request, deadline: MonotonicTime.now() + deadline)
        let outcome = await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                unsafe exchange.await(continuation)
                if loop.isCurrent {
                    enqueue(exchange)
                } else {
                    loop.execute { [self] in enqueue(exchange) }
                }
            }
        } onCancel: {
            loop.execute { [self] in
                guard exchange.state != .new else { return exchange.isCancelledEarly = true }
                giveUp(exchange, HTTPClientError(.cancelled, "the request was cancelled"))
                schedulePump()
            }
        }
        return try outcome.get()
    }

    /// Sends a PING and waits for its answer: the only proof that a silent connection is alive.
    ///
    /// - Throws: `.timeout`, `.closed`, `.cancelled`.
    package func ping(deadline: Duration) async throws(HTTPClientError) {
        let outcome = OneShot<Result<Void, HTTPClientError>>()
        let peer = peer
        loop.execute { [self] in
            guard !isOver else { return _ = outcome.finish(.failure(HTTPClientError(.closed, "\(peer) is gone"))) }
            pingNumber += 1
            let number = pingNumber
            pings[number] = outcome
            _ = loop.schedule(after: deadline) { [weak self] in
                self?.pings[number] = nil
                outcome.finish(.failure(HTTPClientError(.timeout, "\(peer) did not answer a PING")))
            }
            session.ping(number)
            pump()
        }
        try await outcome.value {
            outcome.finish(.failure(HTTPClientError(.cancelled, "the PING was cancelled")))
        }.get()
    }

    private func enqueue(_ exchange: HTTP2Exchange) {
        // Its cancellation may have come first.
        exchange.state = .detached
        guard !exchange.isCancelledEarly else {
            return exchange.finish(.failure(HTTPClientError(.cancelled, "the request was cancelled")))
        }
        guard !isOver, !isGoingAway else {
            return refuse(exchange, "\(peer) takes no more requests on this connection")
        }
        guard queue.count - queueHead < limits.queue else {
            return refuse(exchange, "\(limits.queue) requests wait for \(peer) already")
        }
        exchange.state = .queued
        queue.append(exchange)
        expect(exchange.deadline)
        schedulePump()
    }

    private func refuse(_ exchange: HTTP2Exchange, _ message: String, _ code: HTTP2ErrorCode? = nil) {
        exchange.state = .detached
        exchange.finish(
            .failure(
                HTTPClientError(
                    .notProcessed,
                    message,
                    http2ErrorCode: code ?? goAwayCode,
                    goAwayReason: goAwayReason
                )
            )
        )
    }

    /// Ends an exchange for a reason of our own. A stream that it has is reset.
    private func giveUp(_ exchange: HTTP2Exchange, _ error: HTTPClientError) {
        guard !exchange.isFinished else { return }
        exchange.finish(.failure(error))
        if exchange.state == .open, !isOver { session.reset(exchange.stream, .cancel) }
        // A waiting one stays where it is and is skipped when its turn comes.
        if exchange.state == .queued { exchange.state = .detached }
    }

    // MARK: Output

    private func schedulePump() {
        guard !isPumpScheduled else { return }
        isPumpScheduled = true
        // At the end of the turn: requests of many tasks go out together.
        loop.execute { [self] in
            isPumpScheduled = false
            pump()
        }
    }

    /// Opens streams for what waits, as far as allowed, and moves frames to the transport.
    func pump() {
        guard !isOver, !session.isInside else { return }
        openQueued()
        let code = session.produce(into: transport)
        if code != 0 { return end(HTTPClientError(.protocolError, "HTTP/2 with \(peer) failed (\(code))")) }
        if session.isOver { return end(lastWords, politely: true) }
        transport.flush()
    }

    private func openQueued() {
        guard hasSettings else { return }
        let allowed = streamLimit
        while queueHead < queue.count, open.count < allowed, !isGoingAwayByPeer, !transport.isAboveHighWater {
            let exchange = queue[queueHead]
            queueHead += 1
            if queueHead == queue.count {
                queue.removeAll(keepingCapacity: queue.capacity <= 4096)
                queueHead = 0
            } else if queueHead >= 1024, queueHead * 2 >= queue.count {
                queue.removeFirst(queueHead)
                queueHead = 0
            }
            if !exchange.isFinished { submit(exchange) }
        }
        openCount.store(open.count, ordering: .relaxed)
    }

    private var isGoingAwayByPeer = false

    private func submit(_ exchange: HTTP2Exchange) {
        let request = exchange.request
        let buffers = transport.buffers
        buffers.headerBlock.removeAll()
        var isValid = buffers.headerBlock.appendChecked(":method", request.method.rawValue)
        isValid = buffers.headerBlock.appendChecked(":scheme", request.scheme) && isValid
        isValid = buffers.headerBlock.appendChecked(":authority", request.authority) && isValid
        isValid =
            buffers.headerBlock.appendChecked(":path", request.path, neverIndex: request.neverIndexPath) && isValid
        for field in request.headers {
            isValid =
                buffers.headerBlock.appendChecked(field.name, field.value, neverIndex: field.neverIndex) && isValid
        }
        if !request.body.isEmpty { buffers.headerBlock.append("content-length", String(request.body.count)) }
        guard isValid else {
            exchange.state = .detached
            return exchange.finish(
                .failure(HTTPClientError(.protocolError, "a header field or the path holds what HTTP/2 forbids"))
            )
        }
        let stream = unsafe buffers.headerBlock.withFields { fields, count in
            let context = unsafe Unmanaged.passUnretained(exchange).toOpaque()
            guard !request.body.isEmpty else {
                return unsafe nghttp2_submit_request(session.pointer, nil, fields, count, nil, context)
            }
            var provider = unsafe nghttp2_data_provider(
                source: nghttp2_data_source(ptr: context),
                read_callback: Self.readBody
            )
            return unsafe nghttp2_submit_request(session.pointer, nil, fields, count, &provider, context)
        }
        guard stream > 0 else {
            // The numbers of this connection are used up, or memory is.
            return refuse(exchange, "no further stream can be opened to \(peer)")
        }
        exchange.stream = stream
        exchange.state = .open
        exchange.index = open.count
        open.append(exchange)
    }

    // MARK: Deadlines

    /// One timer for all requests: set for the earliest deadline, it looks at all of them when it fires. With a steady flow
    /// of requests of equal deadlines that is once a deadline, not once a request.
    private func expect(_ deadline: MonotonicTime) {
        guard deadline < earliestDeadline else { return }
        earliestDeadline = deadline
        if hasSettings { armDeadlineTimer() }
    }

    private func armDeadlineTimer() {
        deadlineTimer?.cancel()
        deadlineTimer = nil
        guard earliestDeadline < .distantFuture else { return }
        deadlineTimer = loop.schedule(at: earliestDeadline) { [self] in
            deadlineTimer = nil
            checkDeadlines()
        }
    }

    private func checkDeadlines() {
        let now = MonotonicTime.now()
        var next = MonotonicTime.distantFuture
        let look = { (exchange: HTTP2Exchange, error: HTTPClientError) in
            if exchange.isFinished { return }
            if exchange.deadline > now {
                next = min(next, exchange.deadline)
            } else {
                self.giveUp(exchange, error)
            }
        }
        let timeout = HTTPClientError(.timeout, "\(peer) did not answer in time")
        for exchange in open { look(exchange, timeout) }
        // What waited for a stream to the end was never sent.
        let unsent = HTTPClientError(.notProcessed, "\(peer) had no stream free in time")
        for exchange in queue[queueHead...] { look(exchange, unsent) }
        queue.removeFirst(queueHead)
        queueHead = 0
        queue.removeAll { $0.isFinished }
        // Deadlines that lie close together are looked at together.
        earliestDeadline = next == .distantFuture ? next : max(next, now + .milliseconds(5))
        armDeadlineTimer()
        pump()
    }

    // MARK: Transport

    package func transportReady() {}

    package func transportReceived(_ bytes: RawSpan) {
        guard !isOver else { return }
        guard var opening else { return receive(bytes) }
        unsafe bytes.withUnsafeBytes { unsafe opening.append(contentsOf: $0) }
        self.opening = opening
        guard let length = HTTP2RawFrame.length(opening) else { return }
        if opening[3] == HTTP2FrameType.goAway, length <= HTTP2RawFrame.headerBytes + HTTP2RawFrame.payloadLimit {
            guard opening.count >= length else { return }
            if let goAway = HTTP2RawFrame.parseGoAway(opening) {
                goAwayReceived(goAway.code, reason: goAway.debugData)
                return end(lastWords, politely: true)
            }
        }
        self.opening = nil
        unsafe receive(opening.span.bytes)
    }

    private func receive(_ bytes: RawSpan) {
        let code = session.receive(bytes)
        guard code == 0 else {
            return end(HTTPClientError(.protocolError, "\(peer) broke HTTP/2's rules (\(code))"))
        }
        pump()
    }

    package func transportReceivedEnd() {
        end(isGoingAwayByPeer ? lastWords : HTTPClientError(.closed, "\(peer) closed the connection"))
    }

    package func transportWritable() { pump() }

    package func transportClosed(_ reason: TransportClosure) {
        end(HTTPClientError(.closed, "\(peer): \(reason)"))
        closed.fire()
    }

    // MARK: What nghttp2 tells

    func settingsReceived() {
        let remote = unsafe nghttp2_session_get_remote_settings(
            session.pointer,
            NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS
        )
        limit.store(min(Int(remote), limits.streams), ordering: .relaxed)
        guard !hasSettings else { return }
        hasSettings = true
        deadlineTimer?.cancel()
        deadlineTimer = nil
        armDeadlineTimer()
        onSettings?.finish(.success(()))
        onSettings = nil
        if let patience = limits.idleTimeout { watchIdleness(until: loop.now + patience) }
    }

    func goAwayReceived(_ code: HTTP2ErrorCode, reason: [UInt8]) {
        isGoingAwayByPeer = true
        goingAway.store(true, ordering: .relaxed)
        published.withLock { published in
            published.goAwayCode = code
            // A later GOAWAY without a reason does not take away an earlier one's.
            if !reason.isEmpty || published.goAwayReason == nil { published.goAwayReason = reason }
        }
        // Streams above its last-stream-id are closed by nghttp2 after this call, as refused.
        failQueue("\(peer) is going away (\(code))", code)
    }

    func pingAnswered(_ number: UInt64) {
        pings.removeValue(forKey: number)?.finish(.success(()))
    }

    func streamClosed(_ exchange: HTTP2Exchange, _ code: HTTP2ErrorCode) {
        let last = open.removeLast()
        if last !== exchange {
            open[exchange.index] = last
            last.index = exchange.index
        }
        exchange.state = .detached
        openCount.store(open.count, ordering: .relaxed)
        lastUse = loop.now
        if !exchange.isFinished { exchange.finish(outcome(of: exchange, code)) }
        checkIdle()
    }

    // MARK: End

    private func failQueue(_ message: String, _ code: HTTP2ErrorCode? = nil) {
        let waiting = queue[queueHead...]
        queue = []
        queueHead = 0
        for exchange in waiting where !exchange.isFinished { refuse(exchange, message, code) }
    }

    private var lastWords: HTTPClientError {
        guard let code = goAwayCode else {
            return HTTPClientError(.protocolError, "\(peer) broke HTTP/2's rules")
        }
        return HTTPClientError(
            .closed,
            "\(peer) ended the connection (\(code))",
            http2ErrorCode: code,
            goAwayReason: goAwayReason
        )
    }

    private func checkIdle() {
        guard open.isEmpty, queueHead == queue.count, !onIdle.isEmpty else { return }
        for waiter in onIdle { waiter.finish(()) }
        onIdle = []
    }

    /// Ends the connection when it was without a request for its time. One timer, which is set anew only when it fires.
    private func watchIdleness(until time: MonotonicTime) {
        idleTimer = loop.schedule(at: time) { [weak self] in
            guard let self, !isOver, let patience = limits.idleTimeout else { return }
            let isIdle = open.isEmpty && queueHead == queue.count
            let next = (isIdle ? lastUse : loop.now) + patience
            if next > loop.now { return watchIdleness(until: next) }
            session.goAway(lastStream: 0, code: .noError)
            pump()
            end(HTTPClientError(.closed, "the connection to \(peer) was not used any more"), politely: true)
        }
    }

    /// The one way to the end: everything that waits is told.
    private func end(_ error: HTTPClientError, politely: Bool = false) {
        guard !isOver else { return }
        isOver = true
        goingAway.store(true, ordering: .relaxed)
        deadlineTimer?.cancel()
        deadlineTimer = nil
        idleTimer?.cancel()
        onEnd?()
        onEnd = nil
        onSettings?.finish(.failure(error))
        onSettings = nil
        failQueue(error.message)
        let exchanges = open
        open = []
        openCount.store(0, ordering: .relaxed)
        for exchange in exchanges {
            exchange.state = .detached
            exchange.finish(
                .failure(
                    exchange.wasSent
                        ? error
                        : HTTPClientError(
                            .notProcessed,
                            error.message,
                            http2ErrorCode: error.http2ErrorCode,
                            goAwayReason: error.goAwayReason
                        )
                )
            )
        }
        for ping in pings.values { ping.finish(.failure(error)) }
        pings = [:]
        checkIdle()
        if politely { transport.close() } else { transport.abort() }
    }
}
