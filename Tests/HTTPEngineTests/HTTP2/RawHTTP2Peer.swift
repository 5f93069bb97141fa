// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// A frame as it stands on the wire.
struct RawFrame: Sendable {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: Int32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = payload.count
        let number = UInt32(bitPattern: stream)
        return [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length), type, flags, UInt8(truncatingIfNeeded: number >> 24),
            UInt8(truncatingIfNeeded: number >> 16), UInt8(truncatingIfNeeded: number >> 8),
            UInt8(truncatingIfNeeded: number),
        ] + payload
    }

    /// A 32-bit word of the payload.
    func word(at offset: Int) -> UInt32 {
        payload[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    static func word(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    static func settings(_ values: [(UInt16, UInt32)] = []) -> RawFrame {
        RawFrame(
            type: 4,
            payload: values.flatMap {
                [UInt8(truncatingIfNeeded: $0.0 >> 8), UInt8(truncatingIfNeeded: $0.0)] + word($0.1)
            }
        )
    }
    static let settingsAcknowledgement = RawFrame(type: 4, flags: 1)
    static func ping(_ byte: UInt8 = 1, answer: Bool = false) -> RawFrame {
        RawFrame(type: 6, flags: answer ? 1 : 0, payload: [UInt8](repeating: byte, count: 8))
    }
    static func goAway(_ lastStream: Int32, _ code: UInt32 = 0, _ text: String = "") -> RawFrame {
        RawFrame(type: 7, payload: word(UInt32(lastStream)) + word(code) + Array(text.utf8))
    }
    static func reset(_ stream: Int32, _ code: UInt32) -> RawFrame {
        RawFrame(type: 3, stream: stream, payload: word(code))
    }
    static func data(_ stream: Int32, _ bytes: [UInt8], isLast: Bool = false) -> RawFrame {
        RawFrame(type: 0, flags: isLast ? 1 : 0, stream: stream, payload: bytes)
    }
    static func windowUpdate(_ stream: Int32, _ bytes: UInt32) -> RawFrame {
        RawFrame(type: 8, stream: stream, payload: word(bytes))
    }
    /// An answer of status 200 without a body, or with one to follow.
    static func ok(_ stream: Int32, isLast: Bool = true) -> RawFrame {
        RawFrame(type: 1, flags: isLast ? 5 : 4, stream: stream, payload: [0x88])
    }
    /// HEADERS with literal fields, none of which enter a compression table.
    static func headers(_ stream: Int32, _ fields: [(String, String)], isLast: Bool = true, isWhole: Bool = true)
        -> RawFrame
    {
        RawFrame(
            type: 1,
            flags: (isLast ? 1 : 0) | (isWhole ? 4 : 0),
            stream: stream,
            payload: block(fields)
        )
    }
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + text($0.0) + text($0.1) }
    }
    /// An HPACK string without Huffman coding (RFC 7541 5.2).
    static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var prefix: [UInt8] = []
        if bytes.count < 127 {
            prefix = [UInt8(bytes.count)]
        } else {
            prefix = [127]
            var rest = bytes.count - 127
            while rest >= 128 {
                prefix.append(UInt8(rest & 127 | 128))
                rest >>= 7
            }
            prefix.append(UInt8(rest))
        }
        return prefix + bytes
    }
    static func get(_ stream: Int32, _ path: String, _ more: [(String, String)] = []) -> RawFrame {
        headers(stream, request("GET", path) + more)
    }
    static func request(_ method: String, _ path: String) -> [(String, String)] {
        [(":method", method), (":scheme", "http"), (":path", path), (":authority", "example.com")]
    }
}

/// Speaks HTTP/2 frame by frame, as either side, and as badly as a test wants. Loop-confined.
final class RawHTTP2Peer: SocketTransportDelegate, @unchecked Sendable {
    // Sendable by rule: touched on the loop only, but for signals.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    let transport: SocketTransport
    let closed = Signal()
    /// Every frame that came in.
    private(set) var frames: [RawFrame] = []
    var onFrame: (RawFrame) -> Void = { _ in }
    private var waiters: [(test: ([RawFrame]) -> Bool, signal: Signal)] = []
    private var input: [UInt8] = []
    private var prefaceLeft: Int

    init(_ transport: SocketTransport, isServer: Bool) {
        self.transport = transport
        prefaceLeft = isServer ? Self.preface.count : 0
    }

    /// Connects to a server under test, says the preface and sends SETTINGS.
    static func connect(port: Int, loop: EventLoop, settings: [(UInt16, UInt32)] = []) async throws -> RawHTTP2Peer {
        let transport = try await SocketTransport.connect(
            to: .tcp(host: "127.0.0.1", port: port),
            tls: nil,
            loop: loop,
            deadline: .now() + Patience.long
        )
        let peer = RawHTTP2Peer(transport, isServer: false)
        await loop.run {
            transport.adopt(peer)
            transport.write(preface + RawFrame.settings(settings).bytes)
        }
        return peer
    }

    func send(_ frames: [RawFrame]) {
        transport.loop.execute { [self] in
            for frame in frames { transport.write(frame.bytes) }
        }
    }

    func send(_ frames: RawFrame...) { send(frames) }

    func sendRaw(_ bytes: [UInt8]) {
        transport.loop.execute { [self] in transport.write(bytes) }
    }

    /// Waits until the frames so far satisfy a test, or the connection ends.
    ///
    /// - Returns: the frames.
    @discardableResult
    func frames(until test: @escaping @Sendable ([RawFrame]) -> Bool) async throws -> [RawFrame] {
        let signal = Signal()
        transport.loop.execute { [self] in
            if test(frames) || closed.isFired { signal.fire() } else { waiters.append((test, signal)) }
        }
        try await signal.wait()
        return await transport.loop.run { self.frames }
    }

    /// Waits for the end of the connection.
    func allFrames() async throws -> [RawFrame] {
        try await closed.wait()
        return await transport.loop.run { self.frames }
    }

    func transportReady() {}
    func transportWritable() {}
    func transportReceivedEnd() { transport.close() }

    func transportReceived(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe input.append(contentsOf: $0) }
        let skipped = min(prefaceLeft, input.count)
        input.removeFirst(skipped)
        prefaceLeft -= skipped
        var offset = 0
        while input.count - offset >= 9 {
            let length = Int(input[offset]) << 16 | Int(input[offset + 1]) << 8 | Int(input[offset + 2])
            guard input.count - offset >= 9 + length else { break }
            let number = input[(offset + 5)..<(offset + 9)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let frame = RawFrame(
                type: input[offset + 3],
                flags: input[offset + 4],
                stream: Int32(bitPattern: number & 0x7fff_ffff),
                payload: Array(input[(offset + 9)..<(offset + 9 + length)])
            )
            offset += 9 + length
            frames.append(frame)
            onFrame(frame)
        }
        input.removeFirst(offset)
        check()
    }

    func transportClosed(_ reason: TransportClosure) {
        // A test's hook may hold the peer: a cycle.
        onFrame = { _ in }
        closed.fire()
        for waiter in waiters { waiter.signal.fire() }
        waiters = []
    }

    private func check() {
        waiters.removeAll { waiter in
            guard waiter.test(frames) else { return false }
            waiter.signal.fire()
            return true
        }
    }
}

extension [RawFrame] {
    func first(_ type: UInt8, stream: Int32? = nil) -> RawFrame? {
        first { $0.type == type && (stream == nil || $0.stream == stream) }
    }
    /// The status of the answer on a stream, where HPACK says it by its static table or as a literal.
    func status(_ stream: Int32) -> Int? {
        guard let block = first(1, stream: stream)?.payload, let first = block.first else { return nil }
        let known: [UInt8: Int] = [0x88: 200, 0x89: 204, 0x8a: 206, 0x8b: 304, 0x8c: 400, 0x8d: 404, 0x8e: 500]
        if let status = known[first] { return status }
        // Indexed name ":status" (8...14), value of three bytes, perhaps Huffman-coded: digits have five or six bits.
        guard first & 0x0f >= 8, block.count > 1 else { return nil }
        if block[1] == 3 { return Int(String(decoding: block[2..<5], as: UTF8.self)) }
        return Huffman.digits(block[2..<(2 + Int(block[1] & 0x7f))])
    }
}

/// The ten digits of HPACK's Huffman code (RFC 7541 B), which is all that a status needs.
enum Huffman {
    static func digits(_ bytes: ArraySlice<UInt8>) -> Int? {
        let bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> (7 - UInt8($0)) & 1) } }
        var position = 0
        var value = 0
        var count = 0
        while count < 3, position + 5 <= bits.count {
            let five = bits[position..<(position + 5)].reduce(0) { $0 << 1 | $1 }
            if five <= 2 {
                value = value * 10 + five
                position += 5
            } else {
                guard position + 6 <= bits.count else { return nil }
                let six = bits[position..<(position + 6)].reduce(0) { $0 << 1 | $1 }
                guard (0x19...0x1f).contains(six) else { return nil }
                value = value * 10 + six - 0x19 + 3
                position += 6
            }
            count += 1
        }
        return count == 3 ? value : nil
    }
}
