// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import OrderModel
import OrderPackage
import ServiceRuntime
import TestPatience
import Testing

/// Work that no request waits for.
@Suite("Upkeep")
struct UpkeepTests {
    private static let types = ["order.com.example.first", "order.com.example.second"]

    /// What a test of two order types has: the program, requests of their merchant, and SQL on its database.
    private struct Shop: Sendable {
        let installation: TestInstallation
        let program: RunningProgram
        let merchant: String
        let key: String

        func send(_ method: String, _ path: String, _ body: String) async throws {
            let result = try await ChildProcess.run(
                "/usr/bin/curl",
                ["-sS", "-f", "-X", method, "-H", "@-", "-d", body, "http://\(self.merchant)/api/v1\(path)"],
                input: Array("Authorization: Bearer \(self.key)\nContent-Type: application/json\n".utf8)
            )
            try #require(result.status == 0, "\(method) \(path): \(result.errorText)")
        }

        func query(_ sql: String) async throws -> String {
            let result = try await ChildProcess.run(
                "/usr/bin/psql",
                ["-h", self.installation.data + "/socket", "-U", "walletorders", "-qAtc", sql]
            )
            try #require(result.status == 0, "\(result.errorText)")
            return result.text
        }
    }

    private static func withShop(_ body: (Shop) async throws -> Void) async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let authority = try TestAuthority.make(orderType: try OrderTypeIdentifier(Self.types[0]))
            try Files.write(authority.intermediate.pem(), to: folder + "/intermediate.pem")
            var settings: [String] = []
            for type in Self.types {
                let identity = try authority.identity(for: try OrderTypeIdentifier(type))
                try Files.write(
                    identity.certificate.pem() + identity.key.pem(),
                    to: "\(folder)/\(type).pem",
                    mode: 0o600
                )
                settings.append(
                    """
                    "\(type)": {"identity": "\(folder)/\(type).pem", "intermediates": "\(folder)/intermediate.pem",
                        "webServiceURL": "https://w.example.com/", "apns": {"host": "127.0.0.1", "port": 1}}
                    """
                )
            }
            let text = "{\"orderTypes\": {\(settings.joined(separator: ", "))}}"
            try Files.write(Array(text.utf8), to: folder + "/config.json")
            let program = try await installation.start(
                TestInstallation.freePorts + ["--config", folder + "/config.json"]
            )
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let key = try await installation.run([
                "keys", "create", "--name", "a", "--scope", "admin", "--scope", "orders:write", "--scope",
                "orders:read",
            ]).text.filter { $0 != "\n" }
            try await body(Shop(installation: installation, program: program, merchant: merchant, key: key))
            #expect(try await program.end(SIGTERM) == 0)
        }
    }

    @Test func `a type whose roll-out fails keeps no other type's waiting`() async throws {
        try await Self.withShop { shop in
            for type in Self.types {
                let order = ReloadTests.order.replacing("order.com.example.shop", with: type)
                try await shop.send("POST", "/orders", order)
            }
            // An identifier that no order may have: the whole batch of its type can't be read.
            _ = try await shop.query(
                "update orders set order_identifier = e'A\\x01' where order_type = '\(Self.types[0])'"
            )
            for type in Self.types {
                try await shop.send("PUT", "/order-types/\(type)/localizations/en", "{\"hello\": \"Good day\"}")
                try await shop.send("POST", "/order-types/\(type)/refresh", "")
            }
            try await shop.program.says("upkeep failed and is tried again later")
            let deadline = MonotonicTime.now() + Patience.long
            var listed = ""
            repeat {
                listed = try await shop.installation.run(["orders", "list", Self.types[1]]).text
            } while !listed.contains("revision 2") && MonotonicTime.now() < deadline
            #expect(listed.contains("revision 2"), "\(listed)\(shop.program.text)")
        }
    }

    @Test func `a long roll-out keeps no other type's waiting for its end`() async throws {
        try await Self.withShop { shop in
            // Two batches of 50 each.
            for type in Self.types {
                let order = ReloadTests.order.replacing("order.com.example.shop", with: type)
                for number in 1...60 {
                    try await shop.send("POST", "/orders", order.replacing("\"A-1\"", with: "\"A-\(number)\""))
                }
                try await shop.send("PUT", "/order-types/\(type)/localizations/en", "{\"hello\": \"Good day\"}")
            }
            // Both asked for at the same moment.
            _ = try await shop.query(
                "insert into refreshes (order_type, target) select order_type, parts_version from order_types"
            )
            let deadline = MonotonicTime.now() + Patience.long
            while try await shop.query("select count(*) from orders where revision = 1") != "0\n",
                MonotonicTime.now() < deadline
            {}
            #expect(try await shop.query("select count(*) from orders where revision = 1") == "0\n")
            // Marks are the clock at the change: each type's first batch came before the other's last.
            let inTurns = try await shop.query(
                """
                with marks as (
                    select order_type, min(mark) first, max(mark) last from orders where revision = 2 group by 1)
                select count(*) from marks a join marks b on a.order_type <> b.order_type and a.first < b.last
                """
            )
            #expect(inTurns == "2\n")
        }
    }
}
