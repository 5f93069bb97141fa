// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import ExactJSON
import ServiceRuntime

extension HTTP2ServerSession {
    /// What a pseudo header or field contributes to its request.
    func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, for stream: HTTP2ServerStream) {
        // RFC 9113 10.5.1: the size of a header list counts 32 bytes a field, which also bounds empty ones.
        stream.headerBytes += name.count + value.count + 32
        guard stream.phase == .head, stream.refusal == nil else { return }
        guard stream.headerBytes <= limits.headerBytes + 32 * limits.headerFields,
            stream.fields.count < limits.headerFields
        else {
            stream.refusal = Problem(
                .headerFieldsTooLarge,
                code: "header-fields-too-large",
                detail: "The header may have \(limits.headerFields) fields and \(limits.headerBytes) bytes."
            )
            return
        }
        guard let text = unsafe String(validating: value, as: UTF8.self) else {
            stream.refusal = .badRequest("A header field is not UTF-8.", code: "malformed-header")
            return
        }
        // nghttp2 has checked that each of the four comes at most once, before all fields, and that they are complete.
        if unsafe name.first == UInt8(ascii: ":") {
            switch name.count {
            case 7 where unsafe name[1] == UInt8(ascii: "m"): stream.method = text
            case 5: stream.target = text
            case 10: stream.authority = text
            default: break
            }
            return
        }
        unsafe stream.fields.appendTrusted(String(decoding: name, as: UTF8.self), text)
    }

    /// The header block is whole.
    func headCompleted(_ stream: HTTP2ServerStream, isLast: Bool) {
        stream.phase = .body
        stream.hasEnded = isLast
        if stream.refusal == nil { stream.refusal = checkTarget(stream) }
        if let problem = stream.refusal { return refuse(stream, problem) }
        guard let host else { return }
        let match = host.match(HTTPMethod(rawValue: stream.method), HTTPRequest.path(of: stream.target))
        stream.match = match
        // A route that does not exist needs no body to say so.
        if case .refused = match { return perform(stream) }
        if isLast { return perform(stream) }
        stream.bodyStartedAt = loop.now
        if match.gate != nil { stream.gate = .closed }
        expectDeadline(min(loop.now + limits.bodyGrace, stream.startedAt + limits.requestTimeout))
        let announced = stream.fields["content-length"].flatMap { Int($0) } ?? 0
        guard announced <= match.bodyLimit else { return refuse(stream, .contentTooLarge(limit: match.bodyLimit)) }
        // No more than may come before the gate and the budgets are asked.
        if announced > 0 { stream.body.reserveCapacity(min(announced, 16 * 1024)) }
        if "100-continue".isExactly(oneOf: stream.fields.tokens("expect")) {
            if stream.gate == .open { sendContinue(stream) } else { askGate(stream) }
        }
    }

    /// Asks whether the rest of a body may come; its window stays as it is meanwhile.
    private func askGate(_ stream: HTTP2ServerStream) {
        guard stream.gate == .closed, let gate = stream.match?.gate else { return }
        stream.gate = .asked
        host?.ask(gate, stream.fields, stream: stream.number)
    }

    func gateAnswered(_ problem: Problem?, for number: HTTPStreamNumber) {
        guard !isDead, let stream = stream(number), stream.gate == .asked, stream.phase == .body else { return }
        stream.gate = .open
        if let problem {
            refuse(stream, problem)
        } else {
            // The body's time begins anew: it was we who waited.
            restartBodyTime(of: stream)
            if stream.body.isEmpty, "100-continue".isExactly(oneOf: stream.fields.tokens("expect")) {
                sendContinue(stream)
            }
            releaseWindows()
        }
        pump()
    }

    private func checkTarget(_ stream: HTTP2ServerStream) -> Problem? {
        guard stream.method != "CONNECT" else {
            return Problem(.notImplemented, code: "no-tunnels", detail: "CONNECT is not served.")
        }
        guard !stream.target.isEmpty, stream.target.utf8.allSatisfy(HTTP1Bytes.isTarget),
            stream.target.utf8.first == UInt8(ascii: "/") || stream.target == "*" && stream.method == "OPTIONS"
        else { return .badRequest("The path is no request target.", code: "malformed-target") }
        if let authority = stream.authority {
            if let host = stream.fields["host"] {
                // Two names for one request: which one a reader believes must not matter (RFC 9113 8.3.1).
                guard host.isExactly(authority) else {
                    return .badRequest("Host and :authority differ.", code: "conflicting-host")
                }
            } else {
                stream.fields.append("host", authority)
            }
        }
        // As in HTTP/1.1, a request says once and well whom it is for (RFC 9113 8.3.1, RFC 9110 7.2).
        guard let host = stream.fields["host"], HTTP1ControlFields.isAuthority(host) else {
            return .badRequest("There has to be one :authority or Host, of host and port.", code: "malformed-request")
        }
        return nil
    }

    /// Body bytes came in.
    func bodyReceived(_ bytes: UnsafeBufferPointer<UInt8>, on stream: HTTP2ServerStream) {
        let count = bytes.count
        // The connection's window is always given back: one stream must not be able to hold up the others.
        unsafe nghttp2_session_consume_connection(session.pointer, count)
        guard stream.phase == .body, let match = stream.match else {
            // Dropped, but the window stays shut: the answer is on its way and the peer should stop.
            return
        }
        guard stream.body.count + count <= match.bodyLimit else {
            return refuse(stream, .contentTooLarge(limit: match.bodyLimit))
        }
        guard host?.holdBody(count) == true else { return refuse(stream, .bodiesTooLarge) }
        unsafe stream.body.append(contentsOf: bytes)
        if count > 0 { flood.forgive(.data) }
        bufferedBytes += count
        // What is here before the answer is bounded by the window.
        if stream.gate == .closed, stream.body.count > 16 * 1024 { askGate(stream) }
        if stream.gate != .asked, bufferedBytes <= limits.streamBufferBytes || isOldestUpload(stream) {
            unsafe nghttp2_session_consume_stream(session.pointer, stream.number, count)
        } else {
            stream.heldWindow += count
        }
    }

    /// The peer could send no more because of us; from now on it can.
    private func restartBodyTime(of stream: HTTP2ServerStream) {
        stream.bodyStartedAt = loop.now
        expectDeadline(min(loop.now + limits.bodyGrace, stream.startedAt + limits.requestTimeout))
    }

    /// Nobody waits for the handler any more, or it is done: what it has of the body holds up no upload.
    func forgetHandedOver(_ stream: HTTP2ServerStream) {
        bufferedBytes -= stream.handedOver
        stream.handedOver = 0
    }

    /// Forgets a body that is not needed.
    func dropBody(of stream: HTTP2ServerStream) {
        if stream.body.isEmpty { return }
        bufferedBytes -= stream.body.count
        host?.releaseBody(stream.body.count)
        stream.body = []
    }

    /// One upload always goes on, or all could wait for each other.
    private func isOldestUpload(_ stream: HTTP2ServerStream) -> Bool {
        !streams.contains { $0.phase == .body && $0.number < stream.number }
    }

    /// Gives held windows back when there is room, the oldest first.
    func releaseWindows() {
        while let oldest = streams.filter({ $0.heldWindow > 0 && $0.gate != .asked }).min(by: { $0.number < $1.number })
        {
            guard bufferedBytes <= limits.streamBufferBytes || isOldestUpload(oldest) else { return }
            unsafe nghttp2_session_consume_stream(session.pointer, oldest.number, oldest.heldWindow)
            oldest.heldWindow = 0
            if oldest.phase == .body { restartBodyTime(of: oldest) }
        }
    }

    /// The body is whole.
    func requestCompleted(_ stream: HTTP2ServerStream) {
        stream.hasEnded = true
        if stream.phase == .body { perform(stream) }
    }

    /// Starts the handler, or puts the request off while too many answers wait for this peer.
    private func perform(_ stream: HTTP2ServerStream) {
        guard pendingBytes + transport.queuedBytes <= limits.responseQueueBytes else {
            stream.phase = .deferred
            deferredStreams += 1
            expectDeadline(stream.startedAt + limits.requestTimeout)
            return
        }
        stream.phase = .handling
        // The peer will hear that it is not processed, and nghttp2 closes it then.
        guard stream.number <= lastServedStream else { return }
        guard let match = stream.match, let host else { return }
        expectDeadline(stream.startedAt + limits.requestTimeout)
        let request = HTTPRequest(
            method: HTTPMethod(rawValue: stream.method),
            target: stream.target,
            headers: stream.fields,
            body: stream.body,
            version: .http2
        )
        stream.requestIdentifier = request.identifier
        // It goes on being counted, until its handler is done with it.
        stream.handedOver = stream.body.count
        stream.body = []
        stream.fields = HTTPFields()
        stream.match = nil
        if deferredWindows { releaseWindows() }
        if let control, !obey(control, request, stream) {
            host.releaseBody(stream.handedOver)
            return
        }
        host.perform(request, match, stream: stream.number)
    }

    private var deferredWindows: Bool { streams.contains { $0.heldWindow > 0 } }

    /// Starts what `perform` put off.
    func startDeferred() {
        guard deferredStreams > 0 else { return }
        for stream in streams.filter({ $0.phase == .deferred }).sorted(by: { $0.number < $1.number }) {
            guard pendingBytes + transport.queuedBytes <= limits.responseQueueBytes else { return }
            deferredStreams -= 1
            perform(stream)
        }
    }

    /// Answers without a handler.
    func refuse(_ stream: HTTP2ServerStream, _ problem: Problem) {
        dropBody(of: stream)
        if stream.requestIdentifier.isEmpty { stream.requestIdentifier = RequestIdentifier.of(stream.fields) }
        host?.note(problem)
        send(problem.response(requestIdentifier: stream.requestIdentifier), on: stream)
    }

    // MARK: Responses

    /// Submits a response. The body goes out as windows and the transport allow.
    func send(_ response: HTTPResponse, on stream: HTTP2ServerStream) {
        let isHead = stream.method == "HEAD"
        stream.phase = .answering
        if stream.handedOver > 0 {
            forgetHandedOver(stream)
            if deferredWindows { releaseWindows() }
        }
        stream.answeredAt = loop.now
        stream.lastProgress = loop.now
        stream.fields = HTTPFields()
        expectDeadline(loop.now + limits.writeTimeout)
        let buffers = transport.buffers
        buffers.headerBlock.removeAll()
        buffers.headerBlock.append(":status", String(response.status.code))
        for field in response.headers where !Self.isFraming(field.name) {
            buffers.headerBlock.append(field.name, field.value)
        }
        buffers.headerBlock.append("date", buffers.httpDate)
        if !stream.requestIdentifier.isEmpty {
            // It never comes again and would only push out of the table what does.
            buffers.headerBlock.append("request-id", stream.requestIdentifier, neverIndex: true)
        }
        if !response.status.forbidsBody {
            buffers.headerBlock.append("content-length", String(response.body.count))
        }
        let hasBody = !isHead && !response.status.forbidsBody && !response.body.isEmpty
        if hasBody {
            stream.setResponseBody(response.body)
            pendingBytes += stream.remaining
        }
        let number = stream.number
        let code = unsafe buffers.headerBlock.withFields { fields, count in
            guard hasBody else { return unsafe nghttp2_submit_response(session.pointer, number, fields, count, nil) }
            var provider = unsafe nghttp2_data_provider(
                source: nghttp2_data_source(ptr: Unmanaged.passUnretained(stream).toOpaque()),
                read_callback: Self.readBody
            )
            return unsafe nghttp2_submit_response(session.pointer, number, fields, count, &provider)
        }
        if code != 0 { session.reset(number, .internalError) }
    }

    private func sendContinue(_ stream: HTTP2ServerStream) {
        let buffers = transport.buffers
        buffers.headerBlock.removeAll()
        buffers.headerBlock.append(":status", "100")
        _ = unsafe buffers.headerBlock.withFields { fields, count in
            unsafe nghttp2_submit_headers(
                session.pointer,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                stream.number,
                nil,
                fields,
                count,
                nil
            )
        }
    }

    /// Fields that the engine writes itself or that HTTP/2 forbids (RFC 9113 8.2.2).
    private static func isFraming(_ name: String) -> Bool {
        switch name {
        case "connection", "content-length", "date", "keep-alive", "proxy-connection", "request-id",
            "transfer-encoding", "upgrade":
            true
        default: false
        }
    }
}
