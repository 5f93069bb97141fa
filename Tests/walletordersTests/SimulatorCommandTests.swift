// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

/// `walletsim` as people call it.
@Suite("walletsim")
struct SimulatorCommandTests {
    private static let simulator = String(TestInstallation.program.dropLast("walletorders".count)) + "walletsim"

    /// Starts everything, creates order A-1, and gives the file with its hand-off and how to post.
    private static func withOrder(
        _ body: (
            TestInstallation, _ program: RunningProgram, _ details: String, _ change: (String) async throws -> Void
        )
            async throws -> Void
    ) async throws {
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let key = try program.value(after: "Merchant key (kept in the data directory): ", upTo: "\n")
            func post(_ path: String, _ body: String) async throws -> [UInt8] {
                let result = try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["-sS", "-f", "-H", "@-", "-d", body, "http://\(merchant)/api/v1/orders\(path)"],
                    input: Array("Authorization: Bearer \(key)\nContent-Type: application/json\n".utf8)
                )
                try #require(result.status == 0, "\(result.errorText)")
                return result.output
            }
            let details = installation.directory + "/answer.json"
            try Files.write(try await post("", ReloadTests.order), to: details)
            try await body(installation, program, details) { status in
                _ = try await post(
                    "/order.com.example.shop/A-1/events",
                    """
                    {"eventIdentifier": "e-\(status)", "fulfillment": {"fulfillmentIdentifier": "p", "status": "\(status)"}}
                    """
                )
            }
        }
    }

    @Test func `the phone counts newer packages, and waits for the one that was asked for`() async throws {
        try await Self.withOrder { installation, _, details, change in
            let trust = ["--trust", installation.data + "/pki/root.pem"]
            let phone = try installation.launch(
                Self.simulator,
                ["iphone", "--order-details", details, "--changes", "1"] + trust
            )
            try await phone.says("registered (201)")
            try await change("shipped")
            #expect(try await phone.end() == 0)
            #expect(phone.text.matches(of: #/fetched /#).count == 2, "\(phone.text)")
        }
    }

    @Test func `the phone waits for an APNs that goes away, and hears it again when it is back`() async throws {
        try await Self.withOrder { installation, _, details, change in
            let pki = installation.data + "/pki"
            let port = try await installation.freePort()
            let apns = ["apns", "--pki", pki, "--listen", "127.0.0.1:" + port]
            let first = try installation.launch(Self.simulator, apns)
            try await first.says("simulated at")
            let phone = try installation.launch(
                Self.simulator,
                [
                    "iphone", "--order-details", details, "--changes", "1", "--trust", pki + "/root.pem", "--apns",
                    "https://127.0.0.1:" + port,
                ]
            )
            try await phone.says("registered (201)")
            try await phone.says("waiting for a push")
            #expect(try await first.end(SIGKILL) == 128 + SIGKILL)
            try await phone.says("APNs is away")
            let second = try installation.launch(Self.simulator, apns)
            try await second.says("simulated at")
            try await change("shipped")
            let token = try await ChildProcess.run(
                "/usr/bin/psql",
                [
                    "-h", installation.data + "/socket", "-U", "walletorders", "-Atqc",
                    "select push_token from devices",
                ]
            )
            #expect(token.status == 0, "\(token.errorText)")
            let chain = installation.directory + "/chain.pem"
            try Files.write(try Files.read(pki + "/identity.pem") + Files.read(pki + "/intermediate.pem"), to: chain)
            let pushed = try await ChildProcess.run(
                "/usr/bin/curl",
                [
                    "-sS", "-f", "--http2", "--cacert", pki + "/root.pem", "--cert", chain, "--key",
                    pki + "/identity.key", "-H", "apns-topic: order.com.example.shop", "-H",
                    "apns-push-type: background", "-H", "apns-priority: 5", "-d", "{}",
                    "https://127.0.0.1:\(port)/3/device/" + token.text.filter { $0 != "\n" },
                ]
            )
            #expect(pushed.status == 0, "\(pushed.errorText)")
            #expect(try await phone.end() == 0, "\(phone.text)")
            #expect(phone.text.contains("told by a push"), "\(phone.text)")
        }
    }

    @Test func `an address that is no APNs simulator ends the phone with 1 instead of a storm of requests`()
        async throws
    {
        try await Self.withOrder { installation, program, details, _ in
            let device = try program.value(after: "devices    ", upTo: "v")
            let result = try await ChildProcess.run(
                Self.simulator,
                [
                    "iphone", "--order-details", details, "--trust", installation.data + "/pki/root.pem", "--changes",
                    "1",
                    "--apns", String(device.dropLast()),
                ]
            )
            #expect(result.status == 1, "\(result.text)\(result.errorText)")
            #expect(result.errorText.contains("is no APNs simulator"), "\(result.errorText)")
        }
    }

    @Test func `what can't be read is 66, and a result that nobody gets is a failure`() async throws {
        try await Self.withOrder { installation, _, details, _ in
            let folder = installation.directory
            let trust = ["--trust", installation.data + "/pki/root.pem"]
            func call(_ status: Int32, _ says: String, _ words: [String]) async throws {
                let result = try await ChildProcess.run(Self.simulator, words)
                #expect(result.status == status && result.errorText.contains(says), "\(words): \(result.errorText)")
            }
            try await call(66, "\(folder)/none", ["apns", "--pki", folder + "/none", "--listen", "127.0.0.1:0"])
            try await call(66, folder + "/none", ["iphone", "--order-details", folder + "/none"])
            try await call(66, details, ["iphone", "--order-details", details, "--trust", details])
            try await call(
                69,
                "\(folder)/none/x can't be written",
                ["iphone", "--order-details", details, "-o", folder + "/none/x"] + trust
            )
            let full = try await ChildProcess.run(
                "/bin/bash",
                ["-c", "\"$0\" \"$@\" >/dev/full", Self.simulator, "iphone", "--order-details", details] + trust
            )
            #expect(full.status == 69 && full.errorText.contains("No space left"), "\(full.status) \(full.errorText)")
        }
    }

    @Test func `APNs is played on an IPv6 address too, and SIGHUP does not end it`() async throws {
        try await TestInstallation.use { installation in
            let pki = installation.directory + "/pki"
            try #require(try await ChildProcess.run(TestInstallation.program, ["testpki", pki]).status == 0)
            let apns = try installation.launch(Self.simulator, ["apns", "--pki", pki, "--listen", "[::1]:0"])
            try await apns.says("https://[::1]:")
            let port = try apns.value(after: "https://[::1]:", upTo: "\n")
            apns.send(SIGHUP)
            let answer = try await ChildProcess.run(
                "/usr/bin/curl",
                ["-sS", "--http2", "--cacert", pki + "/root.pem", "https://[::1]:\(port)/simulator/pushes/ab"]
            )
            #expect(answer.text.contains("\"count\":0"), "\(answer.text)\(answer.errorText)\(apns.text)")
            #expect(try await apns.end(SIGTERM) == 0)
        }
    }
}
