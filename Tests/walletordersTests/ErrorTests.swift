// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

/// Wrong calls, each with its exit code and what it says. Whoever reads it must know what is wrong, where, and what to do.
@Suite("Errors of the program")
struct ErrorTests {
    /// One wrong call: `DIR` in it stands for the test's folder.
    struct Call: Sendable, CustomTestStringConvertible {
        let words: String
        let status: Int32
        let says: [String]
        var environment: [String: String] = [:]
        var testDescription: String { self.words }

        init(_ words: String, _ status: Int32, _ says: String..., environment: [String: String] = [:]) {
            self.words = words
            self.status = status
            self.says = says
            self.environment = environment
        }
    }

    private static let secret = "Hush4711"
    private static let dead = "postgres://walletorders:\(secret)@127.0.0.1:1/walletorders"

    static let calls: [Call] = [
        // The configuration file.
        Call("config validate --config DIR/none.json", 66, "DIR/none.json", "WALLETORDERS_CONFIG"),
        Call("config validate --config DIR", 66, "directory"),
        Call("config validate --config DIR/broken.json", 78, "DIR/broken.json: line 2, column 1"),
        Call("config validate --config DIR/array.json", 78, "must be a JSON object"),
        Call("config validate --config DIR/list.json", 78, "loops: takes one value, not an array"),
        Call("config validate --config DIR/twice.json", 78, "\"loops\" occurs twice"),
        Call(
            "config validate --config DIR/types.json",
            78,
            "orderTypes.order.com.example.shop.webServiceURL (file): The web service URL is not https. Start it",
            "unknownFields (file): must be refuse, keep, not \"maybe\"",
            "apns.port (file): must be a whole number",
            "apns.pushType (file): must be background, alert, not \"loud\"",
            "apns.priority (file): must be 1, 5, 10, not \"7\"",
            "orderTypes.order.com.example.other.apns.priority (file): must be 5 with the push type background",
            "orderTypes.a b: "
        ),
        Call(
            "config validate --config DIR/bare.json",
            78,
            "orderTypes.order.com.example.a.identity: is missing",
            "orderTypes.order.com.example.b.identity: is missing"
        ),
        Call("run --data-dir DIR/a,b", 78, "dataDir (flag): holds a comma"),
        Call(
            "config validate --config DIR/identity.json",
            78,
            "orderTypes.order.com.example.shop: ",
            "DIR/broken.json"
        ),
        Call("config validate --config DIR/passphrase.json", 78, "DIR/none.txt"),
        Call(
            "config validate --config DIR/identity.json --device-certificate DIR/none.pem --device-key DIR/none.key",
            78,
            "device.certificate: ",
            "DIR/none.pem",
            "DIR/broken.json"
        ),
        Call("config validate", 78, "unknown variable WALLETORDERS_XYZ", environment: ["WALLETORDERS_XYZ": "1"]),
        Call("config validate", 78, "loops (environment)", environment: ["WALLETORDERS_LOOPS": "many"]),
        // All faults at once: in the file's form, its values, and the files that they name.
        Call(
            "config validate --config DIR/mix.json",
            78,
            "DIR/mix.json: loops: takes one value, not an array",
            "unknown key drein in the file; did you mean drain?",
            "device.listen: is given twice",
            "merchant.listen (file): a b is no address to listen on",
            "admin.listen (file): somewhere is no address to listen on",
            "orderTypes.order.com.example.shop: ",
            "DIR/broken.json",
            "device.certificate: ",
            "DIR/none.pem",
            "orderTypes.order.com.example.other.apns.host (file): must be a host name or address",
            "not \"https://api.push.apple.com/\""
        ),
        Call(
            "config validate --config DIR/phantom.json",
            78,
            "unknown key orderTypes.order.com.example.shop.apns.identity; did you mean "
                + "orderTypes.order.com.example.shop.identity?",
            "unknown key orderTypes.order.com.example.shop.apns.webServiceURL",
            "orderTypes.order.com.example.shop.identity: is missing"
        ),
        Call("config validate --device-listen unix:/\(String(repeating: "x", count: 108))", 78, "1 to 107 bytes"),
        // A password that was not encoded ends the user part before its end.
        Call("doctor --offline --database postgres://u:p@\(secret)@127.0.0.1/d", 1),
        Call("keys list --database postgres://u:p@\(secret)@127.0.0.1/d", 78, "database (flag): ", "%40"),
        Call("keys list --database postgres://u:12/\(secret)@127.0.0.1/d", 78, "database (flag): ", "%2F"),
        Call("serve --database postgres://u@\(secret)%40x/d", 78, "database (flag): a host holds"),
        // Values.
        Call("config validate --loops 1.5", 78, "loops (flag): must be a whole number from 0 to 256, not \"1.5\""),
        Call(
            "config validate --merchant-requests-per-key -1 --device-requests-per-address many",
            78,
            "merchant.requestsPerKey (flag): must be a whole number from 0 to 60000000, not \"-1\"",
            "device.requestsPerAddress (flag): must be a whole number from 0 to 60000000, not \"many\""
        ),
        Call(
            "config validate",
            78,
            "merchant.failuresPerAddress (environment): must be",
            environment: [
                "WALLETORDERS_MERCHANT_FAILURES_PER_ADDRESS": "1.5"
            ]
        ),
        Call(
            "config validate --config DIR/mix.json --device-requests-per-device 1e3",
            78,
            "device.requestsPerDevice (flag)"
        ),
        Call("config validate --drain soon", 78, "drain (flag): must be a duration such as 500ms"),
        Call("config validate --data-dir=", 78, "dataDir (flag): is empty"),
        Call("config validate --device-listen 127.0.0.1", 78, "HOST:PORT"),
        Call("config validate --web-service-url https://", 78, "webServiceURL (flag): The URL names no host"),
        Call("config validate --web-service-url https://:443/w", 78, "webServiceURL (flag): The URL names no host"),
        Call("config validate --web-service-url wallet.example.com", 78, "webServiceURL (flag): ", "https://"),
        Call("config validate --web-service-url https://w.example.com/?a=b", 78, "has a query or fragment"),
        Call("config validate --web-service-url https://w.example.com/#a", 78, "has a query or fragment"),
        Call("config validate --web-service-url https://w.example.com/v1/", 78, "Leave /v1 out"),
        Call("config validate --web-service-url https://w.example.com/a/../b", 78, "The path has a dot segment"),
        Call("config validate --web-service-url https://w.example.com/%2E/b", 78, "The path has a dot segment"),
        Call("config validate --web-service-url https://w.example.com/%FF", 78, "the bytes are not UTF-8"),
        Call("config validate --device-certificate x.pem", 78, "device.certificate and device.key go together"),
        // The database.
        Call("keys list --database nonsense", 78, "database (flag): the database settings can't be read"),
        Call("keys list --database postgres://u:\(secret)@127.0.0.1:x/d", 78, "a port is a number"),
        Call(
            "config validate --database postgres://u:\(secret)@127.0.0.1:x/d --loops 1.5",
            78,
            "database (flag): a port is a number",
            "loops (flag)"
        ),
        Call("keys list --database \(dead)", 69, "127.0.0.1:1", "refused", "walletorders doctor"),
        Call("migrate --database \(dead)", 69, "127.0.0.1:1"),
        Call("keys list", 78, "no database", "--database", "--data-dir"),
        Call("serve", 78, "no database", "walletorders run"),
        // Addresses.
        Call(
            "run --merchant-listen 192.0.2.1:0",
            78,
            "192.0.2.1:0 is not an address of this machine",
            "merchant.listen"
        ),
        Call("run --apns-simulator-listen unix:/tmp/x.sock", 78, "apnsSimulator.listen (flag): must be HOST:PORT"),
        Call("run --admin-listen unix:/nowhere/x.sock", 78, "unix:/nowhere/x.sock", "admin.listen"),
        Call("run --device-listen somewhere:0", 78, "somewhere is no address to listen on", "device.listen"),
        Call(
            "run --device-certificate DIR/none.pem --device-key DIR/none.key",
            78,
            "device.certificate: ",
            "DIR/none.pem"
        ),
        // The call itself.
        Call("fly", 64, "unknown command fly", "--help"),
        Call("orders", 64, "say which: walletorders orders list, walletorders orders get"),
        Call("tickets frob", 64, "unknown command tickets frob; there are walletorders tickets list, wallet"),
        Call("serve --config", 64, "--config needs a value: --config FILE"),
        Call("serve --config --log-level=info", 64, "--config needs a value"),
        Call("serve --confg x", 64, "did you mean --config?"),
        Call("serve now", 64, "takes no operand, but got \"now\""),
        Call(
            "keys create --name a --expires-in soon",
            64,
            "--expires-in is a number of days from 1 to 36500, not soon"
        ),
        Call("keys create --name a --scope all", 64, "orders:read, orders:write or admin, not all"),
        Call("keys create", 64, "--name"),
        Call("keys create --name=", 64, "--name says what the key is for"),
        Call("keys create --name \(String(repeating: "n", count: 201))", 64, "--name has at most 200 bytes, not 201"),
        Call("keys create --name a --name b", 64, "--name is there twice: give it once"),
        Call("orders list --database postgres://u@127.0.0.1:1/d", 64, "say which order type, as the first operand, or"),
        Call("orders erase A-1", 64, "--yes"),
        Call("orders list --status bogus", 64, "--status is one of open, completed, cancelled, not bogus"),
        Call("orders list --fulfillment-status bogus", 64, "--fulfillment-status is one of", "shipped"),
        Call("orders list --limit 0", 64, "--limit is a whole number from 1 to 1000"),
        // Files.
        Call("testpki /proc/none", 66, "/proc/none"),
        Call("package verify DIR/none", 66, "DIR/none"),
        Call("package inspect DIR/none.order", 66, "DIR/none.order"),
        Call("package build DIR/none --identity DIR/none.p12 -o DIR/out.order", 66, "DIR/none"),
        Call("order validate DIR/none.json", 66, "DIR/none.json"),
    ]

    @Test(arguments: calls)
    func `a wrong call says what, where and what to do, with its exit code`(_ call: Call) async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let type = "\"webServiceURL\": \"https://w.example.com/\""
            for (name, text) in [
                ("broken.json", "{\n"), ("array.json", "[]"), ("list.json", "{\"loops\": [1]}"),
                ("twice.json", "{\"loops\": 1, \"loops\": 2}"),
                (
                    "types.json",
                    """
                    {"orderTypes": {"a b": {"identity": "x"}, "order.com.example.shop": {"identity": "x",
                     "webServiceURL": "http://w.example.com", "unknownFields": "maybe",
                     "apns": {"port": 99999, "pushType": "loud", "priority": 7}}, "order.com.example.other": {
                     "identity": "x", "webServiceURL": "https://w.example.com", "apns": {"priority": 10}}}}
                    """
                ),
                (
                    "mix.json",
                    """
                    {"loops": [1], "drein": "5s", "device.listen": "127.0.0.1:0", "device": {"listen": "127.0.0.1:0",
                     "certificate": "\(folder)/none.pem", "key": "\(folder)/none.key"}, "merchant": {"listen": "a b:80"},
                     "admin": {"listen": "somewhere:0"}, "orderTypes": {"order.com.example.shop": {
                     "identity": "\(folder)/broken.json", \(type)}, "order.com.example.other": {
                     "identity": "\(folder)/broken.json", \(type), "apns": {"host": "https://api.push.apple.com/"}}}}
                    """
                ),
                (
                    "phantom.json",
                    """
                    {"webServiceURL": "https://w.example.com/", "orderTypes": {"order.com.example.shop": {
                     "apns": {"identity": "\(folder)/broken.json", "webServiceURL": "https://w.example.com/"}}}}
                    """
                ),
                ("bare.json", #"{"orderTypes": {"order.com.example.a": {}, "order.com.example.b": null}}"#),
                (
                    "identity.json",
                    "{\"orderTypes\": {\"order.com.example.shop\": {\"identity\": \"\(folder)/broken.json\", \(type)}}}"
                ),
                (
                    "passphrase.json",
                    "{\"orderTypes\": {\"order.com.example.shop\": {\"identity\": \"\(folder)/broken.json\", "
                        + "\"passphraseFile\": \"\(folder)/none.txt\", \(type)}}}"
                ),
            ] { try Files.write(Array(text.utf8), to: folder + "/" + name) }
            var words = call.words.split(separator: " ").map { String($0.replacing("DIR", with: folder)) }
            let takesSettings = ["run", "serve", "keys", "orders", "config", "migrate"].contains(words[0])
            if takesSettings, words.count > 1 || call.status == 78,
                !words.contains(where: { $0.hasPrefix("--data-dir") })
            {
                words.insert(
                    "--data-dir=\(installation.data)",
                    at: ["keys", "config", "orders"].contains(words[0]) ? 2 : 1
                )
            }
            // The default ports may be somebody's.
            for option in words[0] == "run" ? TestInstallation.freePorts : []
            where !words.contains(where: { option.hasPrefix($0 + "=") }) { words.append(option) }
            let result = try await ChildProcess.run(
                TestInstallation.program,
                words,
                environment: call.environment.merging(["PATH": "/usr/bin:/bin"]) { given, _ in given }
            )
            #expect(result.status == call.status, "\(result.text)\(result.errorText)")
            for text in call.says {
                let text = text.replacing("DIR", with: folder)
                #expect(result.errorText.contains(text), "'\(text)' is not in: \(result.errorText)")
            }
            #expect(!result.errorText.contains(Self.secret) && !result.text.contains(Self.secret))
            // Types of the program are nobody's words.
            for word in ["Error(", "Optional(", "CommandFailure", "Swift."] {
                #expect(!result.errorText.contains(word), "\(result.errorText)")
            }
            #expect(!Files.exists(installation.data + "/pg"))
        }
    }

    @Test func `each command tells its version, and validation speaks JSON`() async throws {
        try await TestInstallation.use { installation in
            let program = TestInstallation.program
            let version = try await ChildProcess.run(program, ["--version"]).text
            for words in [
                ["orders", "list", "--version"], ["run", "--version"], ["config", "validate", "--version"],
            ] {
                let result = try await ChildProcess.run(program, words)
                #expect(result.status == 0 && result.text == version, "\(words) \(result.errorText)")
            }
            let folder = installation.directory
            try Files.write(
                Array(#"{"orderTypes": {"order.com.example.a": {}}, "loops": 1.5}"#.utf8),
                to: folder + "/a.json"
            )
            let words = ["config", "validate", "--json", "--data-dir=\(installation.data)"]
            let valid = try await ChildProcess.run(program, words)
            #expect(valid.status == 0, "\(valid.errorText)")
            #expect(valid.text == "{\"valid\":true,\"faults\":[],\"orderTypes\":0}\n", "\(valid.text)")
            let faulty = try await ChildProcess.run(program, words + ["--config", folder + "/a.json"])
            #expect(faulty.status == 78)
            #expect(
                faulty.text.hasPrefix("{\"valid\":false,\"faults\":[\"") && faulty.text.contains("identity: is missing")
            )
            #expect(faulty.text.contains("loops (file)"))
            #expect(faulty.errorText.isEmpty)
        }
    }

    @Test func `words that several commands begin with tell of these`() async throws {
        for word in ["orders", "keys", "tickets", "config", "package", "order", "identity"] {
            for flag in ["--help", "-h"] {
                let told = try await ChildProcess.run(TestInstallation.program, [word, flag])
                #expect(told.status == 0 && told.errorText.isEmpty, "\(told.errorText)")
                #expect(told.text.hasPrefix("Usage: walletorders \(word) COMMAND"), "\(told.text)")
                #expect(told.text.contains("\n  \(word) "), "\(told.text)")
            }
        }
        let keys = try await ChildProcess.run(TestInstallation.program, ["keys", "--help"]).text
        for command in ["create", "list", "revoke"] { #expect(keys.contains("\n  keys \(command) "), "\(keys)") }
        #expect(!keys.contains("\n  orders "))
    }

    @Test func `output that nobody takes is a failure, and a closed descriptor is nobody's else`() async throws {
        try await TestInstallation.use { installation in
            let program = TestInstallation.program
            func shell(_ line: String) async throws -> ChildProcess.Result {
                try await ChildProcess.run("/bin/bash", ["-c", line, program, installation.directory])
            }
            let full = try await shell("\"$0\" --help >/dev/full")
            #expect(full.status == 69 && full.errorText.contains("No space left"))
            // As of any program that SIGPIPE ends.
            let gone = try await shell(
                "{ sleep 0.3; \"$0\" --help; echo $? >\"$1/status\"; } | true; cat \"$1/status\""
            )
            #expect(gone.text == "141\n" && gone.errorText.isEmpty)
            let noOutput = try await shell("\"$0\" --help >&-")
            #expect(noOutput.status == 69 && noOutput.errorText.contains("standard output"))
            let noInput = try await shell("\"$0\" order validate - <&-")
            #expect(noInput.status == 66 && noInput.errorText.contains("standard input"))
            #expect(try await shell("\"$0\" --version 2>&-").text.hasPrefix("walletorders "))
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `what a user may not read, write or listen on is told with its name`() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            func nobody(_ arguments: [String]) async throws -> ChildProcess.Result {
                try await ChildProcess.run(
                    "/usr/bin/setpriv",
                    [
                        "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--bounding-set=-all",
                        TestInstallation.program,
                    ]
                        + arguments
                )
            }
            try Files.write(Array("{}".utf8), to: folder + "/config.json", mode: 0o600)
            let unreadable = try await nobody(["config", "validate", "--config", folder + "/config.json"])
            #expect(unreadable.status == 66)
            #expect(unreadable.errorText.contains("\(folder)/config.json: Permission denied"))
            let readOnly = try await ChildProcess.run(
                TestInstallation.program,
                ["run", "--data-dir", "/proc/walletorders"] + TestInstallation.freePorts
            )
            #expect(readOnly.status == 78 && readOnly.errorText.contains("/proc/walletorders"))
            #expect(readOnly.errorText.contains("--data-dir"))
            let unwritable = try await nobody(["run", "--data-dir", folder + "/none"] + TestInstallation.freePorts)
            #expect(unwritable.status == 78 && unwritable.errorText.contains("Permission denied"))
        }
    }
}
