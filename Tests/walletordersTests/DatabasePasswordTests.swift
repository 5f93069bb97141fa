// SPDX-License-Identifier: Apache-2.0
import PostgreSQL
import ServiceRuntime
import Testing

@testable import walletorders

/// The database's password, given apart from its URL.
@Suite("Database password")
struct DatabasePasswordTests {
    private static let url = "postgres://shop@db.example.com/orders"

    private func examine(_ words: [String], _ environment: [String: String]) async throws -> ServerConfiguration {
        let arguments = try ServeCommand.description.parse(words)
        let environment = environment.merging(["HOME": "/tmp"]) { given, _ in given }
        return try await ServerConfiguration.examine(arguments, environment: environment)
    }

    @Test func `it comes from its variable as it is, and no setting shows it`() async throws {
        let configuration = try await self.examine(
            [],
            [
                "WALLETORDERS_DATABASE": Self.url, "WALLETORDERS_DATABASE_PASSWORD": "p@ss/w#rd?%40 ",
            ]
        )
        #expect(configuration.faults.isEmpty)
        #expect(configuration.database?.password?.value == "p@ss/w#rd?%40 ")
        #expect(configuration.values.entries["databasePassword"]?.shown == "<redacted>")
    }

    @Test func `it comes from a file, whose last line break doesn't count`() async throws {
        try await TestInstallation.use { installation in
            let file = installation.directory + "/password"
            for (text, password) in [("Hush \n", "Hush "), ("Hush\r\n", "Hush"), ("Hush", "Hush"), ("a\n\n", "a\n")] {
                try Files.write(Array(text.utf8), to: file, mode: 0o600)
                let configuration = try await self.examine(
                    ["--database-password-file", file],
                    ["WALLETORDERS_DATABASE": Self.url]
                )
                #expect(configuration.faults.isEmpty)
                #expect(configuration.database?.password?.value == password)
            }
        }
    }

    @Test func `it is no flag: arguments are everyone's to read`() async throws {
        #expect(throws: UsageError.self) { try ServeCommand.description.parse(["--database-password", "Hush"]) }
        #expect(!ServeCommand.description.help.contains("--database-password "))
        #expect(ServeCommand.description.help.contains("--database-password-file "))
    }

    @Test func `whatever leaves open which password is meant is a fault that names the setting`() async throws {
        try await TestInstallation.use { installation in
            func file(_ name: String, _ bytes: [UInt8]) throws -> String {
                try Files.write(bytes, to: "\(installation.directory)/\(name)", mode: 0o600)
                return "\(installation.directory)/\(name)"
            }
            let good = try file("good", Array("Hush".utf8))
            let own = "WALLETORDERS_DATABASE_PASSWORD"
            let ofFile = "WALLETORDERS_DATABASE_PASSWORD_FILE"
            let url = "WALLETORDERS_DATABASE"
            let withPassword = "postgres://shop:Hush@db.example.com/orders"
            let faults: [([String: String], String)] = [
                ([url: withPassword, own: "Hush4711"], "databasePassword (environment): database has a password"),
                ([url: withPassword, ofFile: good], "databasePasswordFile (environment): database has a password"),
                (
                    [url: Self.url + "?password=Hush", own: "Hush4711"],
                    "databasePassword (environment): database has a password"
                ),
                ([url: Self.url, own: "Hush4711", ofFile: good], "databasePasswordFile (environment): databaseP"),
                ([own: "Hush4711"], "databasePassword (environment): goes with database"),
                ([ofFile: good], "databasePasswordFile (environment): goes with database"),
                (
                    [url: Self.url, ofFile: installation.directory + "/none"],
                    "databasePasswordFile (environment): the password can't be read: "
                ),
                (
                    [url: Self.url, ofFile: try file("empty", Array("\n".utf8))],
                    "databasePasswordFile (environment): holds no password"
                ),
                (
                    [url: Self.url, ofFile: try file("nul", [0x48, 0, 0x48])],
                    "databasePasswordFile (environment): holds what no password can"
                ),
            ]
            for (environment, start) in faults {
                let told = try await self.examine([], environment).faults
                #expect(told.count == 1 && told[0].hasPrefix(start), "\(told)")
                #expect(!told.joined().contains("Hush"))
            }
        }
    }
}
