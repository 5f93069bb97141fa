// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(5)))
struct HTTP2FloodTests {
    enum Flood: String, CaseIterable, Sendable {
        case ping, pingAnswer, settings, goAway, rapidReset, provokedReset, lateReset, emptyData, paddingOnly, lateData
        case continuation, priority, priorityUpdate, unknown, largeUnknown, windowUpdate, lateWindowUpdate, byteWindow
        case refusedHeaders

        /// A dose that comes several times.
        func dose(_ round: Int32) -> [RawFrame] {
            switch self {
            case .ping: [RawFrame](repeating: .ping(), count: 100)
            case .pingAnswer: [RawFrame](repeating: .ping(answer: true), count: 200)
            case .settings: [RawFrame](repeating: .settings([(3, 100)]), count: 50)
            case .goAway:
                // With a request open: else the first one ends the connection in good order.
                (round == 0 ? [.get(1, "/gate")] : []) + [RawFrame](repeating: .goAway(0), count: 200)
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
            case .lateReset: Self.gone(round) + [RawFrame](repeating: .reset(1, 8), count: 200)
            case .emptyData: Self.upload(round) + [RawFrame](repeating: .data(1, []), count: 200)
            case .paddingOnly:
                Self.upload(round)
                    + [RawFrame](repeating: RawFrame(type: 0, flags: 8, stream: 1, payload: [2, 0, 0]), count: 200)
            case .lateData: Self.gone(round) + [RawFrame](repeating: .data(1, [1]), count: 200)
            case .continuation:
                (round == 0 ? [.headers(1, RawFrame.request("GET", "/hello"), isWhole: false)] : [])
                    + [RawFrame](repeating: RawFrame(type: 9, stream: 1), count: 100)
            case .priority:
                [RawFrame](repeating: RawFrame(type: 2, stream: 1, payload: [0, 0, 0, 0, 1]), count: 200)
            case .priorityUpdate:
                [RawFrame](repeating: RawFrame(type: 16, payload: [0, 0, 0, 1] + Array("u=1".utf8)), count: 200)
            case .unknown: [RawFrame](repeating: RawFrame(type: 0xee, flags: 0xff, stream: 3), count: 200)
            case .largeUnknown:
                [RawFrame](repeating: RawFrame(type: 0xee, payload: .init(repeating: 0, count: 16_384)), count: 40)
            case .windowUpdate: [RawFrame](repeating: .windowUpdate(0, 1), count: 500)
            case .lateWindowUpdate: Self.gone(round) + [RawFrame](repeating: .windowUpdate(1, 1), count: 500)
            case .byteWindow:
                // The window of the stream was closed by SETTINGS; each byte of it has us send a frame of one byte.
                (round == 0 ? [.settings([(4, 0)]), .get(1, "/body")] : [])
                    + [RawFrame](repeating: .windowUpdate(1, 1), count: 500)
            case .refusedHeaders:
                // The SETTINGS that allow 100 streams are never acknowledged, so that more are no error but refused.
                (0..<100).map { .get((round * 100 + Int32($0)) * 2 + 1, "/gate") }
            }
        }

        /// The beginning of an upload, in the first dose.
        private static func upload(_ round: Int32) -> [RawFrame] {
            round == 0 ? [.headers(1, RawFrame.request("POST", "/echo"), isLast: false)] : []
        }

        /// A stream that is gone before the flood begins.
        private static func gone(_ round: Int32) -> [RawFrame] {
            round == 0 ? [.headers(1, RawFrame.request("POST", "/echo"), isLast: false), .reset(1, 8)] : []
        }
    }

    @Test(
        "A flood of frames that do nothing ends the connection with ENHANCE_YOUR_CALM, by their number alone",
        .serialized,
        arguments: Flood.allCases
    )
    func floods(flood: Flood) async throws {
        // No deadline may end it, as some would in the same words: the test server has none.
        let server = try HTTP2TestServer(.forTests())
        // A machine that is busy elsewhere may be late now and then, and not each time.
        var best = Double.infinity
        for _ in 0..<5 where best >= 1 {
            let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
            let began = MonotonicTime.now()
            for round in 0..<20 { peer.send(flood.dose(Int32(round))) }
            let frames = try await peer.allFrames()
            best = min(best, (MonotonicTime.now() - began).inSeconds)
            #expect(frames.last { $0.type == 7 }?.word(at: 4) == 11, "\(flood)")
            #expect(frames.count < 2000)
        }
        print("flood of \(flood): ended after \(best) s")
        #expect(best < Double(Patience.factor))
        await server.stop()
    }

    @Test("A flood is over within a second, though its sender reads nothing and we owe it megabytes")
    func unread() async throws {
        let server = try HTTP2TestServer(.forTests(), limits: HTTPLimits())
        // A machine that is busy elsewhere may be late once, and not each time.
        var best = Double.infinity
        for _ in 0..<3 where best >= 1 {
            let port = server.port
            let seconds = try await runBlocking {
                let peer = try RawPeer(port, receiveBuffer: 2_048)
                // Windows that let all answers go out.
                var bytes = RawHTTP2Peer.preface + RawFrame.settings([(4, 0x7fff_ffff)]).bytes
                bytes += RawFrame.windowUpdate(0, 0x7fff_0000 - 65_535).bytes
                for stream in 0..<20 { bytes += RawFrame.get(Int32(stream) * 2 + 1, "/large").bytes }
                peer.send(bytes)
                let began = MonotonicTime.now()
                let pings = [RawFrame](repeating: .ping(), count: 400).flatMap(\.bytes)
                while peer.send(pings), MonotonicTime.now() - began < .seconds(30) {}
                return (MonotonicTime.now() - began).inSeconds
            }
            best = min(best, seconds)
        }
        print("a flood that reads nothing went on for \(best) s")
        #expect(best < Double(Patience.factor))
        await server.stop()
    }

    @Test("An upload in ten thousand frames of a byte, and one in which empty frames are few, are no flood")
    func honestUploads() async throws {
        let server = try HTTP2TestServer(.forTests())
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        peer.send([.headers(1, RawFrame.request("POST", "/echo"), isLast: false)])
        for _ in 0..<10 { peer.send([RawFrame](repeating: .data(1, [7]), count: 1000) + [.data(1, [])]) }
        peer.send(.data(1, [], isLast: true))
        let frames = try await peer.frames { $0.contains { $0.stream == 1 && $0.flags & 1 != 0 } }
        #expect(frames.status(1) == 200)
        #expect(frames.filter { $0.type == 0 }.reduce(0) { $0 + $1.payload.count } == 10_000)
        await server.stop()
    }

    @Test("The scanner sees the same frames however the bytes are cut", arguments: [1, 2, 8, 9, 10, 31, 5000])
    func scanner(piece: Int) {
        let frames = [
            RawFrame.settings([(3, 100)]), .ping(), .data(1, []), .data(1, .init(repeating: 9, count: 300)),
            RawFrame(type: 0xee, flags: 0x21, payload: .init(repeating: 6, count: 70_000)), .reset(1, 8),
        ]
        let bytes = RawHTTP2Peer.preface + frames.flatMap(\.bytes)
        var scanner = HTTP2FrameScanner()
        var seen: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let part = Array(bytes[start..<min(bytes.count, start + piece)])
            let isStopped = unsafe scanner.scan(part.span.bytes) { type, flags in
                seen.append([type, flags])
                return false
            }
            #expect(!isStopped)
        }
        #expect(seen == frames.map { [$0.type, $0.flags] })
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
            deadline: .now() + Patience.long
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
        var random = SeededGenerator(seed: UInt64(seed))
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
