// SPDX-License-Identifier: Apache-2.0
import CLinux
import Cryptography
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

// One after the other: they measure, and one of them opens thousands of connections.
@Suite("HTTP/1.1 server: deadlines and caps", .serialized)
struct HTTPServerDeadlineTests {
    /// Only the deadline under test is near: what ends a connection can be nothing else.
    private static func limits(_ change: (inout HTTPLimits) -> Void) -> HTTPLimits {
        var limits = RunningServer.limits
        change(&limits)
        return limits
    }

    /// Sends a byte now and then until the server has ended the connection; says what it said, and whether anything was
    /// left to be sent.
    private static func trickle(_ peer: RawPeer, _ text: String) -> (text: String, isCutShort: Bool) {
        let start = MonotonicTime.now()
        var bytes = Array(text.utf8)[...]
        var heard: [UInt8] = []
        while true {
            var poll = pollfd(fd: peer.descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe Glibc.poll(&poll, 1, 40) > 0 {
                let (more, end) = peer.read()
                heard += more
                if end != nil { break }
            }
            if let next = bytes.popFirst() { peer.send([next]) }
            if MonotonicTime.now() - start > Patience.long { return ("never ended", false) }
        }
        return (String(decoding: heard, as: UTF8.self), !bytes.isEmpty)
    }

    @Test(
        "a header that trickles in is ended within its time from the connection's start",
        arguments: ["GET /hello HTTP/1.1\r\nX: " + String(repeating: "a", count: 2_000), "PRI * HT", "P", ""]
    )
    func slowHeader(text: String) async throws {
        let limits = Self.limits { $0.headerTimeout = .milliseconds(600) }
        try await RunningServer.with(limits) { server in
            let start = MonotonicTime.now()
            let (heard, isCutShort) = try await server.talk { Self.trickle($0, text) }
            #expect(MonotonicTime.now() - start >= .milliseconds(600))
            // Every byte would win it another 600 ms if it was not the whole header that has its time.
            #expect(isCutShort || text.utf8.count < 10)
            #expect(heard.isEmpty || heard.hasPrefix("HTTP/1.1 408 "), "\(heard)")
        }
    }

    @Test("bytes that leave the protocol open win no second time for the header")
    func lateProtocol() async throws {
        let limits = Self.limits { $0.headerTimeout = .seconds(2) * Patience.factor }
        try await RunningServer.with(limits) { server in
            let seconds = try await server.talk { peer in
                let began = MonotonicTime.now()
                peer.send("PRI")
                // Most of the time passes before it turns out to be HTTP/1.1 after all.
                var none = pollfd(fd: peer.descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&none, 1, Int32(1_800 * Patience.factor))
                peer.send("X")
                _ = peer.readToEnd()
                return (MonotonicTime.now() - began).inSeconds
            }
            // A second time would end at 3.8.
            let factor = Double(Patience.factor)
            #expect(seconds >= 1.8 * factor && seconds < 3.6 * factor)
        }
    }

    @Test("a later request's header has its time from its first byte")
    func slowLaterHeader() async throws {
        let limits = Self.limits { $0.headerTimeout = .milliseconds(500) }
        try await RunningServer.with(limits) { server in
            let heard = try await server.talk { peer in
                peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try peer.answer()
                return Self.trickle(peer, "GET /" + String(repeating: "a", count: 300)).text
            }
            #expect(heard.hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test("an idle connection is kept for its time, then closed without a word")
    func idle() async throws {
        let limits = Self.limits { $0.idleTimeout = .milliseconds(500) }
        try await RunningServer.with(limits) { server in
            try await server.talk { peer in
                var start = MonotonicTime.now()
                for _ in 0..<3 {
                    start = MonotonicTime.now()
                    peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                    try #expect(peer.answer().body == "hello")
                }
                let (rest, end) = peer.readToEnd()
                #expect(rest.isEmpty && end == .closed && MonotonicTime.now() - start >= .milliseconds(500))
            }
        }
    }

    @Test("a body slower than the least rate is 408", arguments: ["Content-Length: 900", "Transfer-Encoding: chunked"])
    func slowBody(framing: String) async throws {
        let limits = Self.limits { $0.bodyGrace = .milliseconds(400) }
        try await RunningServer.with(limits) { server in
            let (heard, isCutShort) = try await server.talk { peer in
                peer.send("POST /echo HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
                return Self.trickle(peer, "200\r\n" + String(repeating: "a", count: 500))
            }
            #expect(heard.hasPrefix("HTTP/1.1 408 ") && isCutShort)
            #expect(server.probe.paths.withLock { $0.isEmpty })
        }
    }

    @Test("a body that is not there when its request's time is over is 408, however long it might be slow")
    func lateBody() async throws {
        let limits = Self.limits { $0.requestTimeout = .milliseconds(400) }
        try await RunningServer.with(limits) { server in
            let (heard, isCutShort) = try await server.talk { peer in
                peer.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n")
                return Self.trickle(peer, String(repeating: "a", count: 800))
            }
            #expect(heard.hasPrefix("HTTP/1.1 408 ") && isCutShort)
        }
    }

    @Test("a handler that takes too long is cancelled and the answer is 503")
    func slowHandler() async throws {
        let limits = Self.limits { $0.requestTimeout = .milliseconds(400) }
        try await RunningServer.with(limits) { server in
            let (text, end) = try await server.talk { peer in
                peer.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                return peer.readToEnd()
            }
            #expect(text.hasPrefix("HTTP/1.1 503 ") && text.components(of: "HTTP/1.1") == 1 && end == .closed)
            try await withDeadline(Patience.long) { try await server.probe.isCancelled.wait() }
        }
    }

    @Test("a client that is gone cancels its handler")
    func goneClient() async throws {
        try await RunningServer.with { server in
            try await server.talk { peer in
                peer.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = peer.read(0)
                var none = pollfd(fd: peer.descriptor, events: Int16(POLLIN), revents: 0)
                while !server.probe.isWaiting.isFired { _ = unsafe poll(&none, 1, 5) }
                peer.reset()
            }
            try await withDeadline(Patience.long) { try await server.probe.isCancelled.wait() }
        }
    }

    @Test("a client that has only ended its side gets its answer")
    func halfClosed() async throws {
        try await RunningServer.with { server in
            let text = try await server.talk { peer in
                peer.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                peer.finish()
                var none = pollfd(fd: peer.descriptor, events: 0, revents: 0)
                while !server.probe.isWaiting.isFired { _ = unsafe poll(&none, 1, 5) }
                server.probe.gate.fire()
                return peer.readToEnd().text
            }
            #expect(text.hasSuffix("open"))
        }
    }

    @Test("a client that takes no byte of its answer is cut off")
    func writeStall() async throws {
        let limits = Self.limits { $0.writeTimeout = .milliseconds(500) }
        try await RunningServer.with(limits) { server in
            let end = try await server.talk(receiveBuffer: 4096) { peer in
                peer.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                var none = pollfd(fd: peer.descriptor, events: 0, revents: 0)
                while server.server.connectionCount == 0 { _ = unsafe poll(&none, 1, 5) }
                let start = MonotonicTime.now()
                while MonotonicTime.now() - start < Patience.long, server.server.connectionCount > 0 {
                    _ = unsafe poll(&none, 1, 20)
                }
                return server.server.connectionCount
            }
            #expect(end == 0)
        }
    }

    @Test("a client that takes its answer more slowly than the least rate is cut off, however steadily it takes")
    func slowReader() async throws {
        let limits = Self.limits {
            $0.writeTimeout = .milliseconds(500)
            $0.minimumWriteRate = 4_000_000
        }
        try await RunningServer.with(limits) { server in
            let taken = try await server.talk(receiveBuffer: 4096) { peer in
                peer.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                var none = pollfd(fd: -1, events: 0, revents: 0)
                while server.server.connectionCount == 0 { _ = unsafe poll(&none, 1, 5) }
                let start = MonotonicTime.now()
                var taken = 0
                // 50 reads of 4 KB a second at most: never silent for long, and far too slow.
                while MonotonicTime.now() - start < Patience.long, server.server.connectionCount > 0 {
                    taken += peer.read(4096).bytes.count
                    _ = unsafe poll(&none, 1, 20)
                }
                return taken
            }
            #expect(server.server.connectionCount == 0)
            #expect(taken > 0 && taken < RunningServer.largeCount)
        }
    }

    @Test("a client that is slow but faster than the least rate gets all, over many write timeouts")
    func slowEnoughReader() async throws {
        let limits = Self.limits {
            $0.writeTimeout = .milliseconds(400) * Patience.factor
            $0.minimumWriteRate = 50_000 / Patience.factor
        }
        try await RunningServer.with(limits) { server in
            let taken = try await server.talk(receiveBuffer: 4096) { peer in
                peer.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                var taken = 0
                while true {
                    let (bytes, end) = peer.read(65_536)
                    taken += bytes.count
                    if end != nil { return taken }
                    // Slowly for some seconds, then as fast as it goes.
                    var none = pollfd(fd: -1, events: 0, revents: 0)
                    if taken < 1_000_000 * min(4, Patience.factor) { _ = unsafe poll(&none, 1, 5) }
                }
            }
            #expect(taken > RunningServer.largeCount)
        }
    }

    @Test("a body has no more time than its request, however long it may be slow")
    func longGrace() async throws {
        let limits = Self.limits {
            $0.requestTimeout = .milliseconds(500)
            $0.bodyGrace = .seconds(3600)
        }
        try await RunningServer.with(limits) { server in
            let text = try await server.talk { peer in
                peer.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
                return peer.readToEnd().text
            }
            #expect(text.hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test("a body and its handler share one request's time")
    func wholeRequest() async throws {
        let limits = Self.limits { $0.requestTimeout = .seconds(2) * Patience.factor }
        try await RunningServer.with(limits) { server in
            let (text, seconds) = try await server.talk { peer in
                peer.send("POST /gate HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na")
                let start = MonotonicTime.now()
                var none = pollfd(fd: -1, events: 0, revents: 0)
                _ = unsafe poll(&none, 1, Int32(1_200 * Patience.factor))
                peer.send("b")
                let text = peer.readToEnd().text
                return (text, (MonotonicTime.now() - start).inSeconds)
            }
            #expect(text.hasPrefix("HTTP/1.1 503 "))
            // With a time of its own the handler would have had until 3.2 s.
            let factor = Double(Patience.factor)
            #expect(seconds > 1.9 * factor && seconds < 3.1 * factor)
        }
    }

    @Test("connections beyond the cap of an address or in all are closed; places are given back")
    func caps() async throws {
        let limits = Self.limits {
            $0.connectionsPerAddress = 3
            $0.connections = 5
        }
        try await RunningServer.with(limits) { server in
            let port = server.port
            try await runBlocking {
                func greet(_ peer: RawPeer) -> Bool {
                    peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                    return (try? peer.answer().status) == 200
                }
                var peers = try (0..<3).map { _ in try RawPeer(port) }
                #expect(peers.allSatisfy(greet))
                try #expect(!greet(RawPeer(port)), "a fourth of one address")
                peers += try (0..<2).map { _ in try RawPeer(port, from: 0x7f00_0002) }
                #expect(peers.allSatisfy(greet))
                try #expect(!greet(RawPeer(port, from: 0x7f00_0003)), "a sixth in all")
                peers = []
                var none = pollfd(fd: -1, events: 0, revents: 0)
                let start = MonotonicTime.now()
                while server.server.connectionCount > 0, MonotonicTime.now() - start < Patience.long {
                    _ = unsafe poll(&none, 1, 10)
                }
                try #expect(greet(RawPeer(port)))
            }
        }
    }

    @Test(
        "slow clients keep nobody waiting on any listener, and each is closed ten seconds after its start",
        arguments: [false, true]
    )
    func slowloris(isSecure: Bool) async throws {
        try Self.allowDescriptors(6_000)
        // The limits that are served with: a hundred connections of an address, ten seconds for a header.
        let limits = HTTPLimits()
        let context = isSecure ? try TestIdentity.client(alpn: ["http/1.1"]) : nil
        try await RunningServer.with(limits, tls: isSecure ? TestIdentity.server() : nil) { server in
            // Another listener on the same loops, as the admin listener is.
            let admin = try NeighbourListener(loops: server.loops)
            let (port, adminPort) = (server.port, admin.port)
            try await runBlocking {
                let slow = try (0..<(isSecure ? 300 : 2_000)).map { number in
                    try SlowPeer(port, from: 0x7f00_0002 + UInt32(number / 95), tls: context)
                }
                let health = try RawPeer(adminPort)
                var times: [Double] = []
                for round in 0..<50 {
                    for index in stride(from: round, to: slow.count, by: 50) { try slow[index].sendByte() }
                    let start = MonotonicTime.now()
                    health.send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
                    try #expect(health.answer().body == "alive")
                    times.append((MonotonicTime.now() - start).inSeconds)
                }
                #expect(server.server.connectionCount == slow.count)
                times.sort()
                print("health beside \(slow.count) slow clients: \(times[25]) s, at most \(times[49]) s")
                // Had it waited for one of them, it would have been for seconds.
                #expect(times[25] < 0.05 * Double(Patience.factor) && times[49] < Double(Patience.factor))
                let lives = slow.map { peer in
                    while !peer.peer.read().bytes.isEmpty {}
                    return (MonotonicTime.now() - peer.began).inSeconds
                }
                print("they lived \(lives.min() ?? 0) to \(lives.max() ?? 0) s")
                // Half a second for the machine, which closes as many at once as began at once.
                #expect(lives.allSatisfy { $0 > 9.5 && $0 < 10 + 0.5 * Double(Patience.factor) })
            }
            try await admin.end()
        }
    }

    /// A client that has next to nothing to say.
    private final class SlowPeer: @unchecked Sendable {
        // Sendable by rule: used by one thread at a time.
        let began: MonotonicTime
        let peer: RawPeer
        private var tls: TLSSession?

        init(_ port: Int, from source: UInt32, tls context: TLSContext?) throws {
            began = MonotonicTime.now()
            peer = try RawPeer(port, from: source)
            guard let context else { return }
            let tls = try TLSSession(context, descriptor: peer.descriptor, serverName: "localhost")
            try #require(try tls.handshake() == .done)
            self.tls = tls
        }

        func sendByte() throws {
            guard let tls else { return _ = peer.send([0x47]) }
            var byte: UInt8 = 0x47
            _ = try unsafe withUnsafeBytes(of: &byte) { try unsafe tls.write($0) }
        }
    }

    /// A second server on the loops of another.
    private struct NeighbourListener {
        let port: Int
        private let shutdown = Signal()
        private let ended = Signal()

        init(loops: EventLoopGroup) throws {
            var router = Router()
            router.on(.get, "/livez") { _, _ in .text("alive") }
            let server = HTTPServer(
                name: "neighbour",
                address: .ip(host: "127.0.0.1", port: 0),
                tls: nil,
                router: router,
                loops: loops,
                logger: Logger(label: "test", sink: LogSink(form: .text) { _ in }),
                metrics: Metrics()
            )
            guard case .ip(_, let port) = try server.bind() else { throw RawPeer.Failure(description: "no port") }
            self.port = port
            loops.loops[0].spawn { [shutdown, ended] in
                do { try await server.run(shutdown: shutdown) } catch { Issue.record(error) }
                ended.fire()
            }
        }

        func end() async throws {
            shutdown.fire()
            try await ended.wait()
        }
    }

    static func allowDescriptors(_ count: rlim_t) throws {
        var limit = rlimit()
        try #require(unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0)
        if limit.rlim_cur < count {
            limit.rlim_cur = count
            limit.rlim_max = max(limit.rlim_max, count)
            try #require(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0, "6,000 descriptors are needed")
        }
    }
}
