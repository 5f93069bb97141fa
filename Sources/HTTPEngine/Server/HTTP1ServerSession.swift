// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// HTTP/1.1 on one accepted connection: one request at a time; what the client sends ahead waits in the buffer.
final class HTTP1ServerSession: HTTPServerSession {
    /// Every exchange has the same number: there is one at a time.
    private static let stream: HTTPStreamNumber = 1

    /// What the answer to a request has to know of it.
    private struct Answering {
        var isHead = false
        var version = HTTPVersion.http11
        var keepsAlive = false
        var expectsContinue = false
    }

    private enum Phase {
        /// Between requests, since then.
        case idle(since: MonotonicTime)
        /// A request's header is coming in.
        case header(since: MonotonicTime)
        /// Its body is.
        case body(since: MonotonicTime)
        /// A handler works on it.
        case handling
        /// The last answer is on its way; nothing more is read.
        case closing
    }

    private let transport: SocketTransport
    /// Lets go of the session when the connection ends.
    private let host: any HTTPServerSessionHost
    private let shard: ServerShard
    private var limits: HTTPLimits { self.shard.limits }
    /// Pure: no call on it can meet another, so the runtime need not look.
    @safe @exclusivity(unchecked) private var parser: HTTP1RequestParser
    private var phase: Phase
    /// The request whose body is coming in, and what its head led to; both move on to the host when it is whole.
    private var request: HTTPRequest?
    private var match: RouteMatch?
    private var body: [UInt8] = []
    private var bodyBytes = 0
    /// Of the request that is being read or answered.
    private var answering: Answering?
    private var requestIdentifier = ""
    private enum Gate { case closed, asked, open }
    /// Whether the rest of the body at hand may come.
    private var gate = Gate.open
    private var isShuttingDown = false
    /// Until when a connection that is to end is kept for a request that its client may just be sending.
    private var idleEnd = MonotonicTime.distantFuture
    private var hasPeerEnded = false
    private var isAdvancing = false
    /// When the request's first byte came.
    private var requestBegan: MonotonicTime?

    /// - Parameter began: when the connection did: bytes that came before its protocol was known win no time.
    init(transport: SocketTransport, host: any HTTPServerSessionHost, shard: ServerShard, began: MonotonicTime) {
        self.transport = transport
        self.host = host
        self.shard = shard
        self.parser = HTTP1RequestParser(limits: shard.limits, bodyLimit: 0)
        // The first header's time runs from the connection's start: a client that says nothing is no keep-alive.
        self.phase = .header(since: began)
    }

    func start() {
        if case .header(let since) = self.phase { self.host.expectDeadline(at: since + self.limits.headerTimeout) }
    }

    func received(_ bytes: RawSpan) {
        if case .closing = self.phase { return }
        self.parser.feed(bytes)
        let now = self.shard.loop.now
        if self.requestBegan == nil { self.requestBegan = now }
        if case .idle = self.phase {
            self.phase = .header(since: now)
            self.host.expectDeadline(at: Self.time(now, self.shard.nanoseconds.header))
        }
        self.advance()
        // A client that sends ahead without end is held up by TCP, not by our memory.
        if case .handling = self.phase, self.parser.bufferedCount > self.limits.headerBytes {
            self.transport.pauseReading()
        }
    }

    func receivedEnd() {
        self.hasPeerEnded = true
        switch self.phase {
        // What was pipelined before the end is still answered.
        case .handling, .closing: break
        default: if !self.transport.isAboveHighWater { self.transport.close() }
        }
    }

    func writable() {
        // A request that had to wait for room loses no time by it.
        if case .header = self.phase { self.requestBegan = self.shard.loop.now }
        if self.gate != .asked { self.transport.resumeReading() }
        self.advance()
    }

    func shutdown() {
        self.isShuttingDown = true
        // In HTTP/1.1 only an answer can say that it is the last: a client that has not heard so may send at any moment.
        self.idleEnd = self.shard.loop.now + self.limits.drainIdleTimeout
        if self.isWithoutRequest { self.host.expectDeadline(at: self.idleEnd) }
    }

    /// Whether not one byte of a request is here: nobody is known to wait.
    private var isWithoutRequest: Bool {
        switch self.phase {
        case .idle: true
        case .header: !self.parser.isInsideRequest
        case .body, .handling, .closing: false
        }
    }

    // MARK: Requests

    /// Takes events from the parser until a request is whole or bytes are missing.
    private func advance() {
        // A handler that answers at once would otherwise come back here from inside the loop below.
        if self.isAdvancing { return }
        self.isAdvancing = true
        defer { self.isAdvancing = false }
        while true {
            switch self.phase {
            case .handling, .closing: return
            default: break
            }
            if self.transport.isAboveHighWater {
                // Its last answers are not taken yet: no further request is looked at.
                self.transport.pauseReading()
                return
            }
            guard let event = self.parser.next() else {
                // The rest of what is missing will not come.
                if self.hasPeerEnded { self.transport.close() } else { self.askGate() }
                return
            }
            switch consume event {
            case .head(let head): self.take(head)
            case .body(let bytes):
                guard self.host.holdBody(bytes.count) else { return self.answerAndClose(.bodiesTooLarge) }
                self.bodyBytes += bytes.count
                self.body += bytes
            case .end: self.bodyEnded()
            case .failed(let fault): self.refuse(fault)
            }
        }
    }

    /// Asks whether the rest of a body may come, and reads nothing meanwhile.
    private func askGate() {
        guard self.gate == .closed, case .body = self.phase, let request = self.request, let gate = self.match?.gate
        else { return }
        self.gate = .asked
        self.transport.pauseReading()
        self.host.ask(gate, request.headers, stream: Self.stream)
    }

    func gateAnswered(_ problem: Problem?, for stream: HTTPStreamNumber) {
        guard self.gate == .asked, case .body = self.phase else { return }
        self.gate = .open
        if let problem { return self.answerAndClose(problem) }
        // The body's time begins anew: it was we who waited.
        let now = self.shard.loop.now
        self.phase = .body(since: now)
        self.host.expectDeadline(at: min(now + self.limits.bodyGrace, self.requestEnd))
        if self.answering?.expectsContinue == true, self.bodyBytes == 0 {
            self.transport.write(HTTP1ResponseEncoder.continue)
        }
        self.transport.resumeReading()
    }

    private func take(_ head: consuming HTTP1RequestHead) {
        let framing = head.framing
        let expectsContinue = head.expectsContinue
        self.answering = Answering(
            isHead: head.method == .head,
            version: head.version,
            keepsAlive: head.keepsAlive,
            expectsContinue: expectsContinue
        )
        let identifier = RequestIdentifier.of(head.fields)
        self.requestIdentifier = identifier
        let path = HTTPRequest.path(of: head.target)
        let match = self.host.match(head.method, path)
        let request = HTTPRequest(
            method: head.method,
            target: head.target,
            path: path,
            headers: head.fields,
            version: head.version,
            identifier: identifier
        )
        if case .none = framing {
            // Most requests have no body, and never become a part of the session.
            guard case .end? = self.parser.next() else { preconditionFailure("no body, and yet no end") }
            return self.perform(request, match)
        }
        let now = self.shard.loop.now
        let bodyLimit = match.bodyLimit
        self.parser.bodyLimit = bodyLimit
        self.gate = match.gate == nil ? .open : .closed
        self.request = request
        self.match = match
        self.body = []
        self.bodyBytes = 0
        self.phase = .body(since: now)
        // The refusal of a route needs no body to say so, and what is not read can't be followed by another request.
        if case .refused(let problem) = self.match { return self.answerAndClose(problem) }
        // Nor is a body asked for that is announced to be too large: the parser refuses it next.
        if case .length(let count) = framing, count > bodyLimit { return }
        if expectsContinue, self.gate == .open { self.transport.write(HTTP1ResponseEncoder.continue) }
        self.host.expectDeadline(at: min(now + self.limits.bodyGrace, self.requestEnd))
    }

    /// The body is whole.
    private func bodyEnded() {
        self.request?.body = self.body
        // It goes on being counted, until its handler is done with it.
        self.body = []
        guard let request = self.request.take(), let match = self.match.take() else { return }
        self.perform(request, match)
    }

    private func perform(_ request: consuming HTTPRequest, _ match: consuming RouteMatch) {
        self.phase = .handling
        self.gate = .open
        self.host.expectDeadline(at: self.requestEnd)
        self.host.perform(request, match, stream: Self.stream)
    }

    func respond(_ response: HTTPResponse, to stream: HTTPStreamNumber) {
        guard case .handling = self.phase, let answering = self.answering else { return }
        let isLast = self.isShuttingDown || self.hasPeerEnded && !self.parser.isInsideRequest
        let keepsAlive = answering.keepsAlive && !isLast
        self.write(response, to: answering, keepsAlive: keepsAlive)
        self.answering = nil
        self.requestIdentifier = ""
        if keepsAlive {
            let now = self.shard.loop.now
            let isInside = self.parser.isInsideRequest
            self.requestBegan = isInside ? now : nil
            self.phase = isInside ? .header(since: now) : .idle(since: now)
            let times = self.shard.nanoseconds
            self.host.expectDeadline(at: Self.time(now, isInside ? times.header : times.idle))
            self.transport.resumeReading()
            self.advance()
        } else {
            self.phase = .closing
            self.transport.close()
        }
    }

    private func write(_ response: HTTPResponse, to request: Answering, keepsAlive: Bool) {
        let dateLine = self.shard.dateLine
        self.transport.gather { out in
            HTTP1ResponseEncoder.append(
                response.status,
                response.headers,
                bodyCount: response.body.count,
                keepsAlive: keepsAlive,
                version: request.version,
                dateLine: dateLine,
                requestIdentifier: self.requestIdentifier,
                to: &out
            )
        }
        guard !request.isHead, !response.status.forbidsBody else { return }
        switch response.body {
        case .empty: break
        case .bytes(let body): self.transport.write(body)
        case .chunks(let chunks): self.transport.write(chunks)
        }
    }

    /// Answers what is not a request, and closes: where the next one would begin is not known.
    private func refuse(_ fault: HTTP1Fault) {
        self.answerAndClose(Problem(fault.status, code: fault.code, detail: fault.reason))
    }

    private func dropBody() {
        if self.body.isEmpty { return }
        self.host.releaseBody(self.body.count)
        self.body = []
    }

    private func answerAndClose(_ problem: Problem) {
        self.dropBody()
        if self.requestIdentifier.isEmpty { self.requestIdentifier = RequestIdentifier.of(.init()) }
        self.write(
            problem.response(requestIdentifier: self.requestIdentifier),
            to: self.answering ?? Answering(),
            keepsAlive: false
        )
        self.host.note(problem)
        self.phase = .closing
        self.transport.close()
    }

    // MARK: Deadlines

    /// When the whole request has had its time.
    private var requestEnd: MonotonicTime {
        Self.time(self.requestBegan ?? self.shard.loop.now, self.shard.nanoseconds.request)
    }

    private static func time(_ start: MonotonicTime, _ nanoseconds: Int64) -> MonotonicTime {
        let (sum, overflow) = start.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }

    func checkDeadlines(_ now: MonotonicTime) -> MonotonicTime {
        if now >= self.idleEnd, self.isWithoutRequest {
            // What the kernel holds by now came in time.
            self.transport.receivePending()
            if self.isWithoutRequest {
                self.transport.close()
                return .distantFuture
            }
        }
        switch self.phase {
        case .closing: return .distantFuture
        case .idle(let since):
            let end = min(since + self.limits.idleTimeout, self.idleEnd)
            if now < end { return end }
            self.transport.close()
        case .header(let since):
            let end = since + self.limits.headerTimeout
            if now < end { return self.isWithoutRequest ? min(end, self.idleEnd) : end }
            if self.transport.isAboveHighWater {
                // The request may be here, unread: it waits for room, and the write timeout is the clock meanwhile.
                self.phase = .header(since: now)
                return now + self.limits.headerTimeout
            }
            if self.parser.isInsideRequest {
                self.answerAndClose(
                    Problem(.requestTimeout, code: "header-timeout", detail: "The header did not come in time.")
                )
            } else {
                self.transport.close()
            }
        case .body(let since):
            let end = self.requestEnd
            if self.gate == .asked {
                // Not the client's fault: we have not yet said that the body may come.
                if now < end { return end }
                return self.endOverdue()
            }
            let grace = since + self.limits.bodyGrace
            let seconds = (now - since).inSeconds
            let isTooSlow = now >= grace && Double(self.bodyBytes) < seconds * Double(self.limits.minimumBodyRate)
            if now < end, !isTooSlow { return min(end, max(grace, now + .seconds(1))) }
            self.answerAndClose(
                Problem(.requestTimeout, code: "body-timeout", detail: "The body did not come in time.")
            )
        case .handling:
            let end = self.requestEnd
            if now < end { return end }
            self.host.abandon(stream: Self.stream)
            return self.endOverdue()
        }
        return .distantFuture
    }

    /// Says that we took too long.
    private func endOverdue() -> MonotonicTime {
        self.answerAndClose(.serviceUnavailable("The request took too long.", code: "request-timeout"))
        return .distantFuture
    }
}
