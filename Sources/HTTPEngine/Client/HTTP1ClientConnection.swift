// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// One client connection that speaks HTTP/1.1, one request at a time.
final class HTTP1ClientConnection: SocketTransportDelegate, @unchecked Sendable {
    // Sendable by rule: touched on the transport's loop only.

    private typealias Outcome = Result<HTTPClientResponse, HTTPClientError>

    private let transport: SocketTransport
    private let peer: String
    private var parser: HTTP1ResponseParser
    private var outcome: OneShot<Outcome>?
    private var head: HTTP1ResponseHead?
    private var body: [UInt8] = []
    private var timer: ServiceRuntime.Timer?
    /// Whether a byte of an answer has come: before that, nothing was answered.
    private var hasAnswerBegun = false
    private var keepsAlive = true
    private(set) var isOpen = true
    /// When the last answer was complete.
    private(set) var idleSince: MonotonicTime

    /// Takes over a connected transport; on the loop.
    init(_ transport: SocketTransport, peer: String) {
        self.transport = transport
        self.peer = peer
        self.parser = HTTP1ResponseParser()
        self.idleSince = MonotonicTime.now()
        transport.adopt(self)
    }

    /// Whether another request may be sent on it.
    var isReusable: Bool { self.isOpen && self.keepsAlive && self.outcome == nil && self.transport.isOpen }

    /// Sends a request and waits for the whole answer. On the loop.
    func send(_ request: HTTPClientRequest, deadline: MonotonicTime) async throws(HTTPClientError) -> HTTPClientResponse
    {
        guard self.isReusable else {
            throw HTTPClientError(.notProcessed, "the connection to \(self.peer) had ended before the request")
        }
        let outcome = OneShot<Outcome>()
        self.outcome = outcome
        self.head = nil
        self.body = []
        self.hasAnswerBegun = false
        self.parser.method = request.method
        self.parser.bodyLimit = request.responseLimit
        self.timer = self.transport.loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            self.end(HTTPClientError(.timeout, "\(self.peer) did not answer in time"))
        }
        self.transport.write(Self.encode(request))
        if !request.body.isEmpty { self.transport.write(request.body) }
        let loop = self.transport.loop
        return try await outcome.value { [self] in
            loop.execute { self.end(HTTPClientError(.cancelled, "the request was cancelled")) }
        }.get()
    }

    /// Ends the connection.
    func close() {
        self.isOpen = false
        self.transport.abort()
    }

    private static func encode(_ request: HTTPClientRequest) -> [UInt8] {
        var text = "\(request.method.rawValue) \(request.target) HTTP/1.1\r\nhost: \(request.origin.authority)\r\n"
        for field in request.headers
        where !["host", "content-length", "transfer-encoding", "connection"].contains(field.name) {
            text += "\(field.name): \(field.value)\r\n"
        }
        if !request.body.isEmpty || [.post, .put, .patch].contains(request.method) {
            text += "content-length: \(request.body.count)\r\n"
        }
        return Array((text + "\r\n").utf8)
    }

    // MARK: SocketTransportDelegate

    func transportReady() {}

    func transportReceived(_ bytes: RawSpan) {
        self.parser.feed(bytes)
        guard self.outcome != nil else {
            // A server that speaks unasked: what comes next would be taken for the answer to the next request.
            self.close()
            return
        }
        self.hasAnswerBegun = true
        while self.outcome != nil, let event = self.parser.next() { self.take(event) }
    }

    private func take(_ event: HTTP1ResponseEvent) {
        switch event {
        case .head(let head): self.head = head
        case .body(let bytes): self.body += bytes
        case .end: self.complete()
        case .failed(let fault):
            let code: HTTPClientError.Code = fault.status == .contentTooLarge ? .tooLarge : .protocolError
            self.end(HTTPClientError(code, "\(self.peer): \(fault.reason)"))
        }
    }

    private func complete() {
        guard let head = self.head, let outcome = self.outcome else { return }
        self.outcome = nil
        self.timer?.cancel()
        self.keepsAlive = head.keepsAlive && self.parser.bufferedCount == 0
        self.idleSince = MonotonicTime.now()
        outcome.finish(
            .success(HTTPClientResponse(head.status, headers: head.fields, body: self.body, version: head.version))
        )
        self.body = []
        if !self.keepsAlive { self.close() }
    }

    func transportReceivedEnd() {
        // A body without a length ends with the connection (RFC 9112 6.3).
        if self.outcome != nil, self.head != nil, let event = self.parser.endOfInput() { self.take(event) }
        self.end(HTTPClientError(self.hasAnswerBegun ? .closed : .notProcessed, "\(self.peer) closed the connection"))
    }

    func transportWritable() {}

    func transportClosed(_ reason: TransportClosure) {
        self.isOpen = false
        self.end(HTTPClientError(self.hasAnswerBegun ? .closed : .notProcessed, "\(self.peer): \(reason)"))
    }

    private func end(_ error: HTTPClientError) {
        self.timer?.cancel()
        self.timer = nil
        self.isOpen = false
        let outcome = self.outcome
        self.outcome = nil
        outcome?.finish(.failure(error))
        self.transport.abort()
    }
}
