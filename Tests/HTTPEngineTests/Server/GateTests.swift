// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP server: who may send a body", .timeLimit(.minutes(3)))
struct GateTests {
    private static func head(_ count: Int, _ more: String = "") -> String {
        "POST /gated HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\(more)\r\n"
    }

    @Test("over HTTP/1.1 the gate answers before the body is read, and is not asked when all came at once")
    func http1() async throws {
        try await RunningServer.with { server in
            let refused = try await server.talk { peer in
                peer.send(Self.head(900_000) + String(repeating: "a", count: 5_000))
                return try peer.answer()
            }
            #expect(refused.status == 401)
            #expect(refused.has("connection: close"))
            let waiting = try await server.talk { peer in
                peer.send(Self.head(900_000, "Expect: 100-continue\r\n"))
                return try peer.answer()
            }
            #expect(waiting.status == 401)
            let taken = try await server.talk { peer in
                peer.send(Self.head(900_000, "Authorization: yes\r\nExpect: 100-continue\r\n"))
                try #expect(peer.answer().status == 100)
                peer.send(String(repeating: "a", count: 900_000))
                let first = try peer.answer()
                // The connection goes on.
                peer.send(Self.head(70_000, "Authorization: yes\r\n") + String(repeating: "a", count: 70_000))
                return [first, try peer.answer()]
            }
            #expect(taken.map(\.body) == ["900000", "70000"])
            server.probe.paths.withLock { $0 = [] }
            let small = try await server.talk { peer in
                peer.send(Self.head(5) + "hello")
                return try peer.answer()
            }
            #expect(small.body == "5")
            #expect(server.probe.paths.withLock { $0.isEmpty })
            // Nor when there is no body; the next request of the connection finds its gate closed again.
            let none = try await server.talk { peer in
                peer.send("POST /gated HTTP/1.1\r\nHost: a\r\n\r\n")
                let first = try peer.answer()
                peer.send("POST /gated HTTP/1.1\r\nHost: a\r\n\r\n" + Self.head(900_000, "Expect: 100-continue\r\n"))
                return [first, try peer.answer(), try peer.answer()]
            }
            #expect(none.map(\.status) == [200, 200, 401])
            #expect(none.prefix(2).map(\.body) == ["0", "0"])
            #expect(server.probe.paths.withLock { $0.count } == 1)
        }
    }

    @Test("the gate is told the client's address, as a trusted proxy tells it")
    func address() async throws {
        for (proxies, status) in [("127.0.0.1", 429), ("10.0.0.1", 401)] {
            try await RunningServer.with(proxies: try TrustedProxies(parsing: proxies)) { server in
                let refused = try await server.talk { peer in
                    peer.send(Self.head(900_000, "X-Forwarded-For: 203.0.113.9\r\nExpect: 100-continue\r\n"))
                    return try peer.answer()
                }
                #expect(refused.status == status)
            }
        }
    }

    private static let slow =
        "POST /slow-gate HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"

    @Test("a gate that takes its time is no slow body, and the body has its whole time afterwards")
    func slowGate() async throws {
        var limits = RunningServer.limits
        limits.bodyGrace = .milliseconds(300) * Patience.factor
        try await RunningServer.with(limits) { server in
            let text = try await server.talk { peer in
                peer.send(Self.slow)
                var none = pollfd(fd: peer.descriptor, events: Int16(POLLIN), revents: 0)
                // Three times what a body may be slow.
                let isSilent = unsafe poll(&none, 1, Int32(900 * Patience.factor)) == 0
                #expect(isSilent, "answered while the gate was asked")
                server.probe.gateAnswer.fire()
                try #expect(peer.answer().status == 100)
                peer.send("abc")
                return try peer.answer().body
            }
            #expect(text == "3")
        }
    }

    @Test("over HTTP/2 neither")
    func slowGateOfStream() async throws {
        var limits = RunningServer.limits
        limits.bodyGrace = .milliseconds(300) * Patience.factor
        try await RunningServer.with(limits) { server in
            let loop = server.loops.loops[0]
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: loop)
            let head = RawFrame.request("POST", "/slow-gate") + [("expect", "100-continue")]
            peer.send(.headers(1, head, isLast: false))
            try await server.probe.isWaiting.wait()
            try await sleep(for: .milliseconds(900) * Patience.factor)
            server.probe.gateAnswer.fire()
            peer.send(.data(1, Array("abc".utf8), isLast: true))
            let frames = try await peer.frames { $0.contains { $0.type == 0 && $0.flags & 1 != 0 } }
            #expect(frames.last { $0.type == 0 }?.payload == Array("3".utf8))
            loop.execute { peer.transport.abort() }
        }
    }

    @Test("a gate that doesn't answer within its request's time is the server's fault: 503", arguments: [false, true])
    func silentGate(isHTTP2: Bool) async throws {
        var limits = RunningServer.limits
        limits.bodyGrace = .milliseconds(100)
        limits.requestTimeout = .milliseconds(400)
        try await RunningServer.with(limits) { server in
            if isHTTP2 {
                let loop = server.loops.loops[0]
                let peer = try await RawHTTP2Peer.connect(port: server.port, loop: loop)
                let head = RawFrame.request("POST", "/slow-gate") + [("expect", "100-continue")]
                peer.send(.headers(1, head, isLast: false))
                #expect(try await peer.frames { $0.status(1) != nil }.status(1) == 503)
                loop.execute { peer.transport.abort() }
            } else {
                let answer = try await server.talk { peer in
                    peer.send(Self.slow)
                    return try peer.answer()
                }
                #expect(answer.status == 503 && answer.body.contains("\"request-timeout\""))
            }
        }
    }

    @Test("over HTTP/2 the gate answers before more of the body is let in")
    func http2() async throws {
        try await RunningServer.with { server in
            let loop = server.loops.loops[0]
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: loop)
            let piece = [UInt8](repeating: 0, count: 16_000)
            peer.send(
                .headers(1, RawFrame.request("POST", "/gated"), isLast: false),
                .data(1, piece),
                .data(1, piece)
            )
            let frames = try await peer.frames { $0.status(1) != nil }
            #expect(frames.status(1) == 401)
            loop.execute { peer.transport.abort() }
            let connection = try await HTTP2ClientConnection.clear(to: server.port, on: loop)
            let taken = try await connection.send(
                HTTP2Request(
                    method: .post,
                    scheme: "http",
                    authority: "example.com",
                    path: "/gated",
                    headers: [.init("authorization", "yes")],
                    body: [UInt8](repeating: 0, count: 900_000)
                ),
                deadline: Patience.long
            )
            #expect(String(decoding: taken.body, as: UTF8.self) == "900000")
            await connection.close()
        }
    }
}
