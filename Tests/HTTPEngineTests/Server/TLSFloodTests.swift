// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP server: floods inside TLS", .timeLimit(.minutes(3)))
struct TLSFloodTests {
    /// A client that says nothing but that its keys are new, over and over.
    ///
    /// - Returns: how often it could before the server ended the connection.
    private static func changeKeys(_ port: Int, atMost limit: Int) throws -> Int {
        // A connection that is gone is an error here, and no signal.
        _ = signal(SIGPIPE, SIG_IGN)
        let peer = try RawPeer(port)
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw RawPeer.Failure(description: "TLS") }
        defer { unsafe SSL_CTX_free(context) }
        guard let session = unsafe SSL_new(context) else { throw RawPeer.Failure(description: "TLS") }
        defer { unsafe SSL_free(session) }
        unsafe SSL_set_fd(session, peer.descriptor)
        guard unsafe SSL_connect(session) == 1 else { throw RawPeer.Failure(description: "no handshake") }
        for count in 0..<limit {
            guard unsafe SSL_key_update(session, SSL_KEY_UPDATE_NOT_REQUESTED) == 1,
                unsafe SSL_do_handshake(session) == 1
            else { return count }
        }
        return limit
    }

    @Test("clients that change their keys without end are ended by it, and hold up nobody meanwhile")
    func keys() async throws {
        // No deadline ends them: the limits have none.
        try await RunningServer.with(tls: TestIdentity.server()) { server in
            let port = server.port
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await runBlocking { try Self.changeKeys(port, atMost: 100_000) } }
                }
                let client = HTTPClient(
                    loop: server.loops.loops[0],
                    tls: try TestIdentity.client(),
                    versions: [.http2]
                )
                for _ in 0..<20 {
                    let request = try HTTPClientRequest(.get, "https://127.0.0.1:\(port)/hello")
                    #expect(try await client.send(request, deadline: Patience.long).status == .ok)
                }
                await client.close()
                // What they said beyond their measure fits into the sockets' buffers.
                for try await count in group { #expect(count < 100_000) }
            }
        }
    }
}
