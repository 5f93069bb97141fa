// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OrderModel
import OrderPackage
import ServiceRuntime
import Testing

@testable import walletorders

/// What is in force, and what will not be for long.
@Suite("Settings in force")
struct SettingsTests {
    @Test func `the data directory is shown with its source, also when nobody named one`() async throws {
        try await TestInstallation.use { installation in
            let state = installation.directory
            func show(_ words: String...) async throws -> String {
                // Root's folder is fixed; others' goes by the environment.
                try await ChildProcess.run(
                    TestInstallation.program,
                    ["config", "show", "--sources"] + words,
                    environment: ["PATH": "/usr/bin:/bin", "XDG_STATE_HOME": state]
                ).text
            }
            let shown = try await show()
            let expected = ["/var/lib/walletorders", state + "/walletorders"].map { "dataDir = \($0)  (default)\n" }
            #expect(expected.contains { shown.contains($0) }, "\(shown)")
            #expect(try await show("--json").contains("\"dataDir\":{\"value\":\"/"))
            #expect(try await show("--data-dir", state).contains("dataDir = \(state)  (flag)\n"))
        }
    }

    @Test func `without a name the data directory is below the home, and nowhere without one`() {
        func directory(_ environment: [String: String]) -> String? {
            ServerConfiguration.defaultDataDirectory(environment, isRoot: false)
        }
        #expect(directory(["HOME": "/home/a"]) == "/home/a/.local/state/walletorders")
        #expect(directory(["HOME": "/home/a", "XDG_STATE_HOME": "/s"]) == "/s/walletorders")
        #expect(directory(["HOME": "/home/a", "XDG_STATE_HOME": "s"]) == "/home/a/.local/state/walletorders")
        // A folder of /tmp would be anybody's.
        for nowhere in [[:], ["HOME": "a"], ["XDG_STATE_HOME": "s"]] { #expect(directory(nowhere) == nil) }
        #expect(ServerConfiguration.defaultDataDirectory([:], isRoot: true) == "/var/lib/walletorders")
    }

    @Test func `rate limits come from flags, environment, file and defaults, in that order`() async throws {
        try await TestInstallation.use { installation in
            let file = installation.directory + "/limits.json"
            let text =
                #"{"merchant": {"requestsPerKey": 5, "failuresPerAddress": 0}, "device": {"requestsPerDevice": 7}}"#
            try Files.write(Array(text.utf8), to: file)
            let shown = try await ChildProcess.run(
                TestInstallation.program,
                ["config", "show", "--sources", "--config", file, "--device-requests-per-device", "8"],
                environment: ["PATH": "/usr/bin:/bin", "HOME": "/tmp", "WALLETORDERS_MERCHANT_REQUESTS_PER_KEY": "6"]
            ).text
            for line in [
                "device.requestsPerAddress = 240000  (default)", "device.requestsPerDevice = 8  (flag)",
                "merchant.failuresPerAddress = 0  (file)", "merchant.requestsPerKey = 6  (environment)",
            ] { #expect(shown.contains(line + "\n"), "\(shown)") }
        }
    }

    @Test func `doctor warns of the public listener's certificate thirty days before its end`() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let authority = try TestAuthority.make(orderType: try OrderTypeIdentifier("order.com.example.shop"))
            for (days, isTold) in [(Int64(20), true), (40, false)] {
                let server = try authority.server(hosts: [], now: WallTime.now().seconds - (395 - days) * 86_400)
                try Files.write(server.certificate.pem(), to: folder + "/server.pem")
                try Files.write(server.key.pem(), to: folder + "/server.key", mode: 0o600)
                let told = try await installation.run([
                    "doctor", "--offline", "--device-certificate", folder + "/server.pem", "--device-key",
                    folder + "/server.key",
                ])
                #expect(told.text.contains("✗ device.certificate: expires in") == isTold, "\(told.text)")
                #expect(told.text.contains("✓ device.certificate: valid until") != isTold, "\(told.text)")
            }
        }
    }
}
