// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(5)))
struct HTTP2ClientConnectionTests {
    private static func isRequestEnd(_ frame: RawFrame) -> Bool { frame.type == 0 && frame.flags & 1 != 0 }

    private static func pushes(
        _ numbers: Range<Int>,
        over connection: HTTP2ClientConnection,
        _ tally: Tally,
        deadline: Duration = Patience.long
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for number in numbers { group.addTask { await connection.push(number, tally, deadline: deadline) } }
        }
    }

    @Test("GOAWAY in a batch of 100: streams up to its last are answered, later ones and what waits may be sent again")
    func goAwayInBatch() async throws {
        // 60 streams are open when GOAWAY names the 20th; 40 wait.
        let server = try RawHTTP2Server(settings: [(3, 60)]) { peer, frame, _ in
            guard Self.isRequestEnd(frame), frame.stream == 119 else { return }
            peer.transport.write(RawFrame.goAway(39, 0, #"{"reason":"Shutdown"}"#).bytes)
            for stream in stride(from: Int32(1), through: 39, by: 2) {
                peer.transport.write(RawFrame.ok(stream).bytes)
            }
        }
        let connection = try await server.connect()
        let tally = Tally()
        await Self.pushes(0..<100, over: connection, tally)
        #expect(tally.succeeded == 20)
        #expect(tally[.notProcessed] == 80)
        #expect(connection.isGoingAway)
        #expect(connection.goAwayReason == Array(#"{"reason":"Shutdown"}"#.utf8))
        await connection.push(100, tally)
        #expect(tally[.notProcessed] == 81)
        // No stream was opened after the GOAWAY, and the connection ended by itself.
        let frames = await server.loop.run { server.peers[0].frames }
        #expect(frames.filter { $0.type == 1 }.map(\.stream).max() == 119)
        try await server.peers[0].closed.wait()
        await server.stop()
    }

    @Test("Streams below a GOAWAY's last that are never answered end at their deadline")
    func goAwayThenSilence() async throws {
        let server = try RawHTTP2Server { peer, frame, _ in
            if Self.isRequestEnd(frame), frame.stream == 9 { peer.transport.write(RawFrame.goAway(9).bytes) }
        }
        let connection = try await server.connect()
        let tally = Tally()
        await Self.pushes(0..<5, over: connection, tally, deadline: .milliseconds(300))
        #expect(tally[.timeout] == 5)
        await connection.close()
        await server.stop()
    }

    @Test("A graceful notice stops new streams; those open are answered")
    func gracefulNotice() async throws {
        let server = try RawHTTP2Server(settings: [(3, 3)]) { peer, frame, _ in
            guard Self.isRequestEnd(frame), frame.stream == 5 else { return }
            peer.transport.write(RawFrame.goAway(0x7fff_ffff).bytes)
            for stream in [1, 3, 5] as [Int32] { peer.transport.write(RawFrame.ok(stream).bytes) }
        }
        let connection = try await server.connect()
        let tally = Tally()
        await Self.pushes(0..<10, over: connection, tally)
        #expect(tally.succeeded == 3)
        #expect(tally[.notProcessed] == 7)
        await server.stop()
    }

    @Test("SETTINGS 500, 1, 500 while sending: never exceeded, and back to full rate")
    func changingSettings() async throws {
        struct State: Sendable {
            var open = Set<Int32>()
            var limit = 500
            var excess = 0
            var peak = 0
            var served = 0
            var waiting: [Int32] = []
        }
        let state = Locked(State())
        let server = try RawHTTP2Server(settings: [(3, 500)]) { peer, frame, _ in
            let batch = state.withLock { state -> [Int32] in
                switch frame.type {
                case 1:
                    state.open.insert(frame.stream)
                    state.excess = max(state.excess, state.open.count - state.limit)
                    state.peak = max(state.peak, state.open.count)
                case 4 where frame.flags & 1 != 0 && (600..<1200).contains(state.served):
                    // A lower limit binds from the client's acknowledgement on; a higher one from when it was sent.
                    state.limit = 1
                default: break
                }
                guard Self.isRequestEnd(frame) else { return [] }
                // Answers are held back until as many are open as may be, so that the limit is really reached.
                state.waiting.append(frame.stream)
                let isFull = state.waiting.count >= 400 || state.limit == 1
                guard isFull || (600..<1200).contains(state.served) || state.served + state.waiting.count >= 2600 else {
                    return []
                }
                defer { state.waiting = [] }
                return state.waiting
            }
            for stream in batch {
                let served = state.withLock { state in
                    _ = state.open.remove(stream)
                    state.served += 1
                    if state.served == 1200 { state.limit = 500 }
                    return state.served
                }
                peer.transport.write(RawFrame.ok(stream).bytes)
                if served == 600 { peer.transport.write(RawFrame.settings([(3, 1)]).bytes) }
                if served == 1200 { peer.transport.write(RawFrame.settings([(3, 500)]).bytes) }
            }
        }
        let connection = try await server.connect()
        #expect(connection.streamLimit == 500)
        let tally = Tally()
        await Self.pushes(0..<3000, over: connection, tally)
        #expect(tally.succeeded == 3000, "\(tally.failures)")
        #expect(state.withLock { $0.excess } <= 0)
        #expect(state.withLock { $0.peak } >= 400)
        #expect(connection.streamLimit == 500)
        await connection.close()
        await server.stop()
    }

    @Test("No stream is opened before the server's SETTINGS, nor while they allow none")
    func waitsForSettings() async throws {
        let server = try RawHTTP2Server(settings: [(3, 0)]) { peer, frame, _ in
            if Self.isRequestEnd(frame) { peer.transport.write(RawFrame.ok(frame.stream).bytes) }
            if frame.type == 6 { peer.transport.write(RawFrame(type: 6, flags: 1, payload: frame.payload).bytes) }
        }
        let connection = try await server.connect()
        let tally = Tally()
        async let sent: Void = Self.pushes(0..<3, over: connection, tally)
        try await connection.ping(deadline: Patience.long)
        #expect(connection.openStreams == 0)
        server.peers[0].send(.settings([(3, 1)]))
        await sent
        #expect(tally.succeeded == 3)
        await connection.close()
        await server.stop()

        let silent = try RawHTTP2Server(settings: nil) { _, _, _ in }
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await HTTP2ClientConnection.connect(
                host: "127.0.0.1",
                port: silent.port,
                tls: nil,
                loop: silent.loop,
                deadline: .milliseconds(200)
            )
        }
        #expect(error?.code == .timeout)
        await silent.stop()
    }

    @Test("A storm of resets ends each request with its own code: refused ones may be sent again")
    func resetStorm() async throws {
        let server = try RawHTTP2Server { peer, frame, _ in
            guard Self.isRequestEnd(frame) else { return }
            let index = (frame.stream - 1) / 2
            switch index % 3 {
            case 0: peer.transport.write(RawFrame.reset(frame.stream, 7).bytes)
            case 1: peer.transport.write(RawFrame.reset(frame.stream, 2).bytes)
            default: peer.transport.write(RawFrame.ok(frame.stream).bytes)
            }
        }
        let connection = try await server.connect()
        let tally = Tally()
        await Self.pushes(0..<900, over: connection, tally)
        #expect(tally[.notProcessed] == 300)
        #expect(tally[.reset] == 300)
        #expect(tally.succeeded == 300)
        #expect(connection.openStreams == 0)
        await connection.close()
        await server.stop()
    }

    @Test("A black hole: every request ends at its deadline, its stream is reset, a PING tells")
    func blackHole() async throws {
        let server = try RawHTTP2Server(settings: [(3, 50)]) { _, _, _ in }
        let connection = try await server.connect()
        let tally = Tally()
        await Self.pushes(0..<200, over: connection, tally, deadline: .milliseconds(250) * Patience.factor)
        let error = await #expect(throws: HTTPClientError.self) {
            try await connection.ping(deadline: .milliseconds(100))
        }
        #expect(error?.code == .timeout)
        // Fifty had a stream at most; what waited for one to the end was never sent, and is safe to send again.
        #expect(tally[.timeout] + tally[.notProcessed] == 200)
        #expect(tally[.timeout] <= 50)
        #expect(connection.openStreams == 0)
        // On a busy machine a request's time can be over before its stream is open. Those that were opened are all reset.
        let frames = try await server.peers[0].frames { frames in
            frames.count { $0.type == 3 } == frames.count { $0.type == 1 }
        }
        #expect(frames.contains { $0.type == 3 })
        await connection.close()
        await server.stop()
    }

    @Test("A link that is cut fails what was sent as closed and what was not as safe to send again")
    func cut() async throws {
        let server = try RawHTTP2Server(settings: [(3, 10)]) { peer, frame, _ in
            if Self.isRequestEnd(frame), frame.stream == 19 { peer.transport.abort() }
        }
        let connection = try await server.connect()
        let tally = Tally()
        await Self.pushes(0..<30, over: connection, tally)
        #expect(tally[.closed] == 10)
        #expect(tally[.notProcessed] == 20)
        await server.stop()
    }

    @Test("Cancelling a request resets its stream")
    func cancellation() async throws {
        let server = try RawHTTP2Server(settings: [(3, 1)]) { _, _, _ in }
        let connection = try await server.connect()
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<5 { group.addTask { await connection.push(number, tally) } }
            _ = try? await server.peers[0].frames { $0.contains { $0.type == 1 } }
            group.cancelAll()
        }
        #expect(tally[.cancelled] == 5)
        // One that waited may have got the stream of another that was cancelled before it; none is left open.
        let frames = try await server.peers[0].frames { frames in
            frames.count { $0.type == 3 } > 0 && frames.count { $0.type == 3 } == frames.count { $0.type == 1 }
        }
        #expect(frames.count { $0.type == 1 } <= 5)
        #expect(connection.openStreams == 0)
        await connection.close()
        await server.stop()
    }

    @Test("Answers are bounded: body and header")
    func bounded() async throws {
        let server = try RawHTTP2Server { peer, frame, _ in
            guard Self.isRequestEnd(frame) else { return }
            if frame.stream == 1 {
                peer.transport.write(RawFrame.ok(1, isLast: false).bytes)
                for _ in 0..<3 { peer.transport.write(RawFrame.data(1, [UInt8](repeating: 1, count: 1000)).bytes) }
            } else {
                let fields = (0..<15).map { ("x-\($0)", String(repeating: "a", count: 1000)) }
                let block = [0x88] + RawFrame.block(fields)
                var frames = RawFrame(type: 1, flags: 5, stream: frame.stream, payload: block).split(3)
                frames += [.ping()]
                for frame in frames { peer.transport.write(frame.bytes) }
            }
        }
        var limits = HTTP2ClientConnection.Limits()
        limits.headerBytes = 10_000
        let connection = try await server.connect(limits: limits)
        var request = HTTP2Request.push(1)
        request.responseLimit = 2500
        for _ in 0..<2 {
            let error = await #expect(throws: HTTPClientError.self) {
                _ = try await connection.send(request, deadline: Patience.long)
            }
            #expect(error?.code == .tooLarge)
        }
        await connection.close()
        await server.stop()
    }

    @Test("Interim answers are passed over, trailers dropped, and an answer before the upload's end counts")
    func unusualAnswers() async throws {
        let server = try RawHTTP2Server { peer, frame, _ in
            guard frame.type == 1 else { return }
            let interim = RawFrame(type: 1, flags: 4, stream: frame.stream, payload: [0x08, 3] + Array("103".utf8))
            var answer = [interim, .ok(frame.stream, isLast: false), .data(frame.stream, [1, 2])]
            answer.append(.headers(frame.stream, [("x-trailer", "1")]))
            if frame.flags & 1 == 0 { answer.append(.reset(frame.stream, 0)) }
            for frame in answer { peer.transport.write(frame.bytes) }
        }
        let connection = try await server.connect()
        var request = HTTP2Request.push(1)
        request.body = [UInt8](repeating: 9, count: 500_000)
        let response = try await connection.send(request, deadline: Patience.long)
        #expect(response.status == .ok)
        #expect(response.body == [1, 2])
        #expect(response.headers["x-trailer"] == nil)
        await connection.close()
        await server.stop()
    }

    @Test(
        "A request that HTTP/2 cannot carry is refused here and harms no other",
        arguments: [("X-Upper", "1"), ("x", "a\r\nb: c"), ("x", "a\0"), ("", "1"), ("x y", "1")]
    )
    func invalidFields(name: String, value: String) async throws {
        let server = try RawHTTP2Server { peer, frame, _ in
            if Self.isRequestEnd(frame) { peer.transport.write(RawFrame.ok(frame.stream).bytes) }
        }
        let connection = try await server.connect()
        var request = HTTP2Request.push(1)
        request.headers.append(.init(name, value))
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await connection.send(request, deadline: Patience.long)
        }
        #expect(error?.code == .protocolError)
        let tally = Tally()
        await connection.push(2, tally)
        #expect(tally.succeeded == 1)
        await connection.close()
        await server.stop()
    }

    @Test("Draining waits for open requests and takes no more")
    func drains() async throws {
        let server = try RawHTTP2Server { peer, frame, _ in
            // The answer comes with the PING after.
            if frame.type == 6, frame.flags & 1 == 0 {
                peer.transport.write(RawFrame.ok(1).bytes + RawFrame(type: 6, flags: 1, payload: frame.payload).bytes)
            }
        }
        let connection = try await server.connect()
        let tally = Tally()
        async let first: Void = connection.push(1, tally)
        try await server.peers[0].frames { $0.contains { Self.isRequestEnd($0) } }
        async let drained: Void = connection.drain(deadline: Patience.long)
        while !connection.isGoingAway { await Task.yield() }
        await connection.push(2, tally)
        #expect(tally[.notProcessed] == 1)
        try await connection.ping(deadline: Patience.long)
        await first
        await drained
        #expect(tally.succeeded == 1)
        await server.stop()
    }

    @Test("Whatever the server does, every request ends exactly once", arguments: 0..<12)
    func randomFaults(seed: Int) async throws {
        let random = Locked(SeededGenerator(seed: UInt64(seed) &* 977 &+ 5))
        let server = try RawHTTP2Server(settings: [(3, 20)]) { peer, frame, _ in
            guard frame.type <= 1 else { return }
            let draw = random.withLock { $0.next() % 40 }
            let stream = frame.stream
            let answer: [RawFrame] =
                switch draw {
                case 0: [.reset(stream, 7)]
                case 1: [.reset(stream, 2)]
                case 2: [.ok(stream, isLast: false)]
                case 3: [.ok(stream, isLast: false), .data(stream, [1]), .data(stream, [2], isLast: true)]
                case 4: [.settings([(3, UInt32(random.withLock { $0.next() % 30 }))])]
                case 5: []
                case 6: random.withLock { $0.next() % 6 } == 0 ? [.goAway(stream, 0, "bye")] : [.ping()]
                case 7: random.withLock { $0.next() % 6 } == 0 ? [.data(0, [1])] : [.windowUpdate(stream, 5)]
                case 8: [.windowUpdate(stream, 0)]
                case 9: [.headers(stream, [("x", "y")])]
                default: Self.isRequestEnd(frame) ? [.ok(stream)] : []
                }
            for frame in answer { peer.transport.write(frame.bytes) }
            if draw == 10, random.withLock({ $0.next() % 20 }) == 0 { peer.transport.abort() }
        }
        let connection = try await server.connect()
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                let deadline: Duration = .milliseconds(50 + Int(random.withLock { $0.next() % 400 }))
                let isCancelled = random.withLock { $0.next() % 10 } == 0
                group.addTask {
                    await withTaskGroup(of: Void.self) { inner in
                        inner.addTask { await connection.push(number, tally, deadline: deadline) }
                        if isCancelled {
                            await Task.yield()
                            inner.cancelAll()
                        }
                    }
                }
            }
        }
        #expect(tally.total == 300)
        await connection.close()
        #expect(connection.openStreams == 0)
        await server.stop()
    }
}
