// SPDX-License-Identifier: Apache-2.0

/// Takes a message's body out of the bytes that follow its header, by Content-Length, by chunks or to the end.
struct HTTP1BodyDecoder: Sendable {
    /// What was read.
    enum Piece: Sendable {
        case bytes([UInt8])
        /// The message is over; what follows belongs to the next.
        case end
    }

    private enum State: Sendable {
        case run(left: Int)
        case untilClose
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case over
    }

    private var state: State
    private var bodyCount = 0
    private var extensionBudget: Int
    private var trailerBudget: Int
    private var fieldBudget: Int

    init(_ framing: HTTP1Framing, limits: HTTPLimits) {
        extensionBudget = limits.chunkExtensionBytes
        trailerBudget = limits.trailerBytes
        fieldBudget = limits.headerFields
        state =
            switch framing {
            case .none: .over
            case .length(let length): .run(left: length)
            case .chunked: .chunkSize
            case .untilClose: .untilClose
            }
    }

    /// Whether the end of the connection is this body's rightful end.
    var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

    /// The next piece, or nil when more bytes are needed.
    /// - Parameter limit: the most bytes that the body may have, chunk framing not counted.
    mutating func next(_ buffer: inout HTTP1Buffer, limit: Int) throws(HTTP1Fault) -> Piece? {
        while true {
            switch state {
            case .over: return .end
            case .run(let left):
                // Said before a byte of it is taken.
                guard left <= limit - bodyCount else { throw .bodyTooLarge(limit: limit) }
                guard left > 0 else {
                    state = .over
                    return .end
                }
                guard !buffer.isEmpty else { return nil }
                return take(left, &buffer) { $0 == 0 ? .over : .run(left: $0) }
            case .untilClose:
                guard !buffer.isEmpty else { return nil }
                guard buffer.count <= limit - bodyCount else { throw .bodyTooLarge(limit: limit) }
                return take(.max, &buffer) { _ in .untilClose }
            case .chunkSize:
                guard let size = try chunkSize(&buffer) else { return nil }
                guard size <= limit - bodyCount else { throw .bodyTooLarge(limit: limit) }
                state = size == 0 ? .trailers : .chunk(left: size)
            case .chunk(let left):
                guard !buffer.isEmpty else { return nil }
                return take(left, &buffer) { $0 == 0 ? .chunkEnd : .chunk(left: $0) }
            case .chunkEnd:
                guard let first = buffer.first else { return nil }
                // Looked at before the line is: a byte that has come must mean the same as one that comes with the next.
                guard first == HTTP1Bytes.carriageReturn else { throw Self.badChunkEnd }
                switch try buffer.line(limit: 2) {
                case .incomplete: return nil
                case .tooLong: throw Self.badChunkEnd
                case .found: state = .chunkSize
                }
            case .trailers:
                guard try trailer(&buffer) else { return nil }
                state = .over
            }
        }
    }

    private mutating func take(_ most: Int, _ buffer: inout HTTP1Buffer, _ then: (Int) -> State) -> Piece {
        let bytes = buffer.take(most)
        bodyCount += bytes.count
        state = then(most - bytes.count)
        return .bytes(bytes)
    }

    // MARK: Chunks

    private static var badChunkEnd: HTTP1Fault { HTTP1Fault("A chunk does not end where its size says.") }
    /// Hex digits of a chunk size: 60 bits, far beyond every limit and safe from overflow.
    private static let sizeDigits = 15

    private mutating func chunkSize(_ buffer: inout HTTP1Buffer) throws(HTTP1Fault) -> Int? {
        let line: Range<Int>
        switch try buffer.line(limit: Self.sizeDigits + 2 + extensionBudget) {
        case .incomplete: return nil
        case .tooLong: throw HTTP1Fault("A chunk's size or extensions are too long.")
        case .found(let range): line = range
        }
        var size = 0
        var index = line.lowerBound
        while index < line.upperBound, let digit = HTTP1Bytes.hexValue(buffer[index]) {
            guard index - line.lowerBound < Self.sizeDigits else { throw HTTP1Fault("A chunk's size is too large.") }
            size = size << 4 | Int(digit)
            index += 1
        }
        guard index > line.lowerBound else { throw HTTP1Fault("A chunk has no size.") }
        extensionBudget -= line.upperBound - index
        guard extensionBudget >= 0 else { throw HTTP1Fault("A chunk's size or extensions are too long.") }
        guard index < line.upperBound else { return size }
        while index < line.upperBound, HTTP1Bytes.isBlank(buffer[index]) { index += 1 }
        guard index < line.upperBound, buffer[index] == UInt8(ascii: ";") else {
            throw HTTP1Fault("A chunk's size is followed by something that is no extension.")
        }
        for index in index..<line.upperBound where !HTTP1Bytes.isFieldContent(buffer[index]) {
            throw HTTP1Fault("A chunk extension has a control character.")
        }
        return size
    }

    /// Reads trailer fields, checks them like header fields and drops them: no field that came after the body may change what
    /// was decided before it.
    private mutating func trailer(_ buffer: inout HTTP1Buffer) throws(HTTP1Fault) -> Bool {
        while true {
            let line: Range<Int>
            switch try buffer.line(limit: trailerBudget) {
            case .incomplete: return false
            case .tooLong: throw HTTP1Fault.trailerTooLarge
            case .found(let range): line = range
            }
            trailerBudget -= line.count + 2
            guard !line.isEmpty else { return true }
            guard fieldBudget > 0 else { throw .tooManyFields }
            fieldBudget -= 1
            _ = try buffer.field(line)
        }
    }
}
