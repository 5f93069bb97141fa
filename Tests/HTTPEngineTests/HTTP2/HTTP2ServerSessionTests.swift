// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(5)))
struct HTTP2ServerSessionTests {
    @Test("Announces its limits and answers requests")
    func answers() async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        peer.send(.get(1, "/hello"), .get(3, "/missing"), .get(5, "/nothing"))
        let frames = try await peer.frames { $0.count { $0.flags & 1 != 0 && $0.type <= 1 } == 3 }
        #expect(frames.status(1) == 200)
        #expect(frames.filter { $0.type == 0 && $0.stream == 1 }.flatMap(\.payload) == Array("hello".utf8))
        #expect(frames.status(3) == 404)
        #expect(frames.status(5) == 204)
        let settings = try #require(frames.first(4))
        let values = stride(from: 0, to: settings.payload.count, by: 6).map { offset in
            [
                UInt32(settings.payload[offset]) << 8 | UInt32(settings.payload[offset + 1]),
                settings.word(at: offset + 2),
            ]
        }
        #expect(values.contains([3, 100]))
        #expect(values.contains([6, 16_384]))
        await server.stop()
    }

    @Test(
        "A request says once, and well, whom it is for, by :authority or Host",
        arguments: [
            ([(":authority", "example.com")], 200), ([(":authority", "[::1]:8080")], 200),
            ([("host", "example.com")], 200),
            ([(":authority", "example.com"), ("host", "example.com")], 200), ([], 400), ([(":authority", "")], 400),
            ([(":authority", "a b")], 400), ([(":authority", "user@example.com")], 400),
            ([(":authority", "example.com:99999")], 400), ([("host", "example.com/x")], 400),
            ([(":authority", "example.com"), ("host", "example.org")], 400),
        ] as [([(String, String)], Int)]
    )
    func authority(fields: [(String, String)], status: Int) async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        let request = [(":method", "GET"), (":scheme", "http"), (":path", "/hello")]
        peer.send(.headers(1, request + fields))
        let frames = try await peer.frames { $0.first(1, stream: 1) != nil || $0.first(3, stream: 1) != nil }
        // nghttp2 itself resets the stream for some of them.
        if status == 200 || frames.first(3, stream: 1) == nil { #expect(frames.status(1) == status) }
        await server.stop()
    }

    @Test("HEAD has the length of GET and no body; framing fields of a handler never go out")
    func headAndFraming() async throws {
        let server = try HTTP2TestServer(.forTests())
        let connection = try await HTTP2ClientConnection.clear(to: server.port, on: server.loop)
        let head = try await connection.send(
            HTTP2Request(method: .head, scheme: "http", authority: "example.com", path: "/body"),
            deadline: Patience.long
        )
        #expect(head.headers["content-length"] == "20480")
        #expect(head.body.isEmpty)
        let bad = try await connection.send(
            HTTP2Request(method: .get, scheme: "http", authority: "example.com", path: "/bad"),
            deadline: Patience.long
        )
        #expect(bad.status == .ok)
        #expect(bad.headers["connection"] == nil)
        #expect(bad.headers["x-injected"]?.contains("\n") == false)
        #expect(bad.headers["date"] != nil)
        await connection.close()
        await server.stop()
    }

    @Test("An answer names its request: as the caller did, or by a name of our own, which its problem has too")
    func requestIdentifiers() async throws {
        let server = try HTTP2TestServer(.forTests())
        let connection = try await HTTP2ClientConnection.clear(to: server.port, on: server.loop)
        func answer(_ method: HTTPMethod, _ path: String, _ name: String?, body: [UInt8] = []) async throws
            -> HTTPClientResponse
        {
            try await connection.send(
                HTTP2Request(
                    method: method,
                    scheme: "http",
                    authority: "example.com",
                    path: path,
                    headers: name.map { [.init("request-id", $0)] } ?? [],
                    body: body
                ),
                deadline: Patience.long
            )
        }
        let large = [UInt8](repeating: 0, count: 101)
        let requests: [(path: String, method: HTTPMethod, body: [UInt8])] = [
            ("/hello", .get, []), ("/none", .get, []), ("/small", .post, large),
        ]
        for (path, method, body) in requests {
            let named = try await answer(method, path, "caller-1", body: body)
            #expect(named.headers["request-id"] == "caller-1", "\(path)")
            let unnamed = try await answer(method, path, nil, body: body)
            let name = try #require(unnamed.headers["request-id"], "\(path)")
            #expect(name.utf8.count == 12)
            #expect(path == "/hello" || String(decoding: unnamed.body, as: UTF8.self).contains("\"\(name)\""))
        }
        await connection.close()
        await server.stop()
    }

    @Test("A large answer goes through small windows; an upload comes through ours", arguments: [false, true])
    func windows(tls: Bool) async throws {
        // Made first: it takes its time, and a new connection has only ten seconds for its first request.
        let upload = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try HTTP2TestServer(.forTests(), tls: tls ? TestIdentity.server() : nil)
        let connection = try await HTTP2ClientConnection.connect(
            host: "localhost",
            port: server.port,
            tls: tls ? TestIdentity.client() : nil,
            loop: server.loop,
            deadline: Patience.long
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let echoed = try await connection.send(
                        HTTP2Request(
                            method: .post,
                            authority: "localhost",
                            path: "/echo",
                            body: upload,
                            responseLimit: 4_000_000
                        ),
                        deadline: Patience.long
                    )
                    #expect(echoed.body == upload)
                }
                group.addTask {
                    let large = try await connection.send(
                        HTTP2Request(method: .get, authority: "localhost", path: "/large", responseLimit: 4_000_000),
                        deadline: Patience.long
                    )
                    #expect(large.body.count == 3_000_000)
                }
            }
            try await group.waitForAll()
        }
        await connection.close()
        #expect(await server.openStreams() == 0)
        await server.stop()
    }

    @Test(
        "A request past a limit is refused with its status, and the connection lives",
        arguments: [
            ("fields", 431), ("bytes", 431), ("announced", 413), ("sent", 413), ("target", 400), ("connect", 501),
            ("host", 400),
        ]
    )
    func limits(fault: String, status: Int) async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        let post = RawFrame.request("POST", "/small")
        switch fault {
        case "fields": peer.send(.get(1, "/hello", (0..<101).map { ("x-\($0)", "1") }))
        case "bytes":
            let large = RawFrame.get(1, "/hello", (0..<24).map { ("x-\($0)", String(repeating: "a", count: 800)) })
            peer.send(large.split(2))
        case "announced": peer.send(.headers(1, post + [("content-length", "101")], isLast: false))
        case "sent":
            peer.send(
                .headers(1, post, isLast: false),
                .data(1, [UInt8](repeating: 1, count: 101))
            )
        case "target": peer.send(.get(1, "/hel#lo"))
        case "connect": peer.send(.headers(1, [(":method", "CONNECT"), (":authority", "example.com:443")]))
        default: peer.send(.get(1, "/hello", [("host", "other.example.com")]))
        }
        var frames = try await peer.frames { $0.contains { $0.stream == 1 && $0.flags & 1 != 0 } }
        #expect(frames.status(1) == status)
        peer.send(.get(3, "/hello"))
        frames = try await peer.frames { $0.contains { $0.stream == 3 && $0.flags & 1 != 0 } }
        #expect(frames.status(3) == 200)
        await server.stop()
    }

    @Test(
        "Requests that break HTTP/2's own rules reset their stream only",
        arguments: [
            [(":method", "GET"), (":scheme", "http"), (":authority", "a")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/hello"), (":path", "/hello"), (":authority", "a")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/hello"), ("X-Upper", "1")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/hello"), ("connection", "close")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/hello"), ("transfer-encoding", "chunked")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/hello"), ("x", "a\r\nb")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/hello"), ("x", "a\0b")],
            [("x", "before"), (":method", "GET"), (":scheme", "http"), (":path", "/hello")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/hello"), (":status", "200")],
        ]
    )
    func malformed(fields: [(String, String)]) async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        peer.send(.headers(1, fields), .get(3, "/hello"))
        let frames = try await peer.frames { $0.contains { $0.stream == 3 && $0.flags & 1 != 0 && $0.type <= 1 } }
        #expect(frames.status(1) == nil)
        #expect(frames.first(3, stream: 1)?.word(at: 0) == 1)
        #expect(frames.status(3) == 200)
        await server.stop()
    }

    @Test("A body that differs from its content-length is reset and never reaches a handler")
    func contentLength() async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        let post = RawFrame.request("POST", "/echo") + [("content-length", "5")]
        peer.send(.headers(1, post, isLast: false), .data(1, [1, 2, 3], isLast: true))
        peer.send(.headers(3, post, isLast: false), .data(3, [1, 2, 3, 4, 5, 6], isLast: true))
        let frames = try await peer.frames { $0.count { $0.type == 3 } == 2 }
        #expect(frames.first(1) == nil || frames.status(1) == nil && frames.status(3) == nil)
        await server.stop()
    }

    @Test("Resetting a stream cancels its handler")
    func cancels() async throws {
        let cancelled = Signal()
        let began = Signal()
        var router = Router()
        router.on(.get, "/wait") { _, _ in
            began.fire()
            do { try await Signal().wait() } catch { cancelled.fire() }
            return .text("late")
        }
        let server = try HTTP2TestServer(router)
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        peer.send(.get(1, "/wait"))
        try await began.wait()
        peer.send(.reset(1, 8))
        try await cancelled.wait()
        peer.send(.ping())
        let frames = try await peer.frames { $0.first(6) != nil }
        #expect(frames.status(1) == nil)
        await server.stop()
    }

    @Test("Shutdown lets what is in flight finish: notice, then GOAWAY with the last stream, then the end")
    func gracefulShutdown() async throws {
        let gate = Signal()
        let server = try HTTP2TestServer(.forTests(gate: gate))
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        server.loop.execute {
            peer.onFrame = { frame in
                // Answers the PING that follows the notice, as any client does.
                if frame.type == 6, frame.flags & 1 == 0 {
                    peer.send(RawFrame(type: 6, flags: 1, payload: frame.payload))
                }
            }
        }
        peer.send(.get(1, "/gate"))
        peer.send(.ping())
        try await peer.frames { $0.contains { $0.type == 6 && $0.flags & 1 != 0 } }
        server.shutdownConnections()
        let notices = try await peer.frames { $0.count { $0.type == 7 } == 2 }.filter { $0.type == 7 }
        #expect(notices.first?.word(at: 0) == 0x7fff_ffff)
        #expect(notices.last?.word(at: 0) == 1)
        #expect(notices.allSatisfy { $0.word(at: 4) == 0 })
        gate.fire()
        let frames = try await peer.allFrames()
        #expect(frames.status(1) == 200)
        await server.stop()
    }

    @Test(
        "Each state has its deadline",
        arguments: ["head", "body", "trickle", "handler", "idle", "window"]
    )
    func deadlines(state: String) async throws {
        // The others are out of reach.
        var limits = HTTPLimits.untimed
        switch state {
        case "head": limits.headerTimeout = .seconds(2)
        case "body", "handler": limits.requestTimeout = .milliseconds(300)
        case "trickle": limits.bodyGrace = .milliseconds(150)
        case "idle": limits.idleTimeout = .milliseconds(150)
        default: limits.writeTimeout = .milliseconds(200)
        }
        let server = try HTTP2TestServer(.forTests(), limits: limits)
        let settings: [(UInt16, UInt32)] = state == "window" ? [(4, 100)] : []
        // On the loop, where no other test's work delays the first frame beyond the deadline under test.
        let peer = try await server.loop.run {
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop, settings: settings)
            if state == "head" { peer.send(.headers(1, RawFrame.request("GET", "/hello"), isWhole: false)) }
            if state == "idle" { peer.send(.get(1, "/hello")) }
            return peer
        }
        let post = RawFrame.request("POST", "/echo")
        switch state {
        case "head":
            let frames = try await peer.allFrames()
            #expect(frames.first(7)?.word(at: 4) == 11)
        case "body", "trickle":
            peer.send(.headers(1, post, isLast: false), .data(1, [1, 2, 3]))
            let frames = try await peer.frames { $0.first(1) != nil }
            #expect(frames.status(1) == 408)
        case "handler":
            peer.send(.get(1, "/gate"))
            let frames = try await peer.frames { $0.first(1) != nil }
            #expect(frames.status(1) == 503)
            #expect(await server.abandoned() == 1)
        case "idle":
            let frames = try await peer.allFrames()
            #expect(frames.status(1) == 200)
            #expect(frames.first(7)?.word(at: 4) == 0)
        default:
            peer.send(.get(1, "/body"))
            let frames = try await peer.frames { $0.first(3) != nil }
            #expect(frames.filter { $0.type == 0 }.flatMap(\.payload).count == 100)
            #expect(frames.first(3)?.word(at: 0) == 8)
        }
        await server.stop()
    }
}

extension RawFrame {
    /// The same header block in several frames: HEADERS and CONTINUATION.
    func split(_ count: Int) -> [RawFrame] {
        let size = (payload.count + count - 1) / count
        return (0..<count).map { index in
            let part = Array(payload[(index * size)..<min(payload.count, (index + 1) * size)])
            let isLast = index == count - 1
            if index == 0 { return RawFrame(type: 1, flags: flags & 1, stream: stream, payload: part) }
            return RawFrame(type: 9, flags: isLast ? 4 : 0, stream: stream, payload: part)
        }
    }
}
