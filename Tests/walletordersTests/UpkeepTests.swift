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

    @Test func `a type whose roll-out fails keeps no other type's waiting`() async throws {
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
            func send(_ method: String, _ path: String, _ body: String) async throws {
                let result = try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["-sS", "-f", "-X", method, "-H", "@-", "-d", body, "http://\(merchant)/api/v1\(path)"],
                    input: Array("Authorization: Bearer \(key)\nContent-Type: application/json\n".utf8)
                )
                try #require(result.status == 0, "\(method) \(path): \(result.errorText)")
            }
            for type in Self.types {
                try await send("POST", "/orders", ReloadTests.order.replacing("order.com.example.shop", with: type))
            }
            let broken = try await ChildProcess.run(
                "/usr/bin/psql",
                [
                    "-h", installation.data + "/socket", "-U", "walletorders", "-qc",
                    // An identifier that no order may have: the whole batch of its type can't be read.
                    "update orders set order_identifier = e'A\\x01' where order_type = '\(Self.types[0])'",
                ]
            )
            try #require(broken.status == 0, "\(broken.errorText)")
            for type in Self.types {
                try await send("PUT", "/order-types/\(type)/localizations/en", "{\"hello\": \"Good day\"}")
                try await send("POST", "/order-types/\(type)/refresh", "")
            }
            try await program.says("upkeep failed and is tried again later")
            let deadline = MonotonicTime.now() + Patience.long
            var listed = ""
            repeat {
                listed = try await installation.run(["orders", "list", Self.types[1]]).text
            } while !listed.contains("revision 2") && MonotonicTime.now() < deadline
            #expect(listed.contains("revision 2"), "\(listed)\(program.text)")
            #expect(try await program.end(SIGTERM) == 0)
        }
    }
}
