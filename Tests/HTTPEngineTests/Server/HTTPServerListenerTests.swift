// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP server: listening and shutdown")
struct HTTPServerListenerTests {
    @Test("a taken port is named")
    func taken() async throws {
        try await RunningServer.with { server in
            let error = #expect(throws: HTTPServerError.self) {
                try Listener(.ip(host: "127.0.0.1", port: server.port), backlog: 1)
            }
            #expect(error?.code == .addressInUse)
            #expect(error?.description.contains("\(server.port)") == true)
        }
    }

    @Test("shutdown answers the request in flight, closes idle connections and takes no new ones")
    func shutdown() async throws {
        try await RunningServer.with { server in
            try await server.talk { peer in
                let idle = try RawPeer(server.port)
                idle.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                try #expect(idle.answer().body == "hello")
                peer.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
                var none = pollfd(fd: -1, events: 0, revents: 0)
                while !server.probe.isWaiting.isFired { _ = unsafe poll(&none, 1, 5) }
                server.shutdown.fire()
                #expect(idle.readToEnd().end == .closed)
                #expect(throws: SystemError.self) { try RawPeer(server.port) }
                server.probe.gate.fire()
                let answer = try peer.answer()
                #expect(answer.body == "open" && answer.has("connection: close"))
                #expect(peer.readToEnd().end == .closed)
            }
        }
    }

    @Test("clients that go on over a shutdown get every answer, the last with Connection: close")
    func clientsOverShutdown() async throws {
        var limits = RunningServer.limits
        limits.drainIdleTimeout = Patience.long
        try await RunningServer.with(limits) { server in
            let counts = try await server.talk { first -> (sent: Int, lost: Int, closed: Int) in
                var none = pollfd(fd: -1, events: 0, revents: 0)
                let request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
                // One that has a connection and has not said a word yet.
                let silent = try RawPeer(server.port)
                var peers = [first]
                while peers.count < 16 { peers.append(try RawPeer(server.port)) }
                var counts = (sent: 0, lost: 0, closed: 0)
                for round in 0..<100 where !peers.isEmpty {
                    for (index, peer) in peers.enumerated() {
                        if round == 20, index == 8 {
                            server.shutdown.fire()
                            // Until the drain has come to every connection.
                            while (try? RawPeer(server.port)) != nil { _ = unsafe poll(&none, 1, 5) }
                            _ = unsafe poll(&none, 1, 50)
                        }
                        peer.send(request)
                        counts.sent += 1
                    }
                    peers = peers.filter { peer in
                        guard let answer = try? peer.answer(), answer.body == "hello" else {
                            counts.lost += 1
                            return false
                        }
                        let isLast = answer.has("connection: close")
                        if isLast { counts.closed += 1 }
                        return !isLast
                    }
                }
                silent.send(request)
                let answer = try silent.answer()
                #expect(answer.body == "hello" && answer.has("connection: close"))
                #expect(silent.readToEnd().end == .closed)
                return counts
            }
            #expect(counts.lost == 0)
            #expect(counts.closed == 16)
            #expect(counts.sent >= 21 * 16)
        }
    }

    @Test("a shutdown lets a TLS handshake end, and what is sent then is answered")
    func handshakeOverShutdown() async throws {
        let python = try Tool("python3", package: "python3")
        let script = """
            import socket, ssl, sys, time
            port = int(sys.argv[1])
            raw = socket.create_connection(("127.0.0.1", port))
            time.sleep(0.1)
            print("connected", flush=True)
            while True:
                try: socket.create_connection(("127.0.0.1", port)).close()
                except OSError: break
                time.sleep(0.005)
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            peer = context.wrap_socket(raw)
            peer.sendall(b"GET /hello HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
            data = b""
            while True:
                more = peer.recv(4096)
                if not more: break
                data += more
            print(data.decode().lower().replace("\\r", ""))
            """
        var limits = RunningServer.limits
        limits.drainIdleTimeout = Patience.long
        try await RunningServer.with(limits, tls: TestIdentity.server()) { server in
            async let answer = python.run(["-c", script, String(server.port)])
            while server.server.connectionCount == 0 { try await sleep(for: .milliseconds(5)) }
            server.shutdown.fire()
            let text = try await answer
            #expect(text.contains("connection: close"))
            #expect(text.hasSuffix("hello") || text.hasSuffix("hello\n"))
        }
    }

    @Test("two thousand idle connections end together, a drain's idle time after the signal")
    func manyIdle() async throws {
        try HTTPServerDeadlineTests.allowDescriptors(6_000)
        var limits = RunningServer.limits
        limits.connections = 3_000
        limits.connectionsPerAddress = 3_000
        limits.backlog = 4_096
        try await RunningServer.with(limits) { server in
            try await server.talk { first in
                var peers = [first]
                while peers.count < 2_000 { peers.append(try RawPeer(server.port)) }
                for peer in peers { peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n") }
                for peer in peers { try #expect(peer.answer().body == "hello") }
                let start = MonotonicTime.now()
                server.shutdown.fire()
                for peer in peers { #expect(peer.readToEnd().end == .closed) }
                let seconds = (MonotonicTime.now() - start).inSeconds
                print("\(peers.count) idle connections ended \(seconds) s after the signal")
                // A second is theirs; each for itself they would take an hour.
                #expect(seconds >= 1 && seconds < 5 * Double(Patience.factor))
            }
        }
    }

    @Test("accepted sockets notice peers that vanished, as connected ones do")
    func socketOptions() async throws {
        try await RunningServer.with { server in
            try await server.talk { peer in
                peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try peer.answer()
                // Tests beside this one hold thousands of descriptors.
                let ours = Self.port(of: peer.descriptor, peer: false)
                let accepted = (0..<65_536).filter { $0 != peer.descriptor && Self.port(of: $0, peer: true) == ours }
                try #require(accepted.count == 1)
                for (level, name, value) in [
                    (Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1)), (SOL_SOCKET, SO_KEEPALIVE, 1),
                    (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30), (Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 30_000),
                ] {
                    var found: Int32 = 0
                    var length = socklen_t(MemoryLayout<Int32>.size)
                    try #require(unsafe getsockopt(accepted[0], level, name, &found, &length) == 0)
                    #expect(found == value, "option \(name)")
                }
            }
        }
    }

    /// The port of a socket's own address or its peer's; nil for what is no such socket.
    private static func port(of descriptor: Int32, peer: Bool) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
            guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return unsafe peer ? getpeername(descriptor, start, &length) : getsockname(descriptor, start, &length)
        }
        return code == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
    }

    @Test("a handler runs on its connection's loop, before and after each wait", arguments: [false, true])
    func handlersLoop(isHTTP2: Bool) async throws {
        let seen = Locked<[String?]>([])
        let gate = Signal()
        var router = Router()
        router.on(.get, "/") { _, _ in
            seen.withLock { $0.append(EventLoop.current?.name) }
            try await gate.wait()
            seen.withLock { $0.append(EventLoop.current?.name) }
            try await Task.sleep(for: .milliseconds(1))
            seen.withLock { $0.append(EventLoop.current?.name) }
            return .text("done")
        }
        let loops = try EventLoopGroup(count: 1, name: "its")
        let (server, port) = try RunningServer.bound(router, on: loops)
        let shutdown = Signal()
        let ended = Signal()
        loops.loops[0].spawn {
            try? await server.run(shutdown: shutdown)
            ended.fire()
        }
        let client = try EventLoop(name: "other")
        let request = HTTP2Request(method: .get, scheme: "http", authority: "example.com", path: "/")
        let fired = client.spawn {
            while seen.withLock({ $0.isEmpty }) { try? await Task.sleep(for: .milliseconds(1)) }
            gate.fire()
        }
        if isHTTP2 {
            let connection = try await HTTP2ClientConnection.clear(to: port, on: client)
            #expect(try await connection.send(request, deadline: Patience.long).status == .ok)
            await connection.close()
        } else {
            let text = try await runBlocking {
                let peer = try RawPeer(port)
                peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return try peer.answer().body
            }
            #expect(text == "done")
        }
        await fired.value
        #expect(seen.withLock { $0 } == ["its-0", "its-0", "its-0"])
        shutdown.fire()
        try await ended.wait()
        await client.shutdown()
        await loops.shutdown()
    }

    @Test("a dead server's Unix socket is replaced, a live one's and an ordinary file are not")
    func unixSocket() throws {
        let path = "/tmp/walletorders-listener-\(getpid()).sock"
        unsafe unlink(path)
        defer { unsafe unlink(path) }
        let dead = try Listener(.unix(path: path), backlog: 1)
        // Only its descriptor goes; the name stays, as after a crash.
        _ = Glibc.close(dead.descriptor)
        let live = try Listener(.unix(path: path), backlog: 1)
        let error = #expect(throws: HTTPServerError.self) { try Listener(.unix(path: path), backlog: 1) }
        #expect(error?.code == .addressInUse)
        live.close()

        let file = unsafe open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        _ = Glibc.close(file)
        #expect(throws: HTTPServerError.self) { try Listener(.unix(path: path), backlog: 1) }
        let isThere = unsafe access(path, F_OK) == 0
        #expect(isThere, "an ordinary file was deleted")
    }
}
