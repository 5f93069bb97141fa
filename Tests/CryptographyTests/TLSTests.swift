// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import Testing

@Suite("TLS")
struct TLSTests {
    private func server(
        alpn: [String] = ["h2", "http/1.1"],
        clients: ClientCertificatePolicy = .none
    ) throws -> TLSContext {
        let pki = try TestPKI.shared()
        return try TLSContext.server(
            certificate: pki.server,
            chain: [pki.intermediate, pki.root],
            key: pki.serverKey,
            alpn: alpn,
            clientCertificates: clients
        )
    }

    private func client(alpn: [String] = ["h2"], identity: Bool = false) throws -> TLSContext {
        let pki = try TestPKI.shared()
        return try TLSContext.client(
            trust: .certificates([pki.root]),
            alpn: alpn,
            identity: identity ? (pki.leaf, [pki.intermediate], pki.leafKey) : nil
        )
    }

    @Test("Both sides talk, agree on a protocol, and part with a goodbye")
    func conversation() throws {
        let pair = try TLSPair(server: try server(), client: try client())
        try pair.shake()
        #expect(pair.client.applicationProtocol == "h2")
        #expect(pair.server.applicationProtocol == "h2")
        #expect(pair.server.protocolVersion == "TLSv1.3")
        #expect(pair.server.requestedServerName == "localhost")
        #expect(pair.client.peerVerified)
        #expect(pair.client.peerCertificate == (try TestPKI.shared().server))
        #expect(pair.client.peerIntermediates == [try TestPKI.shared().intermediate])
        #expect(pair.server.peerCertificate == nil)
        #expect(!pair.server.peerVerified)
        #expect(try pair.client.handshake() == .done)
        #expect(try pair.client.send(Array("ping".utf8)) == .bytes(4))
        #expect(try pair.server.receive().1 == Array("ping".utf8))
        #expect(try pair.server.receive().0 == .wantsRead)
        #expect(try pair.server.send(Array("pong!".utf8)) == .bytes(5))
        #expect(try pair.client.receive(2).1 == Array("po".utf8))
        #expect(pair.client.hasBufferedInput)
        #expect(try pair.client.receive().1 == Array("ng!".utf8))
        #expect(!pair.client.hasBufferedInput)
        #expect(try pair.client.send([]) == .bytes(0))
        pair.server.close()
        pair.server.close()
        pair.closeServer()
        #expect(try pair.client.receive().0 == .closed)
        #expect(throwsCode(.tls) { try pair.server.send([1]) })
    }

    @Test("A connection cut without goodbye is told apart")
    func truncation() throws {
        let pair = try TLSPair(server: try server(), client: try client())
        try pair.shake()
        _ = try pair.server.send(Array("half".utf8))
        pair.closeServer()
        #expect(try pair.client.receive().1 == Array("half".utf8))
        #expect(throwsCode(.truncated) { try pair.client.receive() })
        #expect(throwsCode(.tls) { try pair.client.receive() })
        pair.client.close()
    }

    @Test("A goodbye for which the socket has no room is said when it has")
    func lateGoodbye() throws {
        let pair = try TLSPair(server: try server(), client: try client())
        try pair.shake()
        // The tickets.
        _ = try pair.client.receive()
        // Bytes that are no TLS and never reach the client's session.
        let junk = [UInt8](repeating: 0, count: 65_536)
        while unsafe Glibc.write(pair.descriptors[0], junk, junk.count) > 0 {}
        while unsafe Glibc.write(pair.descriptors[0], junk, 1) > 0 {}
        #expect(!pair.server.close())
        #expect(!pair.server.close())
        var buffer = junk
        while unsafe Glibc.read(pair.descriptors[1], &buffer, buffer.count) > 0 {}
        #expect(pair.server.close())
        #expect(try pair.client.receive().0 == .closed)
    }

    @Test("A write to a peer that is gone is an error, and no signal")
    func brokenPipe() throws {
        let pair = try TLSPair(server: try server(), client: try client())
        try pair.shake()
        pair.closeServer()
        #expect(throwsCode(.connectionLost) { try pair.client.send([1, 2, 3]) })
    }

    @Test("Large writes go out in parts, from buffers that move, and arrive whole")
    func partialWrites() throws {
        let pair = try TLSPair(server: try server(), client: try client())
        try pair.shake()
        let body = SecureRandom.bytes(3_000_000)
        var sent = 0
        var received: [UInt8] = []
        var waits = 0
        while received.count < body.count {
            while sent < body.count {
                // A new array each time: another address.
                guard case .bytes(let count) = try pair.server.send(Array(body[sent...])) else {
                    waits += 1
                    break
                }
                sent += count
            }
            while case (.bytes, let part) = try pair.client.receive() { received += part }
        }
        #expect(waits > 0)
        #expect(received == body)
    }

    @Test("The server's order decides the protocol")
    func protocolOrder() throws {
        let pair = try TLSPair(server: try server(), client: try client(alpn: ["spdy/1", "http/1.1", "h2"]))
        try pair.shake()
        #expect(pair.server.applicationProtocol == "h2")
        let plain = try TLSPair(server: try server(), client: try client(alpn: []))
        try plain.shake()
        #expect(plain.server.applicationProtocol == nil)
        let silent = try TLSPair(server: try server(alpn: []), client: try client())
        try silent.shake()
        #expect(silent.client.applicationProtocol == nil)
    }

    @Test("A client that speaks only other protocols is refused")
    func noCommonProtocol() throws {
        let pair = try TLSPair(server: try server(), client: try client(alpn: ["spdy/1"]))
        #expect(throwsCode(.tls) { try pair.shake() })
        #expect(throwsCode(.invalidInput) { try client(alpn: [""]) })
    }

    @Test("A client certificate is asked for, checked and shown", arguments: [true, false])
    func clientCertificate(shown: Bool) throws {
        let pki = try TestPKI.shared()
        let context = try server(clients: .optional(roots: [pki.root]))
        let pair = try TLSPair(server: context, client: try client(identity: shown))
        try pair.shake()
        #expect(pair.server.peerCertificate == (shown ? pki.leaf : nil))
        #expect(pair.server.peerVerified == shown)
        #expect(try pair.client.send([1]) == .bytes(1))
        #expect(try pair.server.receive().1 == [1])
    }

    @Test("A client certificate of a stranger comes in, marked as not verified")
    func strangersCertificate() throws {
        let pki = try TestPKI.shared()
        let stranger = try TestPKI.leafTemplate("order.com.example.stranger").issue(for: pki.leafKey, issuer: nil)
        let context = try TLSContext.client(
            trust: .certificates([pki.root]),
            alpn: ["h2"],
            identity: (stranger, [], pki.leafKey)
        )
        let pair = try TLSPair(server: try server(clients: .optional(roots: [pki.root])), client: context)
        try pair.shake()
        #expect(pair.server.peerCertificate == stranger)
        #expect(!pair.server.peerVerified)
        #expect(pair.server.peerFault != nil)
    }

    @Test(
        "A client takes the server only under its names",
        arguments: [
            ("localhost", true), ("LOCALHOST", true), ("localhost.", true), ("127.0.0.1", true), ("::1", true),
            ("[::1]", true), ("127.0.0.2", false), ("example.com", false), ("localhost.example.com", false),
        ]
    )
    func names(name: String, fits: Bool) throws {
        let pair = try TLSPair(server: try server(), client: try client(), name: name)
        if fits {
            try pair.shake()
            #expect(pair.client.peerVerified)
        } else {
            #expect(throwsCode(.untrustedPeer) { try pair.shake() })
        }
    }

    @Test("A client refuses a server that it doesn't trust, and needs a name to check")
    func trust() throws {
        let pki = try TestPKI.shared()
        let other = try TLSContext.client(trust: .certificates([pki.leaf]), alpn: [], identity: nil)
        let pair = try TLSPair(server: try server(), client: other)
        #expect(throwsCode(.untrustedPeer) { try pair.shake() })
        let system = try TLSContext.client(trust: .system, alpn: [], identity: nil)
        let second = try TLSPair(server: try server(), client: system)
        #expect(throwsCode(.untrustedPeer) { try second.shake() })
        #expect(throwsCode(.invalidInput) { try TLSPair(server: try server(), client: other, name: nil) })
        #expect(throwsCode(.invalidInput) { try TLSPair(server: try server(), client: other, name: "") })
    }

    @Test("A server needs the certificate's own key")
    func mismatch() throws {
        let pki = try TestPKI.shared()
        #expect(
            throwsCode(.keyMismatch) {
                try TLSContext.server(
                    certificate: pki.server,
                    chain: [],
                    key: pki.leafKey,
                    alpn: [],
                    clientCertificates: .none
                )
            }
        )
    }

    @Test("A short key is refused by name")
    func shortKey() throws {
        let key = try PrivateKey.generateRSA(bits: 1024)
        let certificate = try CertificateTemplate.server(notBefore: TestPKI.now, notAfter: TestPKI.now + 1_000)
            .issue(for: key, issuer: nil)
        #expect(
            throwsCode(.weakKey) {
                try TLSContext.server(
                    certificate: certificate,
                    chain: [],
                    key: key,
                    alpn: [],
                    clientCertificates: .none
                )
            }
        )
    }

    @Test("Something that isn't TLS fails the handshake, and no descriptor is closed")
    func plaintext() throws {
        let pair = try TLSPair(server: try server(), client: try client())
        let text = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        #expect(unsafe write(pair.descriptors[1], text, text.count) == text.count)
        #expect(throwsCode(.tls) { try pair.server.handshake() })
        #expect(throwsCode(.tls) { try pair.server.handshake() })
        #expect(fcntl(pair.descriptors[0], F_GETFD) >= 0)
        let hangUp = try TLSPair(server: try server(), client: try client())
        hangUp.closeClient()
        #expect(throwsCode(.truncated) { try hangUp.server.handshake() })
    }
}
