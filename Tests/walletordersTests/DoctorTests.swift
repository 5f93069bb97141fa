// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTPEngine
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
}
