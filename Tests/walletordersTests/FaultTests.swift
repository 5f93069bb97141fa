// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

/// What an operator meets on a bad day.
@Suite("Faults", .serialized)
struct FaultTests {
    @Test("A taken port and a taken data directory are told with exit 78, and nothing is left running")
    func taken() async throws {
        try await TestInstallation.use { first in
            try await TestInstallation.use { second in
                let program = try await first.start()
                let port = try program.value(after: "merchants  http://127.0.0.1:", upTo: "/")

                var ports = TestInstallation.freePorts
                ports[1] = "--merchant-listen=127.0.0.1:\(port)"
                let portTaken = try await second.run(["run"] + ports)
                #expect(portTaken.status == 78)
                #expect(portTaken.errorText.contains("port \(port)") && portTaken.errorText.contains("merchant.listen"))
                #expect(try await second.processes().isEmpty)
                // It is told before a database is made.
                #expect(!TestInstallation.exists(second.data + "/pg.new") && !Files.exists(second.data + "/pg"))

                let directoryTaken = try await first.run(["run"] + TestInstallation.freePorts)
                #expect(directoryTaken.status == 78)
                #expect(directoryTaken.errorText.contains("process \(program.pid)"))
                let commands = try await first.run(["keys", "list"])
                #expect(commands.status == 0 && commands.text.contains("run"), "the first one still serves")

                #expect(try await program.end(SIGTERM) == 0)
                #expect(try await first.processes().isEmpty)

            }
        }
    }

    @Test("Another version's data directory is told with exit 78, and left as it is")
    func otherVersion() async throws {
        try await TestInstallation.use { installation in
            let owner = geteuid() == 0 ? "postgres" : "$(id -un)"
            let made = try await ChildProcess.run(
                "/bin/sh",
                [
                    "-ec",
                    "mkdir -m 711 \"$0\"; mkdir -m 700 \"$0/pg\"; echo 14 >\"$0/pg/PG_VERSION\"; chown \(owner) \"$0/pg\"",
                    installation.data,
                ]
            )
            try #require(made.status == 0, "\(made.errorText)")
            let result = try await installation.run(["run"] + TestInstallation.freePorts)
            #expect(result.status == 78)
            #expect(result.errorText.contains("PostgreSQL 14") && result.errorText.contains("pg_upgrade"))
            #expect(try await installation.processes().isEmpty)
            #expect(try Files.list(installation.data + "/pg") == ["PG_VERSION"])

        }
    }

    @Test("Killed with its database under load, it comes up with all it had acknowledged; its logs hold no secrets")
    func killed() async throws {
        try await TestInstallation.use { installation in
            let log = installation.directory + "/errors"
            let acknowledged = installation.directory + "/acknowledged"
            let key = installation.data + "/keys/merchant-api.key"
            let address = { (program: RunningProgram) in try program.value(after: "merchants  http://", upTo: "/") }
            func load(_ program: RunningProgram, _ prefix: String, _ count: Int) throws -> RunningProgram {
                try installation.launch(
                    "/usr/bin/python3",
                    ["-c", PeerScripts.load, try address(program), key, "load", acknowledged, "\(count)", prefix]
                )
            }
            func postmaster() throws -> Int32 {
                let text = String(decoding: try Files.read(installation.data + "/pg/postmaster.pid"), as: UTF8.self)
                return try #require(Int32(text.prefix { $0 != "\n" }))
            }

            let first = try await installation.start(errorFile: log)
            let firstLoad = try load(first, "a", 100_000)
            try await firstLoad.says("loaded")
            kill(try postmaster(), SIGKILL)
            #expect(try await first.end(SIGKILL) == 137)
            #expect(try await firstLoad.end() >= 0)

            let second = try await installation.start(errorFile: log)
            let check = try await installation.python(PeerScripts.load, try address(second), ["check", acknowledged])
            #expect(check.status == 0, "\(check.text)\(check.errorText)")

            // Only the database: it is started again, and what comes meanwhile waits or is told 503.
            let admin = try second.value(after: "admin      ", upTo: "\n")
            let secondLoad = try load(second, "b", 60)
            try await secondLoad.says("loaded")
            kill(try postmaster(), SIGKILL)
            let loaded = try await secondLoad.end()
            #expect(loaded == 0, "\(secondLoad.text)")
            let again = try await installation.python(PeerScripts.load, try address(second), ["check", acknowledged])
            #expect(again.status == 0, "\(again.text)\(again.errorText)")
            let ready = try await ChildProcess.run("/usr/bin/curl", ["-sS", "-m", "10", "--retry", "5", "-f", admin])
            #expect(ready.text.contains("\"ready\":true"), "\(ready.errorText)")
            #expect(try await second.end(SIGTERM) == 0)
            #expect(try await installation.clusterState().hasSuffix(" shut down"))
            #expect(try await installation.processes().isEmpty)

            // What went through it is in none of its logs.
            // The secret may hold the separator itself: base64url does.
            let secret =
                String(decoding: try Files.read(key), as: UTF8.self).split(separator: "_", maxSplits: 2).last ?? ""
            try #require(secret.count > 20)
            let search = try await ChildProcess.run(
                "/bin/grep",
                [
                    "-rFlc", "-e", secret.filter { $0 != "\n" }, "-e", "Zaphodine", "-e", "Quuxbury", "-e", "T-a-0-0",
                    "--",
                    log,
                ]
                    + [installation.data + "/pg/log", installation.data + "/pg.start.log"]
            )
            #expect(search.status == 1 && search.text.isEmpty, "\(search.text)\(search.errorText)")
            #expect(String(decoding: try Files.read(log), as: UTF8.self).contains("starting it again"))

        }
    }

    @Test("Told to end, it answers the request in flight and stops its database; told again, it ends at once")
    func signals() async throws {
        try await TestInstallation.use { installation in
            for (signal, then, status) in [("SIGTERM", "finish", 0), ("SIGINT", "finish", 0), ("SIGTERM", "again", 1)] {
                let program = try await installation.start()
                let address = try program.value(after: "merchants  http://", upTo: "/")
                let started = MonotonicTime.now()
                let answer = try await installation.python(
                    PeerScripts.inFlight,
                    address,
                    ["\(program.pid)", signal, then]
                )
                #expect(answer.status == 0, "\(answer.errorText)")
                #expect(then == "again" || answer.text == "HTTP/1.1 201 Created\n")
                #expect(try await program.end() == Int32(status))
                #expect(MonotonicTime.now() - started < .seconds(10) * Patience.factor)
                if then == "finish" {
                    #expect(try await installation.processes().isEmpty)
                    #expect(try await installation.clusterState().hasSuffix(" shut down"))
                }
            }
            // What the last one left to the kernel is no hindrance.
            #expect(try await installation.start().end(SIGTERM) == 0)
            #expect(try await installation.processes().isEmpty)

        }
    }

    @Test(
        "Another user's data directory is told with exit 78; with its own, any user can run it",
        .enabled(if: geteuid() == 0)
    )
    func otherUser() async throws {
        try await TestInstallation.use { installation in
            let nobody = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", TestInstallation.program, "run"]
            func run(_ arguments: [String]) async throws -> ChildProcess.Result {
                try await ChildProcess.run("/usr/bin/setpriv", nobody + ["--data-dir", installation.data] + arguments)
            }
            try Files.createDirectory(installation.data, mode: 0o755)
            let refused = try await run(TestInstallation.freePorts)
            #expect(refused.status == 78)
            #expect(refused.errorText.contains(installation.data) && refused.errorText.contains("--data-dir"))
            let owned = try await ChildProcess.run("/bin/chown", ["nobody:nogroup", installation.data])
            #expect(owned.status == 0)
            let served = try await run(["--demo"])
            #expect(served.status == 0, "\(served.text)\(served.errorText)")
            #expect(try await installation.processes().isEmpty)

        }
    }
}
