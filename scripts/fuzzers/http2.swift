// SPDX-License-Identifier: Apache-2.0
// Fuzzes the server's side of an HTTP/2 connection: its session over nghttp2 and its transport, with what a server does
// meanwhile. Compiled as one module with the engine (scripts/fuzz http2).

import Dispatch
import Glibc
import ServiceRuntime

private let loop: EventLoop = {
    do { return try EventLoop(name: "fuzzed") } catch { fatalError("\(error)") }
}()

/// Reads the input as a list of things that happen to a connection: frames, bytes that are none, answers, deadlines, ends.
/// Traps when a request is handed over twice, or when what the session counts does not come out even.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let isOver = DispatchSemaphore(value: 0)
    loop.execute {
        let connection = FuzzedConnection()
        var script = Script(rest: input[...])
        while !connection.transport.isClosed, script.step(connection) { connection.check() }
        connection.transport.abort()
        // Behind what the end has put into the loop's queue.
        loop.execute {
            connection.checkEnd()
            isOver.signal()
        }
    }
    isOver.wait()
    return 0
}

/// A session between a host that counts and a peer that mostly reads.
private final class FuzzedConnection: SocketTransportDelegate, HTTPServerSessionHost, @unchecked Sendable {
    // Sendable by rule: used on the loop only.
    let transport: SocketTransport
    let peer: Int32
    private(set) var session: HTTP2ServerSession?
    private let router: Router
    private let limits: HTTPLimits
    /// Requests whose handlers are at work, and what they hold.
    private(set) var handled: [HTTPStreamNumber: Int] = [:]
    private(set) var asked: [HTTPStreamNumber] = []
    private var held = 0
    private var hasEnded = false

    init() {
        var descriptors: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &descriptors) == 0, "no socket pair")
        peer = descriptors[1]
        var router = Router()
        router.on(.get, "/a") { _, _ in .text("a") }
        router.on(.post, "/b", bodyLimit: 5_000) { _, _ in .text("b") }
        router.on(.post, "/c", bodyLimit: 200_000, gate: { _, _ in nil }, { _, _ in .text("c") })
        self.router = router
        var limits = HTTPLimits()
        // Little, so that a short input comes to the bounds.
        limits.streams = 8
        limits.headerBytes = 512
        limits.headerFields = 10
        limits.streamBufferBytes = 20_000
        limits.responseQueueBytes = 40_000
        self.limits = limits
        transport = SocketTransport(takingOwnership: descriptors[0], loop: loop)
        transport.start(self)
    }

    deinit { close(peer) }

    /// What the peer sends, in one read.
    func receive(_ bytes: [UInt8]) {
        guard transport.isOpen, let session else { return }
        session.received(bytes.span.bytes)
        transport.flush()
    }

    func respond(_ index: Int, _ size: Int) {
        guard !handled.isEmpty else { return }
        let stream = handled.keys.sorted()[index % handled.count]
        finish(stream)
        let body = [[1, 2, 3], [UInt8](repeating: 7, count: size)]
        session?.respond(HTTPResponse(.ok, body: .chunks(body)), to: stream)
        transport.flush()
    }

    func answerGate(_ index: Int) {
        guard !asked.isEmpty else { return }
        let stream = asked.remove(at: index / 2 % asked.count)
        session?.gateAnswered(index & 1 == 0 ? nil : Problem(.unauthorized, code: "unauthorized"), for: stream)
        transport.flush()
    }

    /// Lets the peer take what was sent to it.
    func drain() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while read(peer, &buffer, buffer.count) > 0 {}
        transport.isBlocked = false
        transport.flush()
    }

    func pass(_ time: Duration) {
        _ = session?.checkDeadlines(loop.now + time)
        transport.flush()
    }

    private func finish(_ stream: HTTPStreamNumber) {
        held -= handled.removeValue(forKey: stream) ?? 0
    }

    func check() {
        precondition(held >= 0, "more of bodies is let go than was held")
        guard let session else { return }
        precondition(session.bufferedBytes >= 0 && session.pendingBytes >= 0 && session.deferredStreams >= 0)
        if session.isDead { precondition(session.streams.isEmpty, "a dead session has streams") }
        precondition(session.streams.count <= 100_000)
        let deferred = session.streams.count { $0.phase == .deferred }
        precondition(session.isDead || session.deferredStreams == deferred, "requests that wait are miscounted")
        let buffered = session.streams.reduce(0) { $0 + $1.body.count + $1.handedOver }
        precondition(session.isDead || session.bufferedBytes == buffered, "bodies are miscounted")
        let pending = session.streams.reduce(0) { $0 + $1.remaining }
        precondition(session.isDead || session.pendingBytes == pending, "answers are miscounted")
    }

    func checkEnd() { precondition(hasEnded, "the connection's end was not told") }

    // MARK: SocketTransportDelegate

    func transportReady() {
        let session = HTTP2ServerSession(transport: transport, limits: limits, host: self)
        self.session = session
        session.start()
    }
    func transportReceived(_ bytes: RawSpan) { session?.received(bytes) }
    func transportReceivedEnd() { session?.receivedEnd() }
    func transportWritable() { session?.writable() }
    func transportClosed(_ reason: TransportClosure) {
        precondition(!hasEnded, "the end was told twice")
        hasEnded = true
        session = nil
    }

    // MARK: HTTPServerSessionHost

    func match(_ method: HTTPMethod, _ path: String) -> RouteMatch { router.match(method, path) }
    func perform(_ request: consuming HTTPRequest, _ match: consuming RouteMatch, stream: HTTPStreamNumber) {
        precondition(handled[stream] == nil, "a request is handed over twice")
        for field in request.headers {
            precondition(!field.value.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a field could end its line")
        }
        precondition(request.body.count <= match.bodyLimit, "a body is larger than its limit")
        handled[stream] = request.body.count
    }
    func ask(_ gate: @escaping HTTPGate, _ fields: HTTPFields, stream: HTTPStreamNumber) { asked.append(stream) }
    func note(_ refusal: Problem) {}
    func holdBody(_ count: Int) -> Bool {
        if held + count > 100_000 { return false }
        held += count
        return true
    }
    func releaseBody(_ count: Int) { held -= count }
    func abandon(stream: HTTPStreamNumber) {
        if handled[stream] != nil { finish(stream) }
    }
    func expectDeadline(at time: MonotonicTime) {}
}

/// The input, read step by step.
private struct Script {
    var rest: ArraySlice<UInt8>
    private var hasBegun = false

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    private mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }
    private mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        return taken
    }
    private mutating func stream() -> UInt32 { UInt32(byte() % 32) }

    /// Does the next step; false at the end.
    mutating func step(_ connection: FuzzedConnection) -> Bool {
        guard let first = rest.popFirst() else { return false }
        if !hasBegun {
            hasBegun = true
            // Nearly always the right beginning: behind any other nothing is reached.
            if first != 0xff {
                connection.receive(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0, []))
            }
        }
        switch first % 18 {
        case 0, 1, 2: connection.receive(headers())
        case 3, 4, 5: connection.receive(data())
        case 6: connection.receive(Self.frame(3, 0, stream(), [0, 0, 0, byte()]))
        case 7:
            let stream = stream()
            connection.receive(Self.frame(8, 0, stream, [byte() & 0x7f, 0, byte(), byte()]))
        case 8: connection.receive(Self.frame(4, byte() & 1, 0, [0, byte() % 10, 0, 0, byte(), byte()]))
        case 9: connection.receive(Self.frame(6, byte() & 1, 0, [1, 2, 3, 4, 5, 6, 7, 8]))
        case 10:
            // Any frame at all.
            let (type, flags, stream) = (byte(), byte(), stream())
            let length = Int(byte())
            connection.receive(Self.frame(type, flags, stream, bytes(length)))
        case 11:
            let length = Int(byte())
            connection.receive(bytes(length))
        case 12: connection.respond(Int(byte()), Int(byte()) << 9)
        case 13: connection.answerGate(Int(byte()))
        case 14: connection.drain()
        case 15: connection.pass(.milliseconds(Int(byte()) << Int(byte() % 9)))
        case 16: if byte() & 7 == 0 { connection.session?.shutdown() } else { connection.session?.writable() }
        default: if byte() & 7 == 0 { connection.session?.receivedEnd() }
        }
        return true
    }

    private mutating func headers() -> [UInt8] {
        let (kind, stream) = (byte(), stream())
        var block: [UInt8] = []
        func field(_ name: String, _ value: [UInt8]) {
            block += [0, UInt8(name.utf8.count)] + Array(name.utf8)
            block += [UInt8(min(126, value.count))] + value.prefix(126)
        }
        field(":method", Array((kind & 3 == 0 ? "GET" : "POST").utf8))
        field(":scheme", Array("https".utf8))
        field(":path", Array(["/a", "/b", "/c", "/d"][Int(kind & 3)].utf8))
        field(":authority", Array("example.com".utf8))
        if kind & 4 != 0 { field("expect", Array("100-continue".utf8)) }
        if kind & 8 != 0 { field("content-length", Array(String(Int(byte()) * 40).utf8)) }
        // Indexed fields, names and lengths as they come.
        if kind & 16 != 0 { block += bytes(Int(byte() % 64)) }
        let isWhole = kind & 32 == 0
        return Self.frame(1, (kind & 64 != 0 ? 1 : 0) | (isWhole ? 4 : 0), stream, block)
    }

    private mutating func data() -> [UInt8] {
        let (flags, stream) = (byte(), stream())
        return Self.frame(0, flags & 9, stream, [UInt8](repeating: byte(), count: Int(byte()) * 64))
    }

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count
        return [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length), type, flags, 0, 0, UInt8(truncatingIfNeeded: stream >> 8),
            UInt8(truncatingIfNeeded: stream),
        ] + payload
    }
}
