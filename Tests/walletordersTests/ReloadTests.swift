// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import OrderModel
import OrderPackage
import ServiceRuntime
import Testing

/// SIGHUP: certificates and settings changed under a program at work.
@Suite("Reloading", .serialized)
struct ReloadTests {
    /// The files that an operator changes.
    struct ShopFiles {
        let folder: String
        let apnsPort: String
        var pki: String { self.folder + "/pki" }
        var configuration: String { self.folder + "/config.json" }

        func write(_ identity: SigningIdentity) throws {
            try Files.write(identity.certificate.pem(), to: self.folder + "/shop.pem")
            try Files.write(identity.key.pem(), to: self.folder + "/shop.key", mode: 0o600)
        }

        func write(server certificate: Certificate, _ key: PrivateKey) throws {
            try Files.write(certificate.pem(), to: self.folder + "/tls.pem")
            try Files.write(key.pem(), to: self.folder + "/tls.key", mode: 0o600)
        }

        func writeConfiguration(device port: String, further: String = "", type: String = "") throws {
            let text = """
                {"dataDir": "\(self.folder)/own",
                 "device": {"certificate": "\(self.folder)/tls.pem", "key": "\(self.folder)/tls.key",
                            "requestsPerDevice": 0}, \(further)
                 "orderTypes": {"order.com.example.shop": {
                    "identity": "\(self.folder)/shop.pem", "key": "\(self.folder)/shop.key", \(type)
                    "intermediates": "\(self.pki)/intermediate.pem", "webServiceURL": "https://127.0.0.1:\(port)/",
                    "apns": {"host": "127.0.0.1", "port": \(self.apnsPort), "trust": "\(self.pki)/root.pem"}}}}
                """
            try Files.write(Array(text.utf8), to: self.configuration)
        }
    }

    @Test func `rotated under load no request and no push fails, and a faulty configuration changes nothing`()
        async throws
    {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let type = try OrderTypeIdentifier("order.com.example.shop")
            let authority = try TestAuthority.make(orderType: type)
            try authority.write(to: folder + "/pki")
            let simulator = TestInstallation.program.dropLast("walletorders".count) + "walletsim"
            let apns = try installation.launch(
                String(simulator),
                ["apns", "--pki", folder + "/pki", "--listen", "127.0.0.1:0"]
            )
            try await apns.says("\n")
            let apnsAddress = try apns.value(after: "https://", upTo: "\n")
            let files = ShopFiles(folder: folder, apnsPort: String(apnsAddress.split(separator: ":").last ?? ""))
            let port = try await installation.freePort()
            try files.write(authority.identity)
            try files.write(server: authority.server.certificate, authority.server.key)
            try files.writeConfiguration(device: port)

            // Somebody else's database, as with `serve` and `worker` in production.
            let database = try await installation.startDatabase()
            let environment = [
                "PATH": "/usr/bin:/bin", "WALLETORDERS_DATABASE": database, "WALLETORDERS_CONFIG": files.configuration,
            ]
            func call(_ arguments: String...) async throws -> String {
                let result = try await ChildProcess.run(
                    TestInstallation.program,
                    arguments,
                    environment: environment
                )
                #expect(result.status == 0, "\(arguments): \(result.errorText)")
                return result.text.filter { $0 != "\n" }
            }
            _ = try await call("migrate")
            let key = try await call("keys", "create", "--name", "shop")
            try Files.write(Array(key.utf8), to: folder + "/key", mode: 0o600)
            let listeners = ["--merchant-listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"]
            let serve = try installation.launch(
                TestInstallation.program,
                ["serve", "--device-listen=127.0.0.1:\(port)"] + listeners,
                environment: environment
            )
            let worker = try installation.launch(
                TestInstallation.program,
                ["worker"] + listeners,
                environment: environment
            )
            for program in [serve, worker] { try await program.says("\"ready\"") }
            let merchant = try serve.value(after: "\"merchant\":\"", upTo: "\"")
            let device = "127.0.0.1:\(port)"

            func curl(_ arguments: [String]) async throws -> String {
                let result = try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["-sS", "-m", "20", "--cacert", folder + "/pki/root.pem"] + arguments,
                    input: Array("Authorization: Bearer \(key)\nContent-Type: application/json\n".utf8)
                )
                #expect(result.status == 0, "\(arguments): \(result.errorText)")
                return result.text
            }
            let created = try await curl(["-f", "-H", "@-", "-d", Self.order, "http://\(merchant)/api/v1/orders"])
            try Files.write(Array(created.utf8), to: folder + "/answer.json")
            let token = String(
                created.split(separator: "\"authenticationToken\":\"").last?.prefix { $0 != "\"" } ?? ""
            )
            let path = "/v1/orders/order.com.example.shop/A-1"
            /// The lines of a package's answer that tell its version.
            func version() async throws -> [String: String] {
                let head = try await curl([
                    "-f", "-D", "-", "-o", "/dev/null", "-H", "Authorization: AppleOrder \(token)",
                    "https://\(device)\(path)",
                ])
                var fields: [String: String] = [:]
                for line in head.split(whereSeparator: \.isNewline) {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    fields[line[..<colon].lowercased()] = String(line[colon...].dropFirst(2))
                }
                return fields
            }
            func pushes() async throws -> String { try await curl(["https://\(apnsAddress)/simulator/pushes/none"]) }
            func change(_ number: Int) async throws {
                let event =
                    "{\"eventIdentifier\": \"e-\(number)\", \"fulfillment\": {\"fulfillmentIdentifier\": \"p\", "
                    + "\"trackingNumber\": \"T-\(number)\"}}"
                _ = try await curl([
                    "-f", "-H", "@-", "-d", event, "http://\(merchant)/api/v1/orders/order.com.example.shop/A-1/events",
                ])
            }
            var reloads = 0
            func reload(_ words: String = "configuration reloaded") async throws {
                reloads += 1
                for program in [serve, worker] {
                    let before = program.text.utf8.count
                    program.send(SIGHUP)
                    try await program.says(words, after: before)
                }
            }

            let phone = try installation.launch(
                String(simulator),
                [
                    "iphone", "--order-details", folder + "/answer.json", "--trust", folder + "/pki/root.pem", "--apns",
                    "https://\(apnsAddress)", "--changes", "2",
                ]
            )
            try await phone.says("registered (201)")
            let stop = folder + "/stop"
            let load = try installation.launch(
                "/usr/bin/python3",
                ["-c", PeerScripts.steadyLoad, device, folder + "/key", merchant, stop, path, token]
            )
            try await load.says("loading")
            try await change(1)
            try await phone.says("told by a push")
            #expect(try await pushes().contains(authority.identity.certificate.fingerprint.hex))
            // Two revisions within a second put the second one's date ahead of the clock, and no answer tells a date to come.
            var before = try await version()
            while before["last-modified"] == before["date"] { before = try await version() }

            // The rotation: certificates, keys and the listener's own.
            let renewed = try authority.identity(for: type)
            try files.write(renewed)
            let serverKey = try PrivateKey.generateP256()
            let now = WallTime.now().seconds
            let root = try Certificate.all(pem: try Files.read(folder + "/pki/root.pem"))
            let rootKey = try PrivateKey(pem: try Files.read(folder + "/pki/root.key"), passphrase: nil)
            let server = try CertificateTemplate.server(notBefore: now - 86_400, notAfter: now + 86_400)
                .issue(for: serverKey, issuer: (try #require(root.first), rootKey))
            try files.write(server: server, serverKey)
            func shown() async throws -> String {
                try await ChildProcess.run("/usr/bin/python3", ["-c", PeerScripts.serverCertificate, device]).text
            }
            #expect(try await shown() == authority.server.certificate.fingerprint.hex + "\n")
            for _ in 0..<5 { try await reload() }
            #expect(try await shown() == server.fingerprint.hex + "\n")
            let after = try await version()
            #expect(after["etag"] != nil && after["etag"] != before["etag"])
            #expect(after["last-modified"] != nil && after["last-modified"] == before["last-modified"])
            // Nobody was told: the bytes are others, the order is the same.
            #expect(try await !pushes().contains(renewed.certificate.fingerprint.hex))

            // Faults: all are told, and nothing changes.
            try files.writeConfiguration(device: port, further: "\"drian\": \"5s\", \"loops\": \"many\",")
            try await reload("the new configuration is not used")
            for program in [serve, worker] {
                try await program.says("did you mean drain?")
                try await program.says("loops (file): must be a whole number")
            }
            try files.writeConfiguration(device: port)
            try Files.write(Array("no key\n".utf8), to: folder + "/tls.key")
            var template = TestAuthority.leafTemplate(type, now: now - 10 * 86_400)
            template.notAfter = now - 3_600
            try files.write(try authority.issue(template))
            try await reload("the certificate has expired")
            try await serve.says("device.key: ")
            let admin = try serve.value(after: "\"admin\":\"", upTo: "\"")
            #expect(
                try await curl(["http://\(admin)/readyz"]).contains("the last reload failed (2 faults, see the log)")
            )
            #expect(try await version()["etag"] == after["etag"])
            #expect(try await shown() == server.fingerprint.hex + "\n")

            // What holds until a restart is named, and the rest is in force.
            try files.write(server: server, serverKey)
            try files.write(renewed)
            try files.writeConfiguration(
                device: port + "/elsewhere",
                further: "\"drain\": \"7s\", \"databaseConnections\": 3,",
                type: "\"completeWhenFulfilled\": true,"
            )
            try await reload()
            for setting in ["drain", "databaseConnections", "orderTypes.order.com.example.shop.webServiceURL"] {
                #expect(
                    serve.text.contains("\"this change needs a restart\"")
                        && serve.text.contains("\"setting\":\"\(setting)\"")
                )
            }
            #expect(try await curl(["http://\(admin)/readyz"]).contains("\"degraded\":[]"))
            #expect(try await version()["etag"] == after["etag"])
            try files.writeConfiguration(device: port)
            try await reload()

            // The next push goes out under the new certificate.
            try await change(2)
            #expect(try await phone.end() == 0, "\(phone.text)")
            #expect(try await pushes().contains(renewed.certificate.fingerprint.hex))

            try Files.write([], to: stop)
            #expect(try await load.end() == 0, "\(load.text)")
            print("\(reloads) reloads under load:", String(load.text.split(separator: "\n").last ?? ""))
            for program in [serve, worker] {
                #expect(try await program.end(SIGTERM) == 0)
                #expect(!program.text.contains("\"level\":\"error\",\"label\":\"push\""))
                #expect(!program.text.contains(key.suffix(30)) && !program.text.contains("Hush4711"))
            }
        }
    }

    static let order = """
        {"order": {"orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": "A-1", "orderNumber": "1",
         "orderType": "ecommerce", "status": "open", "orderManagementURL": "https://www.example.com/o",
         "merchant": {"displayName": "Shop", "merchantIdentifier": "merchant.com.example.shop",
                      "url": "https://www.example.com/"},
         "fulfillments": [{"fulfillmentType": "shipping", "fulfillmentIdentifier": "p", "status": "processing"}]}}
        """
}
