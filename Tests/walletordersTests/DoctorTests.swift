// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import HTTPEngine
import OrderModel
import OrderPackage
import ServiceRuntime
import Testing

@Suite("Doctor")
struct DoctorTests {
    @Test func `doctor tells of the wrong environment, which APNs names in its last frame only`() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let testpki = try await ChildProcess.run(TestInstallation.program, ["testpki", folder + "/pki"])
            try #require(testpki.status == 0)
            let authority = try TestAuthority.read(from: folder + "/pki")
            let control = HTTP2Control()
            control.decide { _, _ in
                .goAway(.noError, debugData: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8), lastStream: 0)
            }
            let loops = try EventLoopGroup(count: 1, name: "apns")
            let server = HTTPServer(
                name: "apns",
                address: .ip(host: "127.0.0.1", port: 0),
                tls: try TLSContext.server(
                    certificate: authority.server.certificate,
                    chain: authority.server.chain,
                    key: authority.server.key,
                    alpn: ["h2"],
                    clientCertificates: .optional(roots: [authority.root])
                ),
                router: Router(),
                loops: loops,
                logger: Logger(label: "test", sink: LogSink(form: .text) { _ in }),
                control: control,
                metrics: Metrics()
            )
            let bound = try server.bind()
            guard case .ip(_, let port) = bound else {
                Issue.record("no port: \(bound)")
                return
            }
            let shutdown = Signal()
            async let serving: Void = server.run(shutdown: shutdown)
            let text = """
                {"dataDir": "\(folder)/own", "orderTypes": {"order.com.example.shop": {
                    "identity": "\(folder)/pki/identity.pem", "key": "\(folder)/pki/identity.key",
                    "intermediates": "\(folder)/pki/intermediate.pem", "webServiceURL": "https://w.example.com/",
                    "apns": {"host": "127.0.0.1", "port": \(port), "trust": "\(folder)/pki/root.pem"}}}}
                """
            try Files.write(Array(text.utf8), to: folder + "/config.json")
            let told = try await ChildProcess.run(
                TestInstallation.program,
                ["doctor", "--database", "postgres://u@127.0.0.1:1/d", "--config", folder + "/config.json"]
            )
            shutdown.fire()
            try await serving
            await loops.shutdown()
            #expect(told.status == 1)
            #expect(told.text.contains("refuses the certificate: BadCertificateEnvironment"), "\(told.text)")
            #expect(told.text.contains("orderTypes.order.com.example.shop.apns.host"))
        }
    }

    /// What `doctor` says of an order type whose certificate is another than the authority made.
    private func told(_ change: (TestAuthority, Int64) throws -> [UInt8]) async throws -> ChildProcess.Result {
        try await TestInstallation.use { installation in
            let pki = installation.directory + "/pki"
            let authority = try TestAuthority.make(orderType: try OrderTypeIdentifier("order.com.example.shop"))
            try authority.write(to: pki)
            try Files.write(try change(authority, WallTime.now().seconds), to: pki + "/identity.pem")
            let text = """
                {"dataDir": "\(installation.directory)/own", "orderTypes": {"order.com.example.shop": {
                    "identity": "\(pki)/identity.pem", "key": "\(pki)/identity.key",
                    "intermediates": "\(pki)/intermediate.pem", "webServiceURL": "https://w.example.com/"}}}
                """
            try Files.write(Array(text.utf8), to: installation.directory + "/config.json")
            return try await ChildProcess.run(
                TestInstallation.program,
                [
                    "doctor", "--database", "postgres://u@127.0.0.1:1/d", "--config",
                    installation.directory + "/config.json",
                ]
            )
        }
    }

    @Test func `B30 doctor tells of a certificate that ends within thirty days, with the days and the date`()
        async throws
    {
        for (days, isTold) in [(29, true), (31, false)] as [(Int64, Bool)] {
            let result = try await told { authority, now in
                var template = TestAuthority.leafTemplate(authority.identity.orderTypeIdentifier, now: now)
                // Half a day more, so that the days are the same while the test runs.
                template.notAfter = now + days * 86_400 + 43_200
                return try authority.issue(template, key: authority.identity.key).certificate.pem()
            }
            #expect(result.status == 1)
            #expect(result.text.contains("expires in 29 days, at 20") == isTold, "\(result.text)")
            #expect(result.text.contains("renew it in Apple's developer portal") == isTold)
            #expect(result.text.contains("valid until 20") == !isTold)
        }
    }

    @Test func `doctor tells of each secret that every user may read`() async throws {
        try await TestInstallation.use { installation in
            let pki = installation.directory + "/pki"
            try TestAuthority.make(orderType: try OrderTypeIdentifier("order.com.example.shop")).write(to: pki)
            let password = installation.directory + "/password"
            try Files.write(Array("Hush4711\n".utf8), to: password, mode: 0o600)
            let text = """
                {"dataDir": "\(installation.directory)/own", "database": "postgres://u@127.0.0.1:1/d",
                 "databasePasswordFile": "\(password)",
                 "device": {"certificate": "\(pki)/server.pem", "key": "\(pki)/server.key"}}
                """
            try Files.write(Array(text.utf8), to: installation.directory + "/config.json")
            func told() async throws -> String {
                let words = ["doctor", "--offline", "--config", installation.directory + "/config.json"]
                return try await ChildProcess.run(TestInstallation.program, words).text
            }
            let kept = try await told()
            #expect(kept.contains("✓ device.certificate") && !kept.contains("may read it"), "\(kept)")
            for file in [password, pki + "/server.key"] {
                #expect(unsafe chmod(file, 0o644) == 0)
                let open = try await told()
                #expect(open.contains("→ chmod o= \(file)\n"), "\(open)")
                #expect(unsafe chmod(file, 0o640) == 0)
                #expect(try await !told().contains("may read it"))
            }
        }
    }

    @Test func `B33 doctor says of a certificate that its issuer did not sign to ask for a new one`() async throws {
        let result = try await told { authority, _ in
            var der = authority.identity.certificate.der
            der[der.count - 1] ^= 1
            return try Certificate(der: der).pem()
        }
        #expect(result.status == 1)
        #expect(result.text.contains("ask for a new certificate"), "\(result.text)")
        #expect(result.text.contains("order.com.example.shop: certificate"))
    }
}
