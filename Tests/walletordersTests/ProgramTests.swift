// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

/// A data directory of a test and the program that works in it. Paths are short: a socket's may have 107 bytes.
struct TestInstallation: Sendable {
    let directory: String
    /// What was started in it.
    let programs = Locked<[RunningProgram]>([])
    static let program =
        ProcessEnvironment.executable.map { $0.prefix { _ in true } }.map { path in
            path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/walletorders"
        } ?? "walletorders"

    init() throws {
        self.directory = "/tmp/wo-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try Files.createDirectory(self.directory, mode: 0o711)
    }

    /// Free ports for all listeners.
    static let freePorts = ["device-listen", "merchant-listen", "admin-listen", "apns-simulator-listen"].map {
        "--\($0)=127.0.0.1:0"
    }

    func run(_ arguments: [String], environment: [String: String]? = nil) async throws -> ChildProcess.Result {
        try await ChildProcess.run(
            Self.program,
            arguments + ["--data-dir", self.directory + "/d"],
            environment: environment
        )
    }

    func remove() throws { try Files.removeTree(self.directory) }
}

@Suite("The program")
struct ProgramTests {
    @Test("the demo holds at every step, and its packages satisfy openssl, unzip and Python")
    func demo() async throws {
        let installation = try TestInstallation()
        let result = try await installation.run(["run", "--demo"])
        try #require(result.status == 0, "\(result.text)\(result.errorText)")
        for step in 1...9 { #expect(result.text.components(of: "\n  \(step) ") == 3, "step \(step) twice") }
        #expect(!result.text.contains("✗"))
        #expect(result.text.contains("shows parcel-1's status, parcel-2's status;"), "\(result.text)")
        let data = installation.directory + "/d"
        let packages = try Files.list(data + "/demo").filter { $0.hasSuffix(".order") }
        #expect(packages.count == 4)
        for package in packages {
            let check = try await ChildProcess.run(
                "/bin/sh",
                [
                    "-ec",
                    """
                    mkdir "$1/x-$2" && cd "$1/x-$2"
                    unzip -q "$1/d/demo/$2" && unzip -tqq "$1/d/demo/$2"
                    openssl cms -verify -binary -inform DER -in signature -content manifest.json \
                        -CAfile "$1/d/pki/root.pem" -purpose any -out /dev/null
                    python3 - "$1/d/demo/$2" <<'END'
                    import hashlib, json, sys, zipfile
                    package = zipfile.ZipFile(sys.argv[1])
                    assert package.testzip() is None
                    manifest = json.loads(package.read("manifest.json"))
                    names = set(package.namelist())
                    assert set(manifest) == names - {"manifest.json", "signature"}, names
                    for name, digest in manifest.items():
                        assert hashlib.sha256(package.read(name)).hexdigest() == digest, name
                    END
                    """, "check", installation.directory, package,
                ]
            )
            #expect(check.status == 0, "\(package): \(check.errorText)")
        }
        // The second run finds everything in place.
        let again = try await installation.run(["run", "--demo"])
        #expect(again.status == 0, "\(again.text)\(again.errorText)")
        try installation.remove()
    }

    @Test func `the demo holds in a data directory in use: with texts of the whole type, and a push that nobody sends`()
        async throws
    {
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let used = try await ChildProcess.run(
                "/usr/bin/psql",
                [
                    "-h", installation.data + "/socket", "-U", "walletorders", "-qc",
                    """
                    insert into type_strings (order_type, locale, strings) values
                        ('order.com.example.shop', 'de', '{"Example Shop":"Beispiel","Bakery":"Brot"}'),
                        ('order.com.example.shop', 'fr', '{"Bakery":"Boulangerie"}');
                    insert into order_types (order_type) values ('order.com.example.gone');
                    insert into devices (order_type, device_identifier, push_token, mark, due_at)
                        values ('order.com.example.gone', 'd', '01', 1, now());
                    """,
                ]
            )
            #expect(used.status == 0, "\(used.errorText)")
            #expect(try await program.end(SIGTERM) == 0)
            let result = try await installation.run(["run", "--demo"])
            #expect(result.status == 0, "\(result.text)\(result.errorText)")
            #expect(result.text.contains("every step held"))
        }
    }

    @Test func `the demo names a configured database, and refuses order types before anything is started`()
        async throws
    {
        try await TestInstallation.use { installation in
            let types = installation.directory + "/types.json"
            let text = """
                {"orderTypes": {"order.com.example.own": {"identity": "/none", "webServiceURL": "https://w.example.com/"}}}
                """
            try Files.write(Array(text.utf8), to: types)
            let taken = try await installation.run(["run", "--demo", "--config", types])
            #expect(taken.status == 78 && taken.text.isEmpty, "\(taken.text)")
            #expect(taken.errorText.contains("leave orderTypes out"), "\(taken.errorText)")
            #expect(!Files.exists(installation.data + "/pg"))

            let database = try await installation.startDatabase()
            func run(_ words: String...) async throws -> ChildProcess.Result {
                let settings = ["--database", database, "--data-dir", installation.directory + "/own"]
                return try await ChildProcess.run(TestInstallation.program, words + settings)
            }
            let played = try await run("run", "--demo")
            #expect(played.status == 0, "\(played.text)\(played.errorText)")
            #expect(played.text.contains("\nThe two orders go into the configured database, and stay there.\n"))
            let listed = try await run("orders", "list", "order.com.example.shop")
            #expect(listed.text.split(separator: "\n").count == 2, "\(listed.text)\(listed.errorText)")
        }
    }

    @Test("a demo step that fails says what was expected and what came; all that was started ends cleanly")
    func failedStep() async throws {
        try await TestInstallation.use { installation in
            // The orders tell of an address where nobody answers.
            let port = try await installation.freePort()
            let result = try await installation.run(["run", "--demo", "--web-service-url", "https://127.0.0.1:\(port)"])
            #expect(result.status == 1)
            #expect(result.text.contains("      ✗ ") && !result.text.contains("\n  4 "), "\(result.text)")
            let lines = result.errorText.split(separator: "\n")
            #expect(lines.count == 1, "\(result.errorText)")
            #expect(
                result.errorText.hasPrefix("walletorders: step 3 of \"A shipping order with two parcels\" failed: ")
            )
            #expect(result.errorText.contains("expected an answer, got: "), "\(result.errorText)")
            #expect(try await installation.processes().isEmpty)
            #expect(try await installation.clusterState().hasSuffix(" shut down"))
        }
    }

    @Test(
        "a wrong call exits 64 and says what would be right",
        arguments: [
            ([], ""), (["rnu"], "did you mean run?"), (["keys"], "keys create"),
            (["run", "--stya"], "did you mean --stay?"),
            (["package", "build", "x"], "--identity"), (["order", "validate"], "standard input"),
        ]
    )
    func usage(arguments: [String], message: String) async throws {
        let result = try await ChildProcess.run(TestInstallation.program, arguments)
        #expect(result.status == 64)
        #expect(result.errorText.contains(message))
    }

    @Test("settings that can't be are told all at once, with exit 78")
    func configurationFaults() async throws {
        let result = try await ChildProcess.run(
            TestInstallation.program,
            ["config", "validate", "--device-listen", "nowhere", "--loops", "many"],
            environment: ["WALLETORDERS_MERCHANT_LISTNE": "x", "PATH": "/usr/bin"]
        )
        #expect(result.status == 78)
        for part in ["device.listen (flag)", "loops (flag)", "did you mean WALLETORDERS_MERCHANT_LISTEN?"] {
            #expect(result.errorText.contains(part))
        }
    }

    @Test("a data directory that can't be is told with exit 78")
    func dataDirectory() async throws {
        let file = try await ChildProcess.run(
            TestInstallation.program,
            ["run", "--data-dir", "/dev/null/x"] + TestInstallation.freePorts
        )
        #expect(file.status == 78)
        #expect(file.errorText.contains("--data-dir"))
        let long = "/tmp/wo-test-" + String(repeating: "x", count: 120)
        let tooLong = try await ChildProcess.run(
            TestInstallation.program,
            ["run", "--data-dir", long] + TestInstallation.freePorts
        )
        #expect(tooLong.status == 78)
        #expect(tooLong.errorText.contains("107"))
        try Files.removeTree(long)
    }
}

extension String {
    /// How many pieces a separator makes of the text.
    fileprivate func components(of separator: String) -> Int {
        var count = 1
        var rest = self[...]
        while let found = rest.range(of: separator) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<Substring.Index>? {
        let pattern = Array(text.utf8)
        var start = self.utf8.startIndex
        while start < self.utf8.endIndex {
            let rest = self.utf8[start...]
            if rest.starts(with: pattern) {
                return start..<self.utf8.index(start, offsetBy: pattern.count)
            }
            start = self.utf8.index(after: start)
        }
        return nil
    }
}
