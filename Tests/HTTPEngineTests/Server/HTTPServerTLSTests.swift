// SPDX-License-Identifier: Apache-2.0
import CLinux
import Cryptography
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP server: TLS, Unix sockets and curl", .timeLimit(.minutes(5)))
struct HTTPServerTLSTests {
    private static let quiet = ["-sS", "-m", "20", "-w", " %{http_code} %{http_version}"]

    @Test(
        "the protocol is what TLS agreed on, or in clear text what the client begins with",
        arguments: [
            (true, ["-k", "--http2"], "2"), (true, ["-k", "--http1.1"], "1.1"), (true, ["-k", "--no-alpn"], "1.1"),
            (false, ["--http2-prior-knowledge"], "2"), (false, ["--http1.1"], "1.1"), (false, ["--http1.0"], "1.1"),
        ]
    )
    func protocols(isSecure: Bool, mode: [String], version: String) async throws {
        let curl = try Tool("curl", package: "curl")
        try await RunningServer.with(tls: isSecure ? TestIdentity.server() : nil) { server in
            let base = "\(isSecure ? "https" : "http")://127.0.0.1:\(server.port)"
            // curl 7.88 can't use a connection of prior knowledge twice, whoever serves (curl/curl#10643).
            let isReused = !mode.contains("--http2-prior-knowledge")
            let targets = [base + "/hello"] + (isReused ? [base + "/number/7"] : [])
            let answers = try await curl.run(Self.quiet + mode + targets)
            #expect(answers == "hello 200 \(version)" + (isReused ? "7 200 \(version)" : ""))
            let echo = try await curl.run(Self.quiet + mode + ["-d", "a=b", base + "/echo"])
            #expect(echo == "a=b 200 \(version)")
            let who = try await curl.run(Self.quiet + mode + [base + "/who"])
            #expect(who.hasPrefix("127.0.0.1 \(isSecure) ") && who.contains(" false 200"))
        }
    }

    @Test("plain bytes at a TLS port, and a handshake that does not come, end the connection")
    func noHandshake() async throws {
        var limits = RunningServer.limits
        limits.handshakeTimeout = .milliseconds(500)
        try await RunningServer.with(limits, tls: TestIdentity.server()) { server in
            let plain = try await server.talk { peer in
                peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                return peer.readToEnd()
            }
            #expect(!plain.text.contains("HTTP/1.1") && plain.end != .stillOpen)
            let silent = try await server.talk { $0.readToEnd() }
            #expect(silent.text.isEmpty && silent.end != .stillOpen)
            #expect(server.probe.paths.withLock { $0.isEmpty })
        }
    }

    @Test("a late handshake wins no second time for the first header", arguments: ["http/1.1", "h2"])
    func lateHandshake(alpn: String) async throws {
        var limits = RunningServer.limits
        limits.headerTimeout = .seconds(3) * Patience.factor
        let context = try TestIdentity.client(alpn: [alpn])
        try await RunningServer.with(limits, tls: TestIdentity.server()) { server in
            let seconds = try await server.talk { peer in
                let began = MonotonicTime.now()
                var none = pollfd(fd: peer.descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&none, 1, Int32(2_500 * Patience.factor))
                let tls = try TLSSession(context, descriptor: peer.descriptor, serverName: "localhost")
                try #require(try tls.handshake() == .done)
                // Whatever the server says last, then the end.
                while !peer.read().bytes.isEmpty {}
                return (MonotonicTime.now() - began).inSeconds
            }
            // A second time would end at 5.5.
            let factor = Double(Patience.factor)
            #expect(seconds >= 2.5 * factor && seconds < 5 * factor)
        }
    }

    @Test("replaced certificates are those of the next connection")
    func replaceTLS() async throws {
        let openssl = try Tool("openssl", package: "openssl")
        let key = try PrivateKey.generateRSA()
        let now = WallTime.now().seconds
        let template = CertificateTemplate.server(
            dnsNames: ["replaced.example.com"],
            notBefore: now - 60,
            notAfter: now + 3600
        )
        let next = try TLSContext.server(
            certificate: template.issue(for: key, issuer: nil),
            chain: [],
            key: key,
            alpn: ["http/1.1"],
            clientCertificates: .none
        )
        try await RunningServer.with(tls: TestIdentity.server()) { server in
            let look = ["s_client", "-connect", "127.0.0.1:\(server.port)"]
            let before = try await openssl.run(look)
            #expect(before.contains("BEGIN CERTIFICATE") && !before.contains("replaced.example.com"))
            server.server.replaceTLS(next)
            let after = try await openssl.run(look)
            #expect(after.contains("replaced.example.com"))
        }
    }

    @Test("handlers see a client's certificate when a trusted root signed it, and only then", arguments: [true, false])
    func clientCertificate(isTrusted: Bool) async throws {
        let identity = try TestIdentity.shared.get()
        let rootKey = try PrivateKey.generateRSA()
        let now = WallTime.now().seconds
        let root = try CertificateTemplate.authority(
            subject: [(.commonName, "Example Client Root")],
            notBefore: now - 60,
            notAfter: now + 3600
        ).issue(for: rootKey, issuer: nil)
        let key = try PrivateKey.generateRSA()
        var template = CertificateTemplate(
            subject: [(.commonName, "client.example.com")],
            notBefore: now - 60,
            notAfter: now + 3600
        )
        template.extendedKeyUsage = ["1.3.6.1.5.5.7.3.2"]
        let certificate = try template.issue(for: key, issuer: isTrusted ? (root, rootKey) : nil)
        let context = try TLSContext.server(
            certificate: identity.certificate,
            chain: [],
            key: identity.key,
            alpn: ["h2", "http/1.1"],
            clientCertificates: .optional(roots: [root])
        )
        try await RunningServer.with(tls: context) { server in
            for (alpn, versions) in [(["http/1.1"], [HTTPVersion.http11]), (["h2"], [.http2])] {
                let tls = try TLSContext.client(
                    trust: .certificates([identity.certificate]),
                    alpn: alpn,
                    identity: (certificate, [], key)
                )
                let client = HTTPClient(loop: server.loops.loops[0], tls: tls, versions: versions)
                let request = try HTTPClientRequest(.get, "https://127.0.0.1:\(server.port)/who")
                let answer = try await client.send(request, deadline: Patience.long)
                #expect(String(decoding: answer.body, as: UTF8.self).hasSuffix(" \(isTrusted)"))
                await client.close()
            }
        }
    }

    @Test("a Unix socket serves curl, and its name is gone afterwards")
    func unixSocket() async throws {
        let curl = try Tool("curl", package: "curl")
        let path = "/tmp/walletorders-server-\(getpid()).sock"
        unsafe unlink(path)
        try await RunningServer.with(address: .unix(path: path)) { _ in
            let who = try await curl.run(Self.quiet + ["--unix-socket", path, "http://example.com/who"])
            #expect(who.hasPrefix("unix false ") && who.hasSuffix(" 200 1.1"))
        }
        let isThere = unsafe access(path, F_OK) == 0
        #expect(!isThere)
    }
}
