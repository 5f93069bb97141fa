// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@Suite("Configuration and command line")
struct ConfigurationTests {
    static let settings = [
        Setting("dataDir", default: "/var/lib/x", "where"),
        Setting("device.listen", default: "127.0.0.1:8080", "public"),
        Setting("database", secret: true, "URL"),
        Setting("orderTypes.*.identity", "file"),
        Setting("orderTypes.*.apns.host", default: "api.push.apple.com", "host"),
        Setting("loops", default: "2", "threads"),
    ]

    @Test("flags win over environment, environment over file, file over defaults")
    func precedence() throws {
        let configuration = Configuration(
            settings: Self.settings,
            flags: ["data-dir": "/flag", "json": ""],
            environment: [
                "WALLETORDERS_DATA_DIR": "/environment", "WALLETORDERS_DEVICE_LISTEN": "environment", "PATH": "/bin",
            ],
            file: [
                ("dataDir", "/file"), ("device.listen", "file"), ("loops", "4"),
                ("orderTypes.order.com.example.shop.identity", "a.p12"),
            ]
        )
        #expect(configuration.text("dataDir") == "/flag")
        #expect(configuration.text("device.listen") == "environment")
        #expect(configuration.text("loops") == "4")
        #expect(configuration.text("database") == nil)
        #expect(configuration.names(under: "orderTypes.", settings: Self.settings) == ["order.com.example.shop"])
        #expect(configuration.entries["loops"]?.source == .file)
        try configuration.check()
    }

    @Test("all faults are told at once, with what was meant")
    func faults() {
        var configuration = Configuration(
            settings: Self.settings,
            flags: [:],
            environment: ["WALLETORDERS_DATADIR": "x", "WALLETORDERS_DATABASE": "postgres://u:secret@h/d"],
            file: [("device.listne", "x"), ("loops", "many")]
        )
        #expect(configuration.integer("loops", 1...64) == 1)
        let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
        #expect(
            error?.faults == [
                "unknown key device.listne in the file; did you mean device.listen?",
                "unknown variable WALLETORDERS_DATADIR; did you mean WALLETORDERS_DATA_DIR?",
                "loops (file): must be a whole number from 1 to 64, not \"many\"",
            ]
        )
        #expect(configuration.entries["database"]?.shown == "<redacted>")
    }

    @Test(
        "a misspelt key of something that the operator named is told with that name",
        arguments: [
            ("orderTypes.order.com.example.shop.identiy", "orderTypes.order.com.example.shop.identity"),
            ("orderTypes.order.com.example.shop.apns.hots", "orderTypes.order.com.example.shop.apns.host"),
            ("orderTypes.a.apsn.host", "orderTypes.a.apns.host"),
            ("orderType.order.com.example.shop.identity", "orderTypes.order.com.example.shop.identity"),
            ("orderTypes.order.com.example.shop.colour", nil), ("orderTypes.identity", nil), ("orderTypes", nil),
            ("something.order.com.example.shop.identity", nil), ("databse", "database"),
        ]
    )
    func namedKeys(_ key: String, _ meant: String?) {
        let configuration = Configuration(settings: Self.settings, flags: [:], environment: [:], file: [(key, "x")])
        let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
        #expect(error?.faults == ["unknown key \(key) in the file" + (meant.map { "; did you mean \($0)?" } ?? "")])
    }

    @Test("an empty value is a fault, but for a variable, which is unset that way; no hint is better than a far one")
    func emptyValues() {
        let configuration = Configuration(
            settings: Self.settings,
            flags: ["data-dir": ""],
            environment: ["WALLETORDERS_DATABASE": "", "WALLETORDERS_XYZ": "1"],
            file: [("device.listen", "")]
        )
        #expect(configuration.text("database") == nil)
        let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
        #expect(
            error?.faults == [
                "device.listen (file): is empty; leave it out for the default", "unknown variable WALLETORDERS_XYZ",
                "dataDir (flag): is empty; leave it out for the default",
            ]
        )
    }

    @Test(
        "durations have a unit",
        arguments: [("500ms", 0.5), ("30s", 30), ("5m", 300), ("72h", 259_200), ("30d", 2_592_000)]
    )
    func durations(text: String, seconds: Double) throws {
        var configuration = Configuration(
            settings: [Setting("a", default: text, "")],
            flags: [:],
            environment: [:],
            file: []
        )
        #expect(configuration.duration("a").inSeconds == seconds)
        try configuration.check()
    }

    static let command = CommandDescription(
        "walletorders run",
        "Runs.",
        options: [
            CommandLineOption("data-dir", value: "DIR", "where"), CommandLineOption("demo", "play"),
            CommandLineOption("output", value: "FILE", short: "o", "file"),
            CommandLineOption("trust", value: "FILE", repeatable: true, "roots"),
        ],
        operands: "FILE…"
    )

    @Test("options, switches and operands are told apart")
    func parsing() throws {
        let arguments = try Self.command.parse(["a", "--data-dir=/x=y", "--demo", "-o", "-", "--", "--demo", "-"])
        #expect(arguments["data-dir"] == "/x=y")
        #expect(arguments.has("demo"))
        #expect(arguments["output"] == "-")
        #expect(arguments.operands == ["a", "--demo", "-"])
        let several = try Self.command.parse(["--trust", "a", "--demo", "--trust=b", "--demo"])
        #expect(several.all("trust") == ["a", "b"] && several.has("demo"))
    }

    @Test(
        "a wrong call is told what would be right",
        arguments: [
            (["--data-dri", "x"], "unknown option --data-dri; did you mean --data-dir?"),
            (["--data-dir"], "--data-dir needs a value: --data-dir DIR"),
            (["--data-dir", "--demo"], "--data-dir needs a value: --data-dir DIR"),
            (["--demo=yes"], "--demo takes no value"),
            (["-o", "a", "--output=b"], "--output is there twice: give it once"),
            (["--zzz"], "unknown option --zzz; see walletorders run --help"),
        ]
    )
    func usage(arguments: [String], message: String) {
        #expect(throws: UsageError(message)) { try Self.command.parse(arguments) }
    }

    @Test(
        "a key's words make its flag and its variable",
        arguments: [
            ("dataDir", "data-dir", "WALLETORDERS_DATA_DIR"),
            ("webServiceURL", "web-service-url", "WALLETORDERS_WEB_SERVICE_URL"),
            ("device.listen", "device-listen", "WALLETORDERS_DEVICE_LISTEN"),
            ("apnsSimulator.listen", "apns-simulator-listen", "WALLETORDERS_APNS_SIMULATOR_LISTEN"),
        ]
    )
    func names(key: String, flag: String, variable: String) {
        let setting = Setting(key, "")
        #expect(setting.flag == flag)
        #expect(setting.variable == variable)
    }
}
