// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@testable import HTTPEngine

@Suite("HTTP server: how much of unfinished bodies is held", .timeLimit(.minutes(3)))
struct BodyBudgetTests {
    /// Room for two steps.
    private static func limits(all: Int, perAddress: Int) -> HTTPLimits {
        var limits = RunningServer.limits
        limits.bodyBufferBytes = all
        limits.bodyBufferBytesPerAddress = perAddress
        return limits
    }

    /// A request of so many bytes, and the first of them.
    private static func upload(_ count: Int, sent: Int) -> String {
        "POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n" + String(repeating: "a", count: sent)
    }

    @Test(
        "bodies beyond the listener's or the address's bound are refused with 503, small ones never; what ends makes room",
        arguments: [(128 << 10, 1 << 30), (1 << 30, 128 << 10)]
    )
    func http1(all: Int, perAddress: Int) async throws {
        try await RunningServer.with(Self.limits(all: all, perAddress: perAddress)) { server in
            let holders = try await runBlocking { [port = server.port] in
                let peers = try (0..<2).map { _ in try RawPeer(port) }
                for peer in peers { peer.send(Self.upload(60_001, sent: 60_000)) }
                return peers
            }
            while server.server.bodyBytes < 128 << 10 { try await Task.sleep(for: .milliseconds(2)) }
            try await server.talk { peer in
                peer.send(Self.upload(60_001, sent: 60_000))
                let answer = try peer.answer()
                #expect(answer.status == 503)
                #expect(answer.has("retry-after: 5"))
                #expect(answer.body.contains("\"too-many-bodies\""))
            }
            let small = try await server.talk { peer in
                peer.send(Self.upload(4_000, sent: 4_000))
                return try peer.answer()
            }
            #expect(small.status == 200 && small.body == "4000")
            try await runBlocking {
                for peer in holders {
                    peer.send("a")
                    try #expect(peer.answer().body == "60001")
                }
            }
            #expect(server.server.bodyBytes == 0)
            let next = try await server.talk { peer in
                peer.send(Self.upload(60_000, sent: 60_000))
                return try peer.answer()
            }
            #expect(next.status == 200)
        }
    }

    @Test("a body counts until its handler is done with it, though nobody may wait for the answer any more")
    func handlers() async throws {
        try await RunningServer.with(Self.limits(all: 1 << 30, perAddress: 128 << 10)) { server in
            @Sendable func upload(_ path: String) -> String {
                "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"
                    + String(repeating: "a", count: 60_000)
            }
            let waiting = try await runBlocking { [port = server.port] in
                let peers = try (0..<2).map { _ in try RawPeer(port) }
                peers[0].send(upload("/gate"))
                peers[1].send(upload("/stubborn"))
                return peers
            }
            let probe = server.probe
            try await probe.isWaiting.wait()
            try await probe.isStubborn.wait()
            #expect(server.server.bodyBytes == 128 << 10)
            let third = try await server.talk { peer in
                peer.send(upload("/large"))
                return try peer.answer()
            }
            #expect(third.status == 503 && third.body.contains("\"too-many-bodies\""))
            // One client goes; its handler is still at work.
            waiting[1].reset()
            while server.server.connectionCount > 1 { try await Task.sleep(for: .milliseconds(2)) }
            #expect(server.server.bodyBytes == 128 << 10)
            probe.letGo.fire()
            while server.server.bodyBytes > 64 << 10 { try await Task.sleep(for: .milliseconds(2)) }
            probe.gate.fire()
            let first = try await runBlocking { try waiting[0].answer() }
            #expect(first.status == 200)
            #expect(server.server.bodyBytes == 0)
        }
    }

    @Test("over HTTP/2, too, bodies count while handlers have them, and windows stay shut for them")
    func handlersOfStreams() async throws {
        var limits = Self.limits(all: 1 << 30, perAddress: 256 << 10)
        limits.streamBufferBytes = 64_000
        try await RunningServer.with(limits) { server in
            let loop = server.loops.loops[0]
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: loop)
            let piece = [UInt8](repeating: 0, count: 16_000)
            for stream in [Int32(1), 3, 5, 7] {
                peer.send(
                    .headers(stream, RawFrame.request("POST", "/gate"), isLast: false),
                    .data(stream, piece, isLast: true)
                )
            }
            // One upload always goes on; a second has to wait for the handlers.
            for (stream, count) in [(Int32(9), 1), (11, 3)] {
                peer.send(.headers(stream, RawFrame.request("POST", "/large"), isLast: false))
                for _ in 0..<count { peer.send(.data(stream, piece)) }
            }
            peer.send(.ping())
            let before = try await peer.frames { $0.contains { $0.type == 6 && $0.flags & 1 != 0 } }
            #expect(before.first(8, stream: 11) == nil)
            #expect(server.server.bodyBytes >= 120_000)
            server.probe.gate.fire()
            let after = try await peer.frames { $0.first(8, stream: 11) != nil && $0.status(7) != nil }
            #expect(after.first(8, stream: 11) != nil)
            for stream in [Int32(1), 3, 5, 7] { #expect(after.status(stream) == 200) }
            loop.execute { peer.transport.abort() }
            while server.server.bodyBytes > 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    @Test("the bound holds over the streams of HTTP/2 too, and a connection that ends gives all back")
    func http2() async throws {
        try await RunningServer.with(Self.limits(all: 1 << 30, perAddress: 64 << 10)) { server in
            let loop = server.loops.loops[0]
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: loop)
            let piece = [UInt8](repeating: 0, count: 16_000)
            for stream in [Int32(1), 3, 5, 7, 9] {
                peer.send(
                    .headers(stream, RawFrame.request("POST", "/large"), isLast: false),
                    .data(stream, piece)
                )
            }
            // 64 KiB and what a connection has free are more than four pieces, and less than five.
            let frames = try await peer.frames { $0.status(9) != nil }
            #expect(frames.status(9) == 503)
            for stream in [Int32(1), 3, 5, 7] { #expect(frames.status(stream) == nil) }
            #expect(server.server.bodyBytes == 64 << 10)
            loop.execute { peer.transport.abort() }
            while server.server.bodyBytes > 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
    }
}
