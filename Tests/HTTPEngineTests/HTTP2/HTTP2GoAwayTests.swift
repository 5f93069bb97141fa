// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// What a GOAWAY excludes is never run, and its sender's reason reaches whoever asked.
@Suite(.timeLimit(.minutes(5)))
struct HTTP2GoAwayTests {
    /// A whole server, so that its connections and not the test decide what runs, that notes which requests were.
    private final class NotingServer: Sendable {
        let ran = Locked<[Int]>([])
        let loops: EventLoopGroup
        let port: Int
        private let shutdown = Signal()
        private let ended = Signal()

        init(_ control: HTTP2Control?) throws {
            var router = Router()
            let ran = ran
            router.on(.get, "/number/{n}") { _, parameters in
                ran.withLock { $0.append(Int(parameters["n"]) ?? -1) }
                return .text("ran")
            }
            loops = try EventLoopGroup(count: 1, name: "going")
            let (server, port) = try RunningServer.bound(router, on: loops, control: control)
            self.port = port
            loops.loops[0].spawn { [shutdown, ended] in
                try? await server.run(shutdown: shutdown)
                ended.fire()
            }
        }

        var loop: EventLoop { loops.loops[0] }
        func beginShutdown() { shutdown.fire() }

        func stop() async throws {
            shutdown.fire()
            try await ended.wait()
            await loops.shutdown()
        }
    }

    private static func get(_ number: Int) -> HTTP2Request {
        HTTP2Request(method: .get, scheme: "http", authority: "example.com", path: "/number/\(number)")
    }

    @Test("Of twenty requests in one read, those above a GOAWAY's last stream are not run, before it or after it")
    func excludedInOneRead() async throws {
        let control = HTTP2Control()
        control.decide { _, place in place.stream == 21 ? .goAway(.noError, lastStream: 9) : .serve }
        let server = try NotingServer(control)
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        peer.sendRaw((0..<20).flatMap { RawFrame.get(Int32($0) * 2 + 1, "/number/\($0 * 2 + 1)").bytes })
        let frames = try await peer.allFrames()
        #expect(server.ran.withLock { $0 } == [1, 3, 5, 7, 9])
        #expect(frames.first(7)?.word(at: 0) == 9)
        #expect(frames.filter { $0.type == 1 }.map(\.stream).sorted() == [1, 3, 5, 7, 9])
        try await server.stop()
    }

    @Test("A client hears of each request either its answer or that it may be sent again, as the server sees it")
    func bothSidesAgree() async throws {
        let control = HTTP2Control()
        control.decide { _, place in place.stream == 31 ? .goAway(.noError, lastStream: 15) : .serve }
        let server = try NotingServer(control)
        let connection = try await HTTP2ClientConnection.clear(to: server.port, on: server.loop)
        // On the loop, so that all go out together.
        let outcomes = try await server.loop.run {
            try await withThrowingTaskGroup(of: (Int, HTTPClientError.Code?).self) { group in
                for number in 0..<30 {
                    group.addTask {
                        do throws(HTTPClientError) {
                            let answer = try await connection.send(Self.get(number), deadline: Patience.long)
                            return (number, answer.status == .ok ? nil : .protocolError)
                        } catch {
                            return (number, error.code)
                        }
                    }
                }
                return try await group.reduce(into: [(Int, HTTPClientError.Code?)]()) { $0.append($1) }
            }
        }
        let answered = Set(outcomes.filter { $0.1 == nil }.map(\.0))
        #expect(answered.count == 8)
        #expect(outcomes.filter { $0.1 == .notProcessed }.count == 22)
        #expect(Set(server.ran.withLock { $0 }) == answered)
        await connection.close()
        try await server.stop()
    }

    @Test("Requests behind the answer to a shutdown's PING, in the same read, are not run")
    func excludedByShutdown() async throws {
        let server = try NotingServer(nil)
        let peer = try await RawHTTP2Peer.connect(port: server.port, loop: server.loop)
        server.loop.execute {
            peer.onFrame = { frame in
                guard frame.type == 6, frame.flags & 1 == 0 else { return }
                let answer = RawFrame(type: 6, flags: 1, payload: frame.payload)
                peer.sendRaw(RawFrame.get(1, "/number/1").bytes + answer.bytes + RawFrame.get(3, "/number/3").bytes)
            }
        }
        peer.send(.ping())
        try await peer.frames { $0.contains { $0.type == 6 && $0.flags & 1 != 0 } }
        server.beginShutdown()
        let frames = try await peer.allFrames()
        #expect(server.ran.withLock { $0 } == [1])
        #expect(frames.status(1) == 200 && frames.first(1, stream: 3) == nil)
        #expect(frames.last { $0.type == 7 }?.word(at: 0) == 1)
        try await server.stop()
    }

    @Test("Frames behind a GOAWAY in the same read change nothing for what it excludes, and open nothing")
    func answersBehindGoAway() async throws {
        let server = try RawHTTP2Server(settings: [(3, 4)]) { peer, frame, _ in
            guard frame.type <= 1, frame.flags & 1 != 0, frame.stream == 7 else { return }
            // Room for more streams, and answers on the excluded ones, come with the GOAWAY.
            peer.transport.write(
                RawFrame.goAway(3, 0, "reason").bytes + RawFrame.settings([(3, 100)]).bytes
                    + [1, 3, 5, 7].flatMap { RawFrame.ok($0).bytes }
            )
        }
        let connection = try await server.connect()
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10 { group.addTask { await connection.push(number, tally) } }
        }
        #expect(tally.succeeded == 2)
        #expect(tally[.notProcessed] == 8)
        try await server.peers[0].closed.wait()
        let frames = await server.loop.run { server.peers[0].frames }
        #expect(frames.filter { $0.type == 1 }.map(\.stream) == [1, 3, 5, 7])
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await connection.send(.push(11), deadline: Patience.long)
        }
        #expect(error?.code == .notProcessed && error?.goAwayReason == Array("reason".utf8))
        await server.stop()
    }

    @Test(
        "The reason of a GOAWAY that comes before SETTINGS reaches who wanted to connect, in whatever pieces it comes",
        arguments: [1, 9, 20, 1000]
    )
    func goAwayFirst(piece: Int) async throws {
        let reason = #"{"reason":"BadCertificateEnvironment"}"#
        let server = try RawHTTP2Server(settings: nil) { peer, frame, _ in
            guard frame.type == 4 else { return }
            let bytes = RawFrame.goAway(0, 0, reason).bytes
            Self.send(bytes[...], in: piece, peer)
        }
        let error = await #expect(throws: HTTPClientError.self) { _ = try await server.connect() }
        #expect(error?.code == .closed)
        #expect(error?.http2ErrorCode == .noError)
        #expect(error?.goAwayReason == Array(reason.utf8))
        await server.stop()
    }

    @Test("A first frame that is neither SETTINGS nor a whole GOAWAY ends the connection")
    func badFirstFrames() async throws {
        let frames = [
            RawFrame.ping(), RawFrame(type: 7, payload: [0, 0, 0]),
            RawFrame(type: 7, stream: 1, payload: .init(repeating: 0, count: 8)),
            RawFrame(type: 7, payload: .init(repeating: 0, count: 20_000)),
        ]
        for bad in frames {
            let server = try RawHTTP2Server(settings: nil) { peer, frame, _ in
                if frame.type == 4 { peer.transport.write(bad.bytes) }
            }
            let error = await #expect(throws: HTTPClientError.self) { _ = try await server.connect() }
            #expect(error?.goAwayReason == nil && error?.code != .timeout, "\(bad.type)")
            await server.stop()
        }
    }

    private static func send(_ bytes: ArraySlice<UInt8>, in piece: Int, _ peer: RawHTTP2Peer) {
        peer.transport.write(Array(bytes.prefix(piece)))
        let rest = bytes.dropFirst(piece)
        guard !rest.isEmpty else { return peer.transport.close() }
        peer.transport.flush()
        // Each piece is a read of its own on the other side.
        _ = peer.transport.loop.schedule(after: .milliseconds(1)) { send(rest, in: piece, peer) }
    }
}
