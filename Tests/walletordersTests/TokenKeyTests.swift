// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

/// The files that orders' tokens are derived from, and the database that knows them again.
@Suite("Token keys and their database")
struct TokenKeyTests {
    private static func write(_ digits: String, to folder: String, _ number: Int) throws {
        try Files.createDirectory(folder + "/keys", mode: 0o700)
        let text = Array((String(repeating: digits, count: 32) + "\n").utf8)
        try Files.write(text, to: "\(folder)/keys/token-\(number).key", mode: 0o600)
    }

    @Test func `a machine with other keys than the database's is refused, and none is made anew`() async throws {
        try await TestInstallation.use { installation in
            let database = try await installation.startDatabase()
            let first = installation.directory + "/first"
            let second = installation.directory + "/second"
            func call(_ status: Int32, _ folder: String, _ words: String...) async throws -> String {
                let ports = ["run", "serve", "worker"].contains(words[0]) ? TestInstallation.freePorts : []
                let result = try await ChildProcess.run(
                    TestInstallation.program,
                    words + ["--data-dir", folder, "--database", database]
                        + (words[0] == "run" ? ports : ports.dropLast())
                )
                #expect(result.status == status, "\(words) \(folder): \(result.text)\(result.errorText)")
                return result.text + result.errorText
            }
            _ = try await call(0, first, "migrate")
            _ = try await call(0, first, "migrate")
            for command in ["migrate", "run"] {
                let lost = try await call(78, second, command)
                #expect(lost.contains("lacks token-1.key") && lost.contains("Copy the files there"), "\(lost)")
                #expect(!Files.exists(second + "/keys/token-1.key"))
            }
            // Another key under the same number: without a word it would lock out all devices.
            try Self.write("ab", to: second, 1)
            for command in ["migrate", "run", "serve", "worker"] {
                let other = try await call(78, second, command)
                #expect(other.contains("another token-1.key") && other.contains("Copy the files there"), "\(other)")
            }
            let doctor = try await call(1, second, "doctor")
            #expect(doctor.contains("✗ token keys: ") && doctor.contains("another token-1.key"), "\(doctor)")

            let key = try Files.read(first + "/keys/token-1.key")
            try Files.write(key, to: second + "/keys/token-1.key", mode: 0o600)
            _ = try await call(0, second, "migrate")
            #expect(try await !call(1, second, "doctor").contains("✗ token keys"))
            // The next number: whoever comes first with it, the others need the same.
            try Self.write("cd", to: first, 2)
            _ = try await call(0, first, "migrate")
            #expect(try await call(78, second, "migrate").contains("lacks token-2.key"))
            try Self.write("ef", to: second, 2)
            #expect(try await call(78, second, "migrate").contains("another token-2.key"))
            try Self.write("cd", to: second, 2)
            _ = try await call(0, second, "migrate")
        }
    }

    @Test func `a lost key is not made anew by run, and with the file put back it serves again`() async throws {
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            #expect(try await program.end(SIGTERM) == 0)
            let path = installation.data + "/keys/token-1.key"
            let key = try Files.read(path)
            try Files.removeTree(path)
            let lost = try await installation.run(["run"] + TestInstallation.freePorts)
            #expect(lost.status == 78 && lost.errorText.contains("lacks token-1.key"), "\(lost.errorText)")
            #expect(!Files.exists(path))
            #expect(try await installation.processes().isEmpty)
            try Files.write(key, to: path, mode: 0o644)
            for words in [["run"] + TestInstallation.freePorts, ["doctor", "--offline"]] {
                let open = try await installation.run(words)
                let told = open.text + open.errorText
                #expect(told.contains("run chmod 600 on it") && !told.contains("walletorders migrate"), "\(told)")
                #expect(!told.contains("copy the files"), "\(told)")
            }
            try Files.write(key, to: path, mode: 0o600)
            #expect(try await installation.start().end(SIGTERM) == 0)
        }
    }

    @Test func `migrate at once by many makes one key`() async throws {
        try await TestInstallation.use { installation in
            let database = try await installation.startDatabase()
            let folder = installation.directory + "/own"
            let statuses = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let result = try await ChildProcess.run(
                            TestInstallation.program,
                            ["migrate", "--data-dir", folder, "--database", database]
                        )
                        return "\(result.status)\(result.errorText)"
                    }
                }
                var all: [String] = []
                for try await status in group { all.append(status) }
                return all
            }
            #expect(Set(statuses) == ["0"], "\(statuses)")
            #expect(try Files.list(folder + "/keys") == ["token-1.key"])
        }
    }
}
