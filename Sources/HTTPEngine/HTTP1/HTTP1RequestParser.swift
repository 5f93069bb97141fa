// SPDX-License-Identifier: Apache-2.0

/// Reads HTTP/1.x requests from bytes (RFC 9112), strictly.
///
/// A pure state machine: bytes in with `feed`, events out with `next`. The same bytes give the same events however they are
/// split. What follows a request stays in the buffer until `next` is called again, which is how one request at a time is in
/// work on a connection while its peer may pipeline more.
package struct HTTP1RequestParser: Sendable {
    private enum State: Sendable {
        case requestLine
        case fields
        case body
        case failed
    }

    /// The most bytes that the body of the request at hand may have. Set at its head, when the route is known.
    package var bodyLimit: Int

    private let limits: HTTPLimits
    private let initialBodyLimit: Int
    private var buffer = HTTP1Buffer()
    private var state = State.requestLine
    private var headerBudget: Int
    private var mayHaveEmptyLine = true
    private var method = HTTPMethod.get
    private var target = ""
    private var authority: String?
    private var version = HTTPVersion.http11
    private var fields = HTTPFields()
    private var control = HTTP1ControlFields()
    private var body: HTTP1BodyDecoder

    /// - Parameter bodyLimit: of every request until its owner sets another at the head.
    package init(limits: HTTPLimits = .init(), bodyLimit: Int = .max) {
        self.limits = limits
        self.bodyLimit = bodyLimit
        initialBodyLimit = bodyLimit
        headerBudget = limits.headerBytes
        body = HTTP1BodyDecoder(.none, limits: limits)
    }

    /// Adds bytes that came in.
    package mutating func feed(_ bytes: RawSpan) { buffer.append(bytes) }
    /// Adds bytes that came in.
    package mutating func feed(_ bytes: some Collection<UInt8>) { buffer.append(bytes) }

    /// How many bytes wait to be looked at.
    package var bufferedCount: Int { buffer.count }
    /// Whether a request has begun and is not complete. An end of input then cuts it off.
    package var isInsideRequest: Bool {
        switch state {
        case .requestLine: !buffer.isEmpty
        case .fields, .body: true
        case .failed: false
        }
    }
    /// Whether a request's header is complete and its body is not.
    package var isInsideBody: Bool { if case .body = state { true } else { false } }

    /// The next event, or nil when more bytes are needed.
    package mutating func next() -> HTTP1RequestEvent? {
        do {
            return try step()
        } catch {
            state = .failed
            return .failed(error)
        }
    }

    private mutating func step() throws(HTTP1Fault) -> HTTP1RequestEvent? {
        while true {
            switch state {
            case .failed: return nil
            case .requestLine:
                guard let first = buffer.first else { return nil }
                if !HTTP1Bytes.isToken(first), !(first == HTTP1Bytes.carriageReturn && mayHaveEmptyLine) {
                    throw HTTP1Fault("The request line does not begin with a method.")
                }
                guard let line = try buffer.headerLine(&headerBudget) else { return nil }
                if line.isEmpty, mayHaveEmptyLine {
                    // RFC 9112 2.2: clients of old send one CR LF too many after a body.
                    mayHaveEmptyLine = false
                    continue
                }
                try requestLine(line)
                state = .fields
            case .fields:
                guard let line = try buffer.headerLine(&headerBudget) else { return nil }
                if line.isEmpty { return .head(try finishHead()) }
                guard fields.count < limits.headerFields else { throw .tooManyFields }
                let (name, value) = try buffer.field(line)
                try control.note(name, value)
                fields.appendTrusted(name, value)
            case .body:
                switch try body.next(&buffer, limit: bodyLimit) {
                case nil: return nil
                case .bytes(let bytes): return .body(bytes)
                case .end:
                    reset()
                    return .end
                }
            }
        }
    }

    private mutating func reset() {
        state = .requestLine
        headerBudget = limits.headerBytes
        bodyLimit = initialBodyLimit
        mayHaveEmptyLine = true
        authority = nil
    }

    // MARK: Request line

    private mutating func requestLine(_ line: Range<Int>) throws(HTTP1Fault) {
        var index = line.lowerBound
        while index < line.upperBound, HTTP1Bytes.isToken(buffer[index]) { index += 1 }
        guard index > line.lowerBound, index - line.lowerBound <= 32, index < line.upperBound,
            buffer[index] == UInt8(ascii: " ")
        else { throw HTTP1Fault("The request line does not begin with a method and one space.") }
        let isGet = index - line.lowerBound == 3 && buffer.matches("GET", at: line.lowerBound, within: line)
        method = isGet ? .get : HTTPMethod(rawValue: buffer.asciiText(line.lowerBound..<index))
        let targetStart = index + 1
        index = targetStart
        while index < line.upperBound, HTTP1Bytes.isTarget(buffer[index]) { index += 1 }
        guard index > targetStart, index < line.upperBound, buffer[index] == UInt8(ascii: " ") else {
            throw HTTP1Fault.target("The request target is missing or has a character that must be percent-encoded.")
        }
        try version(index + 1, line)
        try target(targetStart..<index)
    }

    private mutating func version(_ index: Int, _ line: Range<Int>) throws(HTTP1Fault) {
        guard line.upperBound - index == 8, buffer.matches("HTTP/", at: index, within: line),
            HTTP1Bytes.isDigit(buffer[index + 5]), buffer[index + 6] == UInt8(ascii: "."),
            HTTP1Bytes.isDigit(buffer[index + 7])
        else { throw HTTP1Fault("The request line does not end in an HTTP version.") }
        guard buffer[index + 5] == UInt8(ascii: "1") else {
            throw HTTP1Fault(
                .versionNotSupported,
                code: "version-not-supported",
                "This is an HTTP/1.1 connection."
            )
        }
        version = buffer[index + 7] == UInt8(ascii: "0") ? .http10 : .http11
    }

    /// RFC 9112 3.2. CONNECT's form is refused with the method: what follows a tunnel's request is not HTTP.
    private mutating func target(_ range: Range<Int>) throws(HTTP1Fault) {
        guard method != .connect else {
            throw HTTP1Fault(.notImplemented, code: "no-tunnels", "This server makes no tunnels.")
        }
        let first = buffer[range.lowerBound]
        if first == UInt8(ascii: "/") {
            target = buffer.asciiText(range)
        } else if first == UInt8(ascii: "*"), range.count == 1, method == .options {
            target = "*"
        } else {
            try absoluteTarget(buffer.text(range))
        }
    }

    private mutating func absoluteTarget(_ text: String) throws(HTTP1Fault) {
        let lower = text.prefix(8).lowercased()
        // short: a request target is ASCII.
        let scheme = lower.hasPrefix("http://") ? 7 : lower == "https://" ? 8 : 0
        guard scheme > 0 else {
            throw HTTP1Fault.target("The request target is neither a path nor an http or https URL.")
        }
        let rest = text.utf8.dropFirst(scheme)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let host = String(Substring(rest[..<end]))
        guard HTTP1ControlFields.isAuthority(host) else {
            throw HTTP1Fault.target("The request target's host is not a host with an optional port.")
        }
        authority = host
        let path = String(Substring(rest[end...]))
        if path.isEmpty {
            target = method == .options ? "*" : "/"
        } else {
            target = path.utf8.first == UInt8(ascii: "/") ? path : "/" + path
        }
    }

    // MARK: Header

    private mutating func finishHead() throws(HTTP1Fault) -> HTTP1RequestHead {
        if control.host == nil, version == .http11 { throw HTTP1Fault("There is no Host field.") }
        let framing = try control.requestFraming(version)
        if let authority { fields["host"] = authority }
        // Handed on, not copied: each text in them would be counted up here, and down again with the next request.
        var head = HTTP1RequestHead(
            method: .get,
            target: "",
            version: version,
            fields: HTTPFields(),
            framing: framing,
            keepsAlive: control.keepsAlive(version),
            expectsContinue: control.expectsContinue && version == .http11 && framing != .none
        )
        swap(&head.method, &method)
        swap(&head.target, &target)
        swap(&head.fields, &fields)
        control = HTTP1ControlFields()
        body = HTTP1BodyDecoder(framing, limits: limits)
        state = .body
        return head
    }
}
