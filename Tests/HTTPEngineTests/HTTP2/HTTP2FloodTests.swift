// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(1)))
struct HTTP2FloodTests {
    enum Flood: String, CaseIterable, Sendable {
        case ping, settings, rapidReset, provokedReset, emptyData, continuation, priority, windowUpdate

        /// A dose that comes several times.
        func dose(_ round: Int32) -> [RawFrame] {
            switch self {
            case .ping: [RawFrame](repeating: .ping(), count: 100)
            case .settings: [RawFrame](repeating: .settings([(3, 100)]), count: 50)
            case .rapidReset:
                (0..<100).flatMap { index -> [RawFrame] in
                    let stream = (round * 100 + Int32(index)) * 2 + 1
                    return [.get(stream, "/gate"), .reset(stream, 8)]
                }
            case .provokedReset:
                // A window too large: the server itself has to reset the stream.
                (0..<100).flatMap { index -> [RawFrame] in
                    let stream = (round * 100 + Int32(index)) * 2 + 1
                    return [.get(stream, "/gate"), .windowUpdate(stream, 0x7fff_ffff)]
                }
            case .emptyData:
                (round == 0 ? [.headers(1, RawFrame.request("POST", "/echo"), isLast: false)] : [])
                    + [RawFrame](repeating: .data(1, []), count: 100)
            case .continuation:
                (round == 0 ? [.headers(1, RawFrame.request("GET", "/hello"), isWhole: false)] : [])
                    + [RawFrame](repeating: RawFrame(type: 9, stream: 1), count: 100)
            case .priority:
                [RawFrame](repeating: RawFrame(type: 2, stream: 1, payload: [0, 0, 0, 0, 1]), count: 200)
            case .windowUpdate: [RawFrame](repeating: .windowUpdate(0, 1), count: 500)
            }
        }
    }

    @Test(
        "A flood of frames that do nothing ends the connection with ENHANCE_YOUR_CALM within a second",
        arguments: Flood.allCases
    )
    func floods(flood: Flood) async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        let start = MonotonicTime.now()
        for round in 0..<20 { peer.send(flood.dose(Int32(round))) }
        let frames = try await peer.allFrames()
        // A second, and what a busy machine adds.
        #expect(MonotonicTime.now() - start < .seconds(4))
        #expect(frames.last { $0.type == 7 }?.word(at: 4) == 11, "\(flood)")
        #expect(frames.count < 2000)
        await server.stop()
    }

    @Test("An honest client that cancels 40 streams at once is served on")
    func honestCancels() async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        for index in 0..<40 { peer.send(.get(Int32(index) * 2 + 1, "/gate"), .reset(Int32(index) * 2 + 1, 8)) }
        peer.send(.get(101, "/hello"))
        let frames = try await peer.frames { $0.contains { $0.stream == 101 && $0.flags & 1 != 0 } }
        #expect(frames.status(101) == 200)
        await server.stop()
    }

    @Test("What is no HTTP/2 at all is closed with PROTOCOL_ERROR")
    func noPreface() async throws {
        let server = try HTTP2TestServer(.forTests())
        let transport = try await SocketTransport.connect(
            to: .tcp(host: "127.0.0.1", port: server.port),
            tls: nil,
            loop: server.loop,
            deadline: .now() + .seconds(5)
        )
        let peer = RawHTTP2Peer(transport, isServer: false)
        await server.loop.run {
            transport.adopt(peer)
            transport.write(Array("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n".utf8))
        }
        let frames = try await peer.allFrames()
        #expect(frames.first(7)?.word(at: 4) == 1)
        await server.stop()
    }

    @Test("Random bytes after the preface never bring the server down", arguments: 0..<8)
    func randomFrames(seed: Int) async throws {
        let server = try HTTP2TestServer(.forTests())
        var random = SplitMix(seed: UInt64(seed))
        for _ in 0..<30 {
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
            var bytes: [UInt8] = []
            for _ in 0..<20 {
                var frame = RawFrame(
                    type: UInt8(random.next() % 12),
                    flags: UInt8(truncatingIfNeeded: random.next()),
                    stream: Int32(random.next() % 8),
                    payload: (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                )
                if random.next() % 3 == 0 { frame = .get(Int32(random.next() % 8), "/large") }
                bytes += frame.bytes
            }
            peer.sendRaw(bytes)
            server.loop.execute { peer.transport.close() }
            try await peer.closed.wait()
        }
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        peer.send(.get(1, "/hello"))
        #expect(try await peer.frames { $0.contains { $0.stream == 1 && $0.flags & 1 != 0 } }.status(1) == 200)
        await server.stop()
    }
}
