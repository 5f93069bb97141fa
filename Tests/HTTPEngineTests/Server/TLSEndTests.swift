// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Cryptography
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP over TLS: ends with and without goodbye", .timeLimit(.minutes(3)))
struct TLSEndTests {
    @Test(
        "an answer whose length is its connection's is whole with a goodbye, and cut short without",
        arguments: [true, false]
    )
    func untilClose(saysGoodbye: Bool) async throws {
        let pair = try TransportPair(tls: true)
        try await pair.start()
        let result = await pair.loop.run {
            let connection = HTTP1ClientConnection(pair.near, peer: "localhost", limits: HTTPLimits())
            pair.near.adopt(connection)
            pair.farSide.onReceived = {
                pair.far.write(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf".utf8))
                pair.far.flush()
                if saysGoodbye { pair.far.close() } else { pair.far.abort() }
            }
            let request = HTTPClientRequest(isSecure: true, host: "localhost", port: 443)
            return await connection.send(request, deadline: .now() + Patience.long)
        }
        switch result {
        case .success(let response): #expect(saysGoodbye && response.body == Array("half".utf8))
        case .failure(let failure): #expect(!saysGoodbye && failure.error.code == .closed, "\(failure.error)")
        }
        pair.loop.execute { pair.near.abort() }
        try await pair.farSide.closed.wait()
        await pair.loop.shutdown()
    }

    @Test("a body that is cut short is no request, with a goodbye or without", arguments: [true, false])
    func cutBody(saysGoodbye: Bool) async throws {
        let context = try TestIdentity.client(alpn: ["http/1.1"])
        try await RunningServer.with(tls: TestIdentity.server()) { server in
            try await server.talk { peer in
                let tls = try TLSSession(context, descriptor: peer.descriptor, serverName: "localhost")
                try #require(try tls.handshake() == .done)
                let text = Array("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf".utf8)
                _ = try unsafe text.withUnsafeBytes { try unsafe tls.write($0) }
                if saysGoodbye { tls.close() }
                peer.finish()
                while !peer.read().bytes.isEmpty {}
            }
            #expect(server.probe.paths.withLock { $0.isEmpty })
        }
    }

    @Test("a client that has only ended its side of TLS gets its answer")
    func halfClosed() async throws {
        try await RunningServer.with(tls: TestIdentity.server()) { server in
            let text = try await server.talk { peer in
                guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return "" }
                defer { unsafe SSL_CTX_free(context) }
                guard let session = unsafe SSL_new(context) else { return "" }
                defer { unsafe SSL_free(session) }
                unsafe SSL_set_fd(session, peer.descriptor)
                guard unsafe SSL_connect(session) == 1 else { return "no handshake" }
                let request = "GET /gate HTTP/1.1\r\nHost: a\r\n\r\n"
                unsafe SSL_write(session, request, Int32(request.utf8.count))
                unsafe SSL_shutdown(session)
                while !server.probe.isWaiting.isFired { usleep(5_000) }
                server.probe.gate.fire()
                var heard: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let count = unsafe SSL_read(session, &buffer, Int32(buffer.count))
                    if count <= 0 { return String(decoding: heard, as: UTF8.self) }
                    heard += buffer[..<Int(count)]
                }
            }
            #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("open"), "\(text)")
        }
    }
}
