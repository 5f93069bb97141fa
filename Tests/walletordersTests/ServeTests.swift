// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

/// The program in its parts, as they are run beside a PostgreSQL server.
@Suite("Serving in parts")
struct ServeTests {
    private static let listeners = TestInstallation.freePorts.dropLast()

    @Test("the APNs simulator is known by the names that it is given, and by localhost")
    func simulatorNames() async throws {
        try await TestInstallation.use { installation in
            let pki = installation.directory + "/pki"
            try #require(try await ChildProcess.run(TestInstallation.program, ["testpki", pki]).status == 0)
            let simulator = TestInstallation.program.dropLast("walletorders".count) + "walletsim"
            let names = ["--host", "apns.example.com", "--host", "apns"]
            let arguments = ["apns", "--pki", pki, "--listen", "127.0.0.1:0"] + names
            let apns = try installation.launch(String(simulator), arguments)
            try await apns.says("\n")
            let address = try apns.value(after: "https://", upTo: "\n")
            for (host, isKnown) in [("apns.example.com", true), ("apns", true), ("localhost", true), ("other", false)] {
                let result = try await ChildProcess.run(
                    "/usr/bin/openssl",
                    [
                        "s_client", "-connect", address, "-CAfile", pki + "/root.pem", "-verify_hostname", host,
                        "-verify_return_error",
                    ]
                )
                #expect((result.status == 0) == isKnown, "\(host): \(result.errorText)")
            }
        }
    }

    @Test("migrate, then two servers and two workers: an event given to one reaches the phone through a push")
    func parts() async throws {
        try await TestInstallation.use { installation in
            // The server of another installation, with a database of its own that nothing has been made in.
            let url = try await installation.startDatabase()
            let file = installation.directory + "/config.json"
            let pki = installation.directory + "/pki"
            let environment = ["PATH": "/usr/bin:/bin", "WALLETORDERS_DATABASE": url, "WALLETORDERS_CONFIG": file]
            func call(_ arguments: String...) async throws -> ChildProcess.Result {
                try await ChildProcess.run(TestInstallation.program, arguments, environment: environment)
            }
            func launch(_ arguments: [String]) throws -> RunningProgram {
                try installation.launch(TestInstallation.program, arguments, environment: environment)
            }

            try Files.write(Array("{}".utf8), to: file)
            try #require(try await call("testpki", pki).status == 0)
            let simulator = TestInstallation.program.dropLast("walletorders".count) + "walletsim"
            let apns = try installation.launch(String(simulator), ["apns", "--pki", pki, "--listen", "127.0.0.1:0"])
            try await apns.says("\n")
            let apnsURL = "https://" + (try apns.value(after: "https://", upTo: "\n"))
            let port = try await installation.freePort()
            try Files.write(Array("walletorders\n".utf8), to: installation.directory + "/passphrase", mode: 0o600)
            let configuration = """
                {"dataDir": "\(installation.directory)/own", "orderTypes": {"order.com.example.shop": {
                    "identity": "\(pki)/identity.p12", "passphraseFile": "\(installation.directory)/passphrase",
                    "intermediates": "\(pki)/intermediate.pem", "webServiceURL": "https://127.0.0.1:\(port)/",
                    "apns": {"host": "127.0.0.1", "port": \(apnsURL.split(separator: ":").last ?? ""),
                             "trust": "\(pki)/root.pem"}}}}
                """
            try Files.write(Array(configuration.utf8), to: file)
            #expect(try await call("config", "validate").status == 0)
            let shown = try await call("config", "show", "--sources")
            #expect(shown.text.contains("database = <redacted>  (environment)") && !shown.text.contains("Hush4711"))

            let early = try await ChildProcess.run(
                TestInstallation.program,
                ["serve"] + Self.listeners,
                environment: environment
            )
            #expect(early.status == 78 && early.errorText.contains("walletorders migrate"))
            #expect(try await call("migrate", "--status").status == 1)
            async let other = call("migrate")
            let one = try await call("migrate").status
            #expect(try await (one, other.status) == (0, 0))
            #expect(try await call("migrate", "--status").status == 0)

            var fixed = Array(Self.listeners)
            fixed[0] = "--device-listen=127.0.0.1:\(port)"
            let tls = ["--device-certificate=\(pki)/server.pem", "--device-key=\(pki)/server.key"]
            let servers = [try launch(["serve"] + fixed + tls), try launch(["serve"] + Self.listeners)]
            let workers = [try launch(["worker"] + Self.listeners), try launch(["worker"] + Self.listeners)]
            for program in servers + workers { try await program.says("\"ready\"") }
            let addresses = try servers.map { try $0.value(after: "\"merchant\":\"", upTo: "\"") }

            let key = try await call("keys", "create", "--name", "shop").text.filter { $0 != "\n" }
            func post(_ index: Int, _ path: String, _ body: String) async throws -> ChildProcess.Result {
                // The key comes from standard input: a command line is for everyone to read.
                try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["-sS", "-f", "-H", "@-", "-d", body, "http://\(addresses[index])/api/v1/orders\(path)"],
                    input: Array("Authorization: Bearer \(key)\nContent-Type: application/json\n".utf8)
                )
            }
            let order = """
                {"order": {"orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": "A-1",
                 "orderNumber": "1", "orderType": "ecommerce", "status": "open",
                 "orderManagementURL": "https://www.example.com/o", "merchant": {"displayName": "Shop",
                 "merchantIdentifier": "merchant.com.example.shop", "url": "https://www.example.com/"},
                 "fulfillments": [{"fulfillmentType": "shipping", "fulfillmentIdentifier": "p",
                                   "status": "processing"}]}}
                """
            let created = try await post(0, "", order)
            try #require(created.status == 0, "\(created.errorText)")
            let answer = installation.directory + "/answer.json"
            try Files.write(created.output, to: answer)
            let phone = try installation.launch(
                String(simulator),
                [
                    "iphone", "--order-details", answer, "--trust", pki + "/root.pem", "--apns", apnsURL, "--changes",
                    "1",
                ]
                    + ["--remove", "-o", installation.directory + "/last.order"]
            )
            try await phone.says("registered (201)")
            let event = try await post(
                1,
                "/order.com.example.shop/A-1/events",
                """
                {"eventIdentifier": "e-1", "fulfillment": {"fulfillmentIdentifier": "p", "status": "shipped"}}
                """
            )
            #expect(event.status == 0 && event.text.contains("\"revision\":2"), "\(event.text)\(event.errorText)")
            #expect(try await phone.end() == 0, "\(phone.text)")
            #expect(phone.text.contains("told by a push") && phone.text.contains("removed and unregistered"))

            let unused = try await call("keys", "create", "--name", "unused", "--json").text
            let identifier = unused.split(separator: "\"").first { $0.count == 16 && !$0.contains(":") } ?? ""
            let whole = unused.split(separator: "\"").first { $0.hasPrefix("wok_") } ?? ""
            let first = try await call("keys", "revoke", String(whole))
            #expect(first.status == 0 && first.text.hasPrefix("Revoked. "), "\(first.text)\(first.errorText)")
            let again = try await call("keys", "revoke", String(whole), String(identifier))
            #expect(again.status == 0 && again.text == first.text)
            let unknown = try await call("keys", "revoke", "nobody", "wok_0123456789abcdef_secret")
            #expect(unknown.status == 1 && unknown.errorText.contains("no such key: nobody, 0123456789abcdef"))
            #expect(!(first.text + first.errorText + again.errorText + unknown.errorText).contains("secret"))
            let json = try await call("keys", "revoke", "--json", "nobody", String(whole))
            #expect(json.status == 1 && json.text == "{\"revoked\":[\"\(identifier)\"],\"unknown\":[\"nobody\"]}\n")
            #expect(try await call("keys", "create", "--name", "owner", "--scope", "admin").status == 0)
            let listed = try await call("keys", "list").text
            #expect(listed.contains("owner  admin (all scopes)  all order types"))
            #expect(listed.contains("\(identifier)  unused") && listed.contains("revoked "))
            #expect(!listed.contains(key.suffix(30)))

            for program in servers + workers {
                #expect(try await program.end(SIGTERM) == 0)
                #expect(!program.text.contains(key.suffix(30)) && !program.text.contains("Hush4711"))
            }
        }
    }

    @Test("serve without a database, or without the token keys, says what to do with exit 78")
    func missing() async throws {
        try await TestInstallation.use { installation in
            let none = try await installation.run(["serve"] + Self.listeners)
            #expect(none.status == 78 && none.errorText.contains("WALLETORDERS_DATABASE"))
            _ = try await installation.start()
            let url = "--database=postgres://walletorders@/walletorders?host=\(installation.data)/socket"
            let noKeys = try await ChildProcess.run(
                TestInstallation.program,
                ["serve", url, "--data-dir", installation.directory + "/own"] + Self.listeners
            )
            #expect(noKeys.status == 78 && noKeys.errorText.contains("walletorders migrate"))
        }
    }
}
