// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(5)))
struct SocketTransportTests {
    @Test(
        "Megabytes of large and small pieces arrive in order, the writer keeping to its water marks",
        arguments: [false, true]
    )
    func transfersUnderBackPressure(tls: Bool) async throws {
        let pair = try TransportPair(tls: tls)
        let total = 6_000_000
        let arrived = Signal()
        pair.loop.execute {
            let pattern = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
            var sent = 0
            var random = SeededGenerator(seed: 1)
            var highest = 0
            let produce = {
                while sent < total, !pair.near.isAboveHighWater {
                    let length = min(total - sent, [9, 700, 16_384, 60_000][Int(random.next() % 4)])
                    pair.near.write(Array(pattern[(sent % 251)...].prefix(length)))
                    sent += length
                    highest = max(highest, pair.near.queuedBytes)
                }
            }
            pair.nearSide.onReady = produce
            pair.nearSide.onWritable = {
                produce()
                #expect(highest <= 256 * 1024 + 60_000)
            }
            pair.farSide.onReceived = { if pair.farSide.received.count >= total { arrived.fire() } }
        }
        try await pair.start()
        try await arrived.wait()
        try await pair.finish()
        #expect(pair.farSide.received.count == total)
        let expected = unsafe [UInt8](unsafeUninitializedCapacity: total) { buffer, count in
            for index in 0..<total { unsafe buffer[index] = UInt8(index % 251) }
            count = total
        }
        #expect(pair.farSide.received == expected)
        #expect(pair.nearSide.writables > 3)
    }

    @Test("Closing sends what is queued first, and the peer sees an orderly end", arguments: [false, true])
    func closeFlushes(tls: Bool) async throws {
        let pair = try TransportPair(tls: tls)
        pair.loop.execute {
            pair.nearSide.onReady = {
                pair.near.write([UInt8](repeating: 7, count: 2_000_000))
                pair.near.close()
                pair.near.write([1, 2, 3])
            }
            pair.farSide.onEnd = { pair.far.close() }
        }
        try await pair.start()
        try await pair.nearSide.closed.wait()
        try await pair.farSide.closed.wait()
        await pair.loop.shutdown()
        #expect(pair.farSide.received.count == 2_000_000)
        #expect(pair.farSide.ended.isFired)
        guard case .local = try #require(pair.nearSide.closures.first) else {
            Issue.record("\(pair.nearSide.closures)")
            return
        }
    }

    @Test("A close waits until a full socket has room for TLS's goodbye, and the peer sees an orderly end")
    func closeOfFullSocket() async throws {
        let pair = try TransportPair(tls: true)
        try await pair.start()
        pair.loop.execute {
            // Bytes that are no TLS: they are taken away again before the peer's session reads.
            let junk = [UInt8](repeating: 0, count: 65_536)
            while unsafe Glibc.write(pair.near.descriptor, junk, junk.count) > 0 {}
            while unsafe Glibc.write(pair.near.descriptor, junk, 1) > 0 {}
            pair.near.close()
            var buffer = junk
            while unsafe Glibc.read(pair.far.descriptor, &buffer, buffer.count) > 0 {}
        }
        try await pair.farSide.closed.wait()
        #expect(pair.farSide.ended.isFired, "\(pair.farSide.closures)")
        try await pair.nearSide.closed.wait()
        await pair.loop.shutdown()
    }

    @Test(
        "A peer that makes no room for TLS's goodbye can't keep the connection, whatever it says",
        arguments: [false, true]
    )
    func goodbyeWithoutRoom(talks: Bool) async throws {
        var settings = SocketTransport.Settings()
        settings.writeTimeout = .seconds(1)
        let pair = try TransportPair(tls: true, near: settings)
        try await pair.start()
        pair.loop.execute {
            pair.far.pauseReading()
            let junk = [UInt8](repeating: 0, count: 65_536)
            while unsafe Glibc.write(pair.near.descriptor, junk, junk.count) > 0 {}
            while unsafe Glibc.write(pair.near.descriptor, junk, 1) > 0 {}
            pair.near.close()
        }
        let limit = MonotonicTime.now() + Patience.long
        while MonotonicTime.now() < limit, !pair.nearSide.closed.isFired {
            // Each byte wakes the other side well within the time that it gives.
            if talks { pair.loop.execute { pair.far.write([1]) } }
            try await sleep(for: .milliseconds(20))
        }
        #expect(pair.nearSide.closed.isFired)
        pair.loop.execute {
            pair.near.abort()
            pair.far.abort()
        }
        try await pair.nearSide.closed.wait()
        try await pair.farSide.closed.wait()
        await pair.loop.shutdown()
    }

    @Test(
        "A delegate may end the transport in any of its calls and hears of the end once",
        arguments: [false, true],
        0..<3
    )
    func endsInsideCallbacks(tls: Bool, place: Int) async throws {
        let pair = try TransportPair(tls: tls)
        pair.loop.execute {
            let abort = {
                pair.near.write([1])
                pair.near.abort()
                pair.near.abort()
                pair.near.close()
                #expect(pair.nearSide.closures.isEmpty)
            }
            switch place {
            case 0: pair.nearSide.onReady = abort
            case 1: pair.nearSide.onReceived = abort
            default:
                pair.nearSide.onEnd = abort
                pair.farSide.onReceived = { pair.far.close() }
            }
            pair.farSide.onReady = { pair.far.write([UInt8](repeating: 1, count: 300_000)) }
            if place == 2 { pair.nearSide.onReady = { pair.near.write([5]) } }
            pair.farSide.onEnd = { pair.far.abort() }
        }
        pair.begin()
        try await pair.nearSide.closed.wait()
        try await pair.farSide.closed.wait()
        await pair.loop.shutdown()
        #expect(pair.nearSide.closures.count == 1)
        #expect(pair.farSide.closures.count == 1)
    }

    @Test("A paused transport delivers nothing, and everything once it is resumed", arguments: [false, true])
    func pausing(tls: Bool) async throws {
        let pair = try TransportPair(tls: tls)
        let first = Signal()
        let all = Signal()
        pair.loop.execute {
            pair.nearSide.onReady = { pair.near.write([UInt8](repeating: 3, count: 200_000)) }
            pair.farSide.onReceived = {
                if !first.isFired {
                    pair.far.pauseReading()
                    first.fire()
                } else if pair.farSide.received.count == 200_000 {
                    all.fire()
                }
            }
        }
        try await pair.start()
        try await first.wait()
        let before = await pair.loop.run { pair.farSide.received.count }
        // A few turns of the loop in which it could go wrong.
        for _ in 0..<20 { await pair.loop.run { await Task.yield() } }
        let after = await pair.loop.run { pair.farSide.received.count }
        #expect(before == after)
        pair.loop.execute { pair.far.resumeReading() }
        try await all.wait()
        try await pair.finish()
    }

    @Test("A peer that stops reading is cut off after the write timeout")
    func stalledPeer() async throws {
        var settings = SocketTransport.Settings()
        settings.writeTimeout = .milliseconds(150)
        let pair = try TransportPair(tls: false, near: settings)
        pair.loop.execute {
            pair.farSide.onReady = { pair.far.pauseReading() }
            pair.nearSide.onReady = { pair.near.write([UInt8](repeating: 3, count: 4_000_000)) }
        }
        try await pair.start()
        try await pair.nearSide.closed.wait()
        guard case .writeStalled = try #require(pair.nearSide.closures.first) else {
            Issue.record("\(pair.nearSide.closures)")
            return
        }
        try await pair.finish()
    }

    @Test("A peer that never begins its TLS handshake is cut off after the handshake timeout")
    func silentHandshake() async throws {
        var settings = SocketTransport.Settings()
        settings.handshakeTimeout = .milliseconds(100)
        let pair = try TransportPair(tls: true, far: settings)
        pair.loop.execute { pair.far.start(pair.farSide) }
        try await pair.farSide.closed.wait()
        guard case .handshakeTimeout = try #require(pair.farSide.closures.first) else {
            Issue.record("\(pair.farSide.closures)")
            return
        }
        await pair.loop.shutdown()
    }

    @Test("A protocol is agreed on by ALPN")
    func alpn() async throws {
        let pair = try TransportPair(tls: true)
        try await pair.start()
        let protocols = await pair.loop.run { (pair.near.applicationProtocol, pair.far.applicationProtocol) }
        #expect(protocols == ("h2", "h2"))
        try await pair.finish()
    }
}
