// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP server: what counts as an answer", .timeLimit(.minutes(3)))
struct AnswerCountTests {
    /// How many answers of each route and status were counted.
    private static func counts(_ server: RunningServer) -> [String: Int] {
        var counts: [String: Int] = [:]
        let name = "walletorders_http_request_duration_seconds_count"
        for line in server.metrics.text().split(separator: "\n") where line.hasPrefix(name + "{") {
            guard let blank = line.lastIndex(of: " ") else { continue }
            counts[String(line[..<blank].dropFirst(name.count))] = Int(line[blank...].dropFirst())
        }
        return counts
    }

    private static func wait(_ isOver: () -> Bool) async throws {
        let end = MonotonicTime.now() + Patience.long
        while !isOver() {
            try #require(MonotonicTime.now() < end)
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @Test func `a client that goes away is no error, and gets no answer`() async throws {
        try await RunningServer.with { server in
            for number in 1...20 {
                try await server.talk { peer in
                    peer.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                    while server.probe.paths.withLock({ $0.count }) < number { _ = Glibc.usleep(1_000) }
                    peer.reset()
                }
            }
            try await Self.wait { server.server.connectionCount == 0 }
            let hello = try await server.talk { peer in
                peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                return try peer.answer()
            }
            #expect(hello.status == 200)
            let counts = Self.counts(server)
            #expect(counts.count == 1 && counts.first?.key.contains("/hello") == true, "\(counts)")
            #expect(server.log.withLock { $0 }.filter { $0.contains("request") }.isEmpty)
        }
    }

    @Test func `what is refused counts alike in both versions of the protocol`() async throws {
        try await RunningServer.with { server in
            let many = (0..<150).map { ("x\($0)", "a") }
            for request in [
                "POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n",
                "GET /hello HTTP/1.1\r\nHost: a\r\n" + many.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n",
                "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", "DELETE /hello HTTP/1.1\r\nHost: a\r\n\r\n",
                "POST /gated HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
            ] {
                try await server.talk { peer in
                    peer.send(request)
                    try #expect(peer.answer().status >= 400)
                }
            }
            let first = Self.counts(server)
            #expect(first.count == 5 && first.values.allSatisfy { $0 == 1 }, "\(first)")

            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loops.loops[0])
            let requests: [[(String, String)]] = [
                RawFrame.request("POST", "/large") + [("content-length", "2000000")],
                RawFrame.request("GET", "/hello") + many,
                RawFrame.request("GET", "/nothing"), RawFrame.request("DELETE", "/hello"),
                RawFrame.request("POST", "/gated") + [("content-length", "100000")],
            ]
            for (number, fields) in requests.enumerated() {
                let stream = Int32(2 * number + 1)
                let isLast = !fields.contains { $0.0 == "content-length" }
                var frames = [RawFrame.headers(stream, fields, isLast: isLast)]
                // A gate is asked once there is more of a body than comes with its header.
                if !isLast {
                    frames += [16_384, 1_000].map { RawFrame.data(stream, [UInt8](repeating: 0x61, count: $0)) }
                }
                await server.loops.loops[0].run { [frames] in peer.send(frames) }
                _ = try await peer.frames { $0.contains { $0.type == 1 && $0.stream == stream } }
            }
            let both = Self.counts(server)
            #expect(both.keys.sorted() == first.keys.sorted() && both.values.allSatisfy { $0 == 2 }, "\(both)")
            await server.loops.loops[0].run { peer.transport.abort() }
            try await peer.closed.wait()
        }
    }

    @Test func `a stream that is reset before its turn gives the room of its body back`() async throws {
        try await RunningServer.with { server in
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loops.loops[0])
            let body = [UInt8](repeating: 0x61, count: 16_384)
            for number in 0..<100 {
                let stream = Int32(2 * number + 1)
                await server.loops.loops[0].run {
                    peer.send(
                        RawFrame.headers(stream, RawFrame.request("POST", "/large"), isLast: false),
                        RawFrame.data(stream, body),
                        RawFrame.data(stream, body, isLast: true),
                        RawFrame.reset(stream, 8)
                    )
                }
            }
            await server.loops.loops[0].run { peer.send(RawFrame.ping()) }
            _ = try await peer.frames { $0.contains { $0.type == 6 && $0.flags & 1 == 1 } }
            try await Self.wait { server.server.bodyBytes == 0 }
            let handled = server.probe.paths.withLock { $0.count }
            // Most were abandoned in the read that brought them.
            #expect(handled < 100, "\(handled)")
            await server.loops.loops[0].run { peer.transport.abort() }
            try await peer.closed.wait()
        }
    }
}
