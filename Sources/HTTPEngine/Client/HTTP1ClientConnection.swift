// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// One HTTP/1.1 connection to a server: one request at a time, again and again while the server allows. Loop-confined.
@safe
final class HTTP1ClientConnection: SocketTransportDelegate, @unchecked Sendable {
    // Sendable by rule: touched on the loop only.

    /// How a request ended that got no answer.
    struct Failure: Error {
        let error: HTTPClientError
        /// Whether not one byte of an answer had come: the connection may have been dead before the request went out.
        let isUnanswered: Bool
    }

    let transport: SocketTransport
    let loop: EventLoop
    private let peer: String
    private var parser: HTTP1ResponseParser
    private var continuation: UnsafeContinuation<Result<HTTPClientResponse, Failure>, Never>?
    private var deadlineTimer: ServiceRuntime.Timer?
    private var head: HTTP1ResponseHead?
    private var body: [UInt8] = []
    private var hasAnswer = false
    /// Counts requests.
    private var number = 0
    /// Whether it can take a request.
    private(set) var isReusable = true
    /// Told when it ends while nobody uses it.
    var onIdleEnd: (() -> Void)?
    /// Closes it when it has been idle for long.
    var idleTimer: ServiceRuntime.Timer?
    /// Whether it has served a request before: only then can the server have ended it unnoticed.
    private(set) var hasServed = false

    init(_ transport: SocketTransport, peer: String, limits: HTTPLimits) {
        self.transport = transport
        self.peer = peer
        loop = transport.loop
        parser = HTTP1ResponseParser(limits: limits)
    }

    /// Sends a request and waits for the whole answer.
    func send(
        _ request: HTTPClientRequest,
        deadline: MonotonicTime
    ) async -> Result<HTTPClientResponse, Failure> {
        guard let bytes = request.http1Head else {
            return .failure(
                Failure(
                    error: HTTPClientError(.protocolError, "method, path or host cannot be sent in HTTP/1.1"),
                    isUnanswered: false
                )
            )
        }
        number += 1
        let number = number
        return await withTaskCancellationHandler {
            await unsafe withUnsafeContinuation { continuation in
                unsafe self.continuation = continuation
                begin(request, bytes, deadline)
            }
        } onCancel: {
            loop.execute { [self] in
                // The answer may have come first, and the connection may serve another by now.
                if self.number == number, unsafe continuation != nil { fail(.cancelled, "the request was cancelled") }
            }
        }
    }

    private func begin(_ request: HTTPClientRequest, _ bytes: [UInt8], _ deadline: MonotonicTime) {
        guard isReusable else { return fail(.closed, "\(peer) closed the connection") }
        parser.method = request.method
        parser.bodyLimit = request.responseLimit
        head = nil
        body = []
        hasAnswer = false
        deadlineTimer = loop.schedule(at: deadline) { [self] in
            deadlineTimer = nil
            fail(.timeout, "\(peer) did not answer in time")
        }
        transport.write(bytes)
        transport.write(request.body)
        transport.flush()
    }

    /// Ends it. A request under way fails.
    func close() { fail(.closed, "the connection to \(peer) was closed here") }

    // MARK: Transport

    func transportReady() {}
    func transportWritable() {}

    func transportReceived(_ bytes: RawSpan) {
        // Whoever speaks unasked is not to be trusted with the next request.
        guard unsafe continuation != nil else { return fail(.protocolError, "\(peer) spoke unasked") }
        hasAnswer = true
        parser.feed(bytes)
        readEvents()
    }

    private func readEvents() {
        while unsafe continuation != nil, let event = parser.next() {
            switch event {
            case .head(let head): self.head = head
            case .body(let bytes): body.isEmpty ? body = bytes : body.append(contentsOf: bytes)
            case .end: complete()
            case .failed(let fault):
                let isTooLarge = fault.status == .contentTooLarge || fault.status == .headerFieldsTooLarge
                fail(isTooLarge ? .tooLarge : .protocolError, "\(peer): \(fault)")
            }
        }
    }

    private func complete() {
        guard let head else { return }
        let response = HTTPClientResponse(head.status, headers: head.fields, body: body, version: head.version)
        body = []
        hasServed = true
        // Bytes after the answer belong to nothing.
        if !head.keepsAlive || parser.bufferedCount > 0 || !transport.isOpen {
            isReusable = false
            transport.close()
        }
        finish(.success(response))
    }

    func transportReceivedEnd() {
        if unsafe continuation != nil, head != nil, case .end = parser.endOfInput() {
            isReusable = false
            complete()
        }
        fail(.closed, "\(peer) closed the connection")
    }

    func transportClosed(_ reason: TransportClosure) { fail(.closed, "\(peer): \(reason)") }

    // MARK: End

    private func fail(_ code: HTTPClientError.Code, _ message: String) {
        isReusable = false
        transport.abort()
        idleTimer?.cancel()
        idleTimer = nil
        let onIdleEnd = onIdleEnd
        self.onIdleEnd = nil
        onIdleEnd?()
        finish(.failure(Failure(error: HTTPClientError(code, message), isUnanswered: !hasAnswer)))
    }

    private func finish(_ result: Result<HTTPClientResponse, Failure>) {
        deadlineTimer?.cancel()
        deadlineTimer = nil
        let continuation = unsafe continuation
        unsafe self.continuation = nil
        unsafe continuation?.resume(returning: result)
    }
}
