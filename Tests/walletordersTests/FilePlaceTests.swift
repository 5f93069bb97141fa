// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

@testable import walletorders

/// Where the files lie that settings name, and what is said of those that aren't there.
@Suite("Places of files")
struct FilePlaceTests {
    @Test func `a relative path in the file goes from its folder, a flag's from the working directory`() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory + "/etc"
            try Files.createDirectory(folder)
            let text = """
                {"dataDir": "data", "device": {"listen": "unix:run/d.sock", "certificate": "tls/c.pem", "key": "/k.pem"},
                 "logLevel": "info", "webServiceURL": "https://wallet.example.com/",
                 "orderTypes": {"order.com.example.shop": {"identity": "shop.p12", "passphraseFile": "shop.passphrase",
                 "apns": {"host": "apns.example.com", "trust": "../root.pem"}}}}
                """
            try Files.write(Array(text.utf8), to: folder + "/walletorders.json")
            func read(_ more: [String]) async throws -> ServerConfiguration {
                let words = ["--config", folder + "/walletorders.json"] + more
                return try await ServerConfiguration.examine(
                    try ServeCommand.description.parse(words),
                    environment: [:]
                )
            }
            let given = try await read([])
            #expect(given.faults.isEmpty, "\(given.faults)")
            #expect(given.dataDirectory == folder + "/data")
            #expect("\(given.deviceListen)".contains(folder + "/run/d.sock"))
            #expect(given.deviceCertificate == folder + "/tls/c.pem" && given.deviceKey == "/k.pem")
            let type = try #require(given.orderTypes.first)
            #expect(type.identity == folder + "/shop.p12" && type.passphraseFile == folder + "/shop.passphrase")
            #expect(type.apnsTrust == folder + "/../root.pem" && type.apnsHost == "apns.example.com")
            #expect(try await read(["--device-key", "other.pem"]).deviceKey == "other.pem")
            let elsewhere = try await read(["--data-dir", "data"]).dataDirectory
            #expect(elsewhere == ProcessEnvironment.currentDirectory + "/data")
            // The same from any folder, with the path that the file was named by.
            let shown = try await ChildProcess.run(
                "/bin/sh",
                [
                    "-c", "cd \"$0\" && exec \"$1\" config validate --config walletorders.json", folder,
                    TestInstallation.program,
                ]
            )
            #expect(
                shown.errorText.contains("order.com.example.shop.identity: shop.p12 is not there"),
                "\(shown.errorText)"
            )
        }
    }

    @Test func `all files of an order type that aren't there are told at once`() async throws {
        try await TestInstallation.use { installation in
            let file = installation.directory + "/c.json"
            let text = """
                {"webServiceURL": "https://wallet.example.com/", "orderTypes": {"order.com.example.shop":
                 {"identity": "/none/shop.p12", "passphraseFile": "/none/shop.passphrase", "key": "/none/shop.key"}}}
                """
            try Files.write(Array(text.utf8), to: file)
            let told = try await installation.run(["config", "validate", "--config", file])
            #expect(told.status == 78)
            for name in ["identity: /none/shop.p12", "passphraseFile: /none/shop.passphrase", "key: /none/shop.key"] {
                #expect(told.errorText.contains("orderTypes.order.com.example.shop.\(name) is not there"))
            }
        }
    }

    @Test func `all addresses that are taken are told at once, with the flags that move them`() async throws {
        try await TestInstallation.use { installation in
            let first = try await installation.start()
            var flags: [String] = []
            for (flag, after) in [
                ("device-listen", "devices    https://"), ("merchant-listen", "merchants  http://"),
                ("admin-listen", "admin      http://"), ("apns-simulator-listen", "APNs       simulated at https://"),
            ] {
                let end: Character = flag == "apns-simulator-listen" ? "\n" : "/"
                flags.append(
                    "--\(flag)=127.0.0.1:" + (try first.value(after: after, upTo: end).split(separator: ":").last ?? "")
                )
            }
            let second = try await ChildProcess.run(
                TestInstallation.program,
                ["run", "--data-dir", installation.directory + "/e"] + flags
            )
            #expect(second.status == 78, "\(second.errorText)")
            let lines = second.errorText.split(separator: "\n").filter { $0.contains("choose another address with --") }
            #expect(lines.count == 4, "\(second.errorText)")
            for flag in flags { #expect(second.errorText.contains("with " + flag.prefix { $0 != "=" })) }
            #expect(try await first.end(SIGTERM) == 0)
        }
    }

    @Test func `a file that opens only with a passphrase is told with the option that gives it`() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let made = try await ChildProcess.run(TestInstallation.program, ["testpki", folder + "/pki"])
            #expect(made.status == 0, "\(made.errorText)")
            try Files.createDirectory(folder + "/source")
            try Files.write(Array(SampleOrder.text.utf8), to: folder + "/source/order.json")
            func build(_ identity: [String]) async throws -> String {
                let output = ["-o", folder + "/out.order"]
                let words = ["package", "build", folder + "/source"] + output + identity
                return try await ChildProcess.run(TestInstallation.program, words).errorText
            }
            let locked = try await build(["--identity", folder + "/pki/identity.p12"])
            #expect(locked.contains("give its passphrase (--passphrase-file FILE)"), "\(locked)")
            let key = ["--key", folder + "/pki/identity.key"]
            let alone = try await build(["--identity", folder + "/pki/identity.pem"] + key)
            #expect(alone.contains("give that intermediate (--intermediate FILE)"), "\(alone)")
        }
    }
}
