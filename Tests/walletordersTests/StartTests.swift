// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import OrderModel
import OrderPackage
import ServiceRuntime
import Testing

/// Signals that come before a program serves, and while a command waits.
@Suite("Ended early", .serialized)
struct StartTests {
    /// Sends a signal as soon as a file is there whose path begins so, or after a time.
    private func end(
        _ program: RunningProgram,
        _ signal: Int32,
        once file: String? = nil,
        after milliseconds: Int64 = 0
    ) async throws -> Int32 {
        if let file {
            let deadline = MonotonicTime.now() + .seconds(30)
            while !TestInstallation.exists(file), MonotonicTime.now() < deadline {
                try await sleep(for: .milliseconds(1))
            }
            try #require(TestInstallation.exists(file), "\(file) never came: \(program.text)")
        }
        try await sleep(for: .milliseconds(milliseconds))
        let started = MonotonicTime.now()
        let status = try await program.end(signal)
        print("ended \(MonotonicTime.now() - started) after signal \(signal): \(file ?? "") \(milliseconds) ms")
        return status
    }

    @Test func `told to end while it starts, it ends at once with all it began, and the next start finds no trace`()
        async throws
    {
        try await TestInstallation.use { installation in
            func launch(_ data: String) throws -> RunningProgram {
                try installation.launch(
                    TestInstallation.program,
                    ["run", "--data-dir", data] + TestInstallation.freePorts
                )
            }
            // What is waited for: a file, or the word that a database is being made.
            let made = "making a new database"
            let moments: [(mark: String?, delay: Int64)] = [
                (nil, 0), (nil, 30), ("/keys", 0), (made, 0), (made, 150), (made, 500), ("/pg/PG_VERSION", 0),
                ("/pg/postmaster.pid", 0), ("/pg/postmaster.pid", 20), ("/socket/.s.PGSQL.5432", 10),
            ]
            for (index, moment) in moments.enumerated() {
                // A folder of its own: what another left would belie the mark.
                let data = "\(installation.directory)/d\(index)"
                let program = try launch(data)
                let signal = index.isMultiple(of: 2) ? SIGTERM : SIGINT
                if moment.mark == made { try await program.says(made) }
                let file = moment.mark.flatMap { $0 == made ? nil : data + $0 }
                let status = try await self.end(program, signal, once: file, after: moment.delay)
                // Before its first instruction a process is ended by the signal itself.
                #expect(
                    status == 0 || (moment.mark == nil && status == 128 + signal),
                    "\(moment): \(status) \(program.text)"
                )
                #expect(!program.text.contains("walletorders: "), "\(moment): \(program.text)")
                #expect(try await installation.processes().isEmpty, "\(moment)")
                if ![3, 4, 6, 8].contains(index) { continue }
                let next = try launch(data)
                try await next.says("Create an order:")
                #expect(try await next.end(SIGTERM) == 0)
                #expect(!TestInstallation.exists(data + "/pg.new"))
            }
        }
    }

    @Test func `a database that says nothing holds up neither the end of serve nor that of a command`() async throws {
        try await TestInstallation.use { installation in
            let silence = try installation.launch("/usr/bin/python3", ["-c", PeerScripts.silence])
            try await silence.says("\n")
            let port = try silence.value(after: "port ", upTo: "\n")
            let database = [
                "--database=postgres://walletorders@127.0.0.1:\(port)/walletorders", "--data-dir", installation.data,
            ]
            try Files.createDirectory(installation.data + "/keys", mode: 0o700)
            let key = Array((String(repeating: "ab", count: 32) + "\n").utf8)
            try Files.write(key, to: installation.data + "/keys/token-1.key", mode: 0o600)
            for command in ["serve", "worker"] {
                let program = try installation.launch(
                    TestInstallation.program,
                    [command] + database + TestInstallation.freePorts.dropLast()
                )
                let status = try await self.end(program, SIGTERM, after: 700)
                #expect(status == 0, "\(program.text)")
            }
            for signal in [SIGTERM, SIGINT, SIGHUP] {
                let program = try installation.launch(TestInstallation.program, ["keys", "list"] + database)
                #expect(try await self.end(program, signal, after: 300) == 128 + signal)
            }
        }
    }

    @Test func `a demo cut short says so with exit 1, one that stays ends well`() async throws {
        try await TestInstallation.use { installation in
            func launch(_ more: [String]) throws -> RunningProgram {
                try installation.launch(
                    TestInstallation.program,
                    ["run", "--demo", "--data-dir", installation.data] + more
                )
            }
            let early = try launch([])
            #expect(try await self.end(early, SIGINT, once: installation.data + "/pg.new") == 1)
            #expect(early.text.contains("interrupted"))
            let midway = try launch([])
            try await midway.says("\n  3 ")
            #expect(try await self.end(midway, SIGINT) == 1)
            #expect(midway.text.contains("interrupted"))
            let staying = try launch(["--stay"])
            try await staying.says("Create an order:")
            #expect(try await self.end(staying, SIGTERM) == 0)
            #expect(try await installation.processes().isEmpty)
        }
    }

    @Test func `a second run on the same data is told who has it, not to take other addresses`() async throws {
        try await TestInstallation.use { installation in
            let port = try await installation.freePort()
            let listen =
                TestInstallation.freePorts.filter { !$0.hasPrefix("--merchant") }
                + ["--merchant-listen", "127.0.0.1:\(port)"]
            let program = try await installation.start(listen)
            let second = try await installation.run(["run"] + listen)
            #expect(second.status == 78, "\(second.text)")
            #expect(second.errorText.contains("uses \(installation.data)"), "\(second.errorText)")
            #expect(!second.errorText.contains("--merchant-listen"), "\(second.errorText)")
            // With data of its own it is the address that is wrong.
            let other = installation.directory + "/other"
            let third = try await ChildProcess.run(TestInstallation.program, ["run", "--data-dir", other] + listen)
            #expect(third.status == 78 && third.errorText.contains("--merchant-listen"), "\(third.errorText)")
            #expect(try await program.end(SIGTERM) == 0)
        }
    }

    @Test func `the line that run prints creates an order when it is pasted into a shell`() async throws {
        try await TestInstallation.use { installation in
            for listen in ["127.0.0.1:0", "unix:\(installation.directory)/it's here.sock"] {
                let program = try await installation.start(
                    TestInstallation.freePorts.filter { !$0.hasPrefix("--merchant") } + ["--merchant-listen", listen]
                )
                try await program.says("\n\ncurl ")
                try await program.says("}'\n")
                let line = "curl " + (try program.value(after: "\n\ncurl ", upTo: "\n"))
                let result = try await ChildProcess.run(
                    "/bin/bash",
                    ["-c", "cd \"$0\" && \(line) -w ' %{http_code}'", installation.directory]
                )
                #expect(
                    result.status == 0 && result.text.hasSuffix(" 201"),
                    "\(line) \(result.text)\(result.errorText)"
                )
                // The README's next line reads it.
                #expect(Files.exists(installation.directory + "/answer.json"))
                #expect(try await program.end(SIGTERM) == 0)
            }
        }
    }

    @Test func `run refuses a pki folder that it can't read, with the folder and what to do`() async throws {
        try await TestInstallation.use { installation in
            #expect(try await installation.start().end(SIGTERM) == 0)
            let pki = installation.data + "/pki"
            for name in ["root", "intermediate"] {
                for kind in ["key", "pem"] {
                    let whole = try Files.read("\(pki)/\(name).\(kind)")
                    for other in [Array("nonsense".utf8), try Files.read("\(pki)/server.\(kind)")] {
                        try Files.write(other, to: "\(pki)/\(name).\(kind)", mode: 0o600)
                        let result = try await installation.run(["run"] + TestInstallation.freePorts)
                        #expect(result.status == 78, "\(result.errorText)")
                        #expect(result.errorText.contains("\(pki)/\(name)."), "\(result.errorText)")
                        #expect(result.errorText.contains("remove the folder"))
                    }
                    try Files.write(whole, to: "\(pki)/\(name).\(kind)", mode: 0o600)
                }
            }
        }
    }

    @Test func `what root and intermediate can issue anew is issued anew, whichever of its files is damaged`()
        async throws
    {
        try await TestInstallation.use { installation in
            #expect(try await installation.start().end(SIGTERM) == 0)
            let pki = installation.data + "/pki"
            let root = try Files.read(pki + "/root.pem")
            let type = try TestAuthority.read(from: pki).identity.orderTypeIdentifier
            for (name, other) in [("identity", "intermediate"), ("server", "root")] {
                for kind in ["key", "pem"] {
                    let file = "\(pki)/\(name).\(kind)"
                    let damages: [[UInt8]?] = [Array("nonsense".utf8), try Files.read("\(pki)/\(other).\(kind)"), nil]
                    for bytes in damages {
                        if let bytes {
                            try Files.write(bytes, to: file, mode: 0o600)
                        } else {
                            try Files.removeTree(file)
                        }
                        let program = try await installation.start()
                        #expect(
                            program.text.contains("issued anew for \(type.text), by the same root: \(pki)/\(name)."),
                            "\(program.text)"
                        )
                        #expect(try await program.end(SIGTERM) == 0)
                        #expect(try Files.read(pki + "/root.pem") == root)
                        #expect(try TestAuthority.read(from: pki).identity.orderTypeIdentifier == type)
                    }
                }
            }
        }
    }

    @Test func `where the old certificate can't be read any more the default type takes its place, which is told`()
        async throws
    {
        try await TestInstallation.use { installation in
            let pki = installation.data + "/pki"
            try Files.createDirectory(installation.data, mode: 0o700)
            try TestAuthority.make(orderType: try OrderTypeIdentifier("order.com.example.own")).write(to: pki)
            try Files.removeTree(pki + "/identity.key")
            let kept = try await installation.start()
            #expect(kept.text.contains("issued anew for order.com.example.own, by"), "\(kept.text)")
            #expect(try await kept.end(SIGTERM) == 0)
            try Files.write([], to: pki + "/identity.pem")
            let lost = try await installation.start()
            #expect(lost.text.contains("issued anew for order.com.example.shop, by"), "\(lost.text)")
            #expect(try await lost.end(SIGTERM) == 0)
        }
    }

    @Test func `private keys that a killed start left half written are taken away by the next`() async throws {
        try await TestInstallation.use { installation in
            let identifier = SecureRandom.uuid()
            func make(_ name: String, _ files: [String], mode: UInt32 = 0o700) throws -> String {
                let folder = "\(installation.data)/\(name)"
                try Files.createDirectory(folder, mode: mode)
                for file in files { try Files.write(Array("key".utf8), to: "\(folder)/\(file)", mode: 0o600) }
                return folder
            }
            // 4194304 is beyond the largest process identifier that Linux gives out.
            let dead = [
                try make("pki.4194304.\(identifier).tmp", ["root.key", "root.pem", "identity.p12.7.9.tmp"]),
                try make("pki.4194303.\(identifier).tmp", []),
            ]
            let held = try make("pki.4194302.\(identifier).tmp", ["root.key"])
            let others = [
                held, try make("pki.\(getpid()).\(identifier).tmp", ["root.key"]),
                try make("pki.20261129.tmp", ["root.key"]), try make("pki.4194304.0000.tmp", ["root.key"]),
                try make("pki.4194304.\(identifier).old.tmp", ["root.key"]),
                try make("pki.04194304.\(identifier).tmp", ["root.key"]),
                try make("pki.4194301.\(identifier).tmp", ["root.key", "notes.txt"]),
                try make("pki.4194300.\(identifier).tmp", ["root.key"], mode: 0o755),
                try make("pkiX4194304.\(identifier).tmp", ["root.key"]),
            ]
            let descriptor = unsafe open(held, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            defer { close(descriptor) }
            #expect(try await installation.start().end(SIGTERM) == 0)
            #expect(dead.allSatisfy { !Files.exists($0) })
            for folder in others { #expect(Files.exists(folder + "/root.key"), "\(folder)") }
        }
    }

    @Test func `run issues test certificates that have ended anew, for the root that is trusted already`() async throws
    {
        try await TestInstallation.use { installation in
            let pki = installation.data + "/pki"
            let now = WallTime.now().seconds
            try Files.createDirectory(installation.data, mode: 0o711)
            try TestAuthority.make(
                orderType: try OrderTypeIdentifier("order.com.example.shop"),
                now: now - 400 * 86_400
            ).write(to: pki)
            let root = try Files.read(pki + "/root.pem")
            let program = try await installation.start()
            let admin = try program.value(after: "admin      ", upTo: "\n")
            let ready = try await ChildProcess.run("/usr/bin/curl", ["-sS", "-f", admin])
            #expect(ready.text.contains("\"degraded\":[]"), "\(ready.text)")
            #expect(try await program.end(SIGTERM) == 0)
            #expect(try Files.read(pki + "/root.pem") == root)
            let renewed = try TestAuthority.read(from: pki)
            #expect(renewed.identity.chainNotAfter > now + 300 * 86_400)
            #expect(renewed.server.certificate.notAfter > now + 300 * 86_400)
        }
    }
}
