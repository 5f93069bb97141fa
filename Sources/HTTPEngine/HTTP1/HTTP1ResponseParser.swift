// SPDX-License-Identifier: Apache-2.0

/// A response's first part.
package struct HTTP1ResponseHead: Hashable, Sendable {
    /// The final status; 1xx answers are read over.
    package var status: HTTPStatus
    /// 1.0 or 1.1.
    package var version: HTTPVersion
    /// The header fields.
    package var fields: HTTPFields
    /// How its body ends.
    package var framing: HTTP1Framing
    /// Whether the connection may serve another request.
    package var keepsAlive: Bool
}

/// What a response parser found next.
package enum HTTP1ResponseEvent: Hashable, Sendable {
    /// The header is complete.
    case head(HTTP1ResponseHead)
    /// A part of the body; never empty.
    case body([UInt8])
    /// The response is complete.
    case end
    /// Not a response. The connection is of no further use.
    case failed(HTTP1Fault)
}

/// Reads HTTP/1.x responses from bytes (RFC 9112), as strictly as requests are read.
package struct HTTP1ResponseParser: Sendable {
    private enum State: Sendable {
        case statusLine
        case fields
        case body
        case failed
    }

    /// The most bytes that a body may have.
    package var bodyLimit: Int
    /// The method that the next response answers: an answer to HEAD has no body whatever its fields say.
    package var method = HTTPMethod.get

    /// Answers before the answer; more than any server sends.
    private static let mostInformational = 16

    private let limits: HTTPLimits
    private var buffer = HTTP1Buffer()
    private var state = State.statusLine
    private var headerBudget: Int
    private var informational = 0
    private var status = HTTPStatus.ok
    private var version = HTTPVersion.http11
    private var fields = HTTPFields()
    private var control = HTTP1ControlFields()
    private var body: HTTP1BodyDecoder

    /// - Parameter bodyLimit: larger bodies are refused as soon as it is known.
    package init(limits: HTTPLimits = .init(), bodyLimit: Int = .max) {
        self.limits = limits
        self.bodyLimit = bodyLimit
        headerBudget = limits.headerBytes
        body = HTTP1BodyDecoder(.none, limits: limits)
    }

    /// Adds bytes that came in.
    package mutating func feed(_ bytes: RawSpan) { buffer.append(bytes) }
    /// Adds bytes that came in.
    package mutating func feed(_ bytes: some Collection<UInt8>) { buffer.append(bytes) }

    /// How many bytes wait to be looked at. Some while no request is open: the server said something unasked.
    package var bufferedCount: Int { buffer.count }

    /// The next event, or nil when more bytes are needed.
    package mutating func next() -> HTTP1ResponseEvent? {
        do {
            return try step()
        } catch {
            state = .failed
            return .failed(error)
        }
    }

    /// The connection has ended: the rightful end of a body without a length, of everything else a cut. Call it once `next`
    /// has returned nil.
    package mutating func endOfInput() -> HTTP1ResponseEvent? {
        switch state {
        case .failed: return nil
        case .body where body.endsWithConnection:
            reset()
            return .end
        case .statusLine, .fields, .body:
            state = .failed
            return .failed(.truncated)
        }
    }

    private mutating func step() throws(HTTP1Fault) -> HTTP1ResponseEvent? {
        while true {
            switch state {
            case .failed: return nil
            case .statusLine:
                guard let line = try buffer.headerLine(&headerBudget) else { return nil }
                try statusLine(line)
                state = .fields
            case .fields:
                guard let line = try buffer.headerLine(&headerBudget) else { return nil }
                guard line.isEmpty else {
                    guard fields.count < limits.headerFields else { throw .tooManyFields }
                    let (name, value) = try buffer.field(line, mustBeText: false)
                    // Host and Expect mean nothing here.
                    if name != "host", name != "expect" { try control.note(name, value) }
                    fields.appendTrusted(name, value)
                    continue
                }
                if status.isInformational {
                    try skipInformational()
                } else {
                    return .head(try finishHead())
                }
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
        state = .statusLine
        headerBudget = limits.headerBytes
        informational = 0
    }

    /// RFC 9112 4. The space before an absent reason may be absent too: many servers leave it out.
    private mutating func statusLine(_ line: Range<Int>) throws(HTTP1Fault) {
        let start = line.lowerBound
        guard line.count >= 12, buffer.matches("HTTP/1.", at: start, within: line),
            HTTP1Bytes.isDigit(buffer[start + 7]),
            buffer[start + 8] == UInt8(ascii: " ")
        else { throw HTTP1Fault("The answer is not HTTP/1.x.") }
        var code = 0
        for index in (start + 9)..<(start + 12) {
            guard HTTP1Bytes.isDigit(buffer[index]) else { throw HTTP1Fault("The status is not three digits.") }
            code = code * 10 + Int(buffer[index] - 0x30)
        }
        guard code >= 100, line.count == 12 || buffer[start + 12] == UInt8(ascii: " ") else {
            throw HTTP1Fault("The status is not three digits.")
        }
        for index in (start + 12)..<line.upperBound where !HTTP1Bytes.isFieldContent(buffer[index]) {
            throw HTTP1Fault("The status line has a control character.")
        }
        version = buffer[start + 7] == UInt8(ascii: "0") ? .http10 : .http11
        status = HTTPStatus(code)
    }

    private mutating func skipInformational() throws(HTTP1Fault) {
        guard status.code != 101 else { throw HTTP1Fault("The server switched to a protocol that nobody asked for.") }
        informational += 1
        guard informational <= Self.mostInformational else { throw HTTP1Fault("There are too many 1xx answers.") }
        fields = HTTPFields()
        control = HTTP1ControlFields()
        headerBudget = limits.headerBytes
        state = .statusLine
    }

    private mutating func finishHead() throws(HTTP1Fault) -> HTTP1ResponseHead {
        let framing = try control.responseFraming(version, status: status, answersHead: method == .head)
        let head = HTTP1ResponseHead(
            status: status,
            version: version,
            fields: fields,
            framing: framing,
            keepsAlive: control.keepsAlive(version) && framing != .untilClose
        )
        fields = HTTPFields()
        control = HTTP1ControlFields()
        body = HTTP1BodyDecoder(framing, limits: limits)
        state = .body
        return head
    }
}
