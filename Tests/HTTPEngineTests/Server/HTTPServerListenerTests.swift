// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
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
