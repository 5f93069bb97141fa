// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import PostgreSQL

struct ConfigurationTests {
    typealias Host = PostgresConfiguration.Host

    @Test(
        "URL and keyword forms name the same hosts",
        arguments: [
            ("postgresql://app@db.example.com/orders", [Host(name: "db.example.com")]),
            ("postgres://app@db.example.com:6432/orders", [Host(name: "db.example.com", port: 6432)]),
            (
                "postgresql://app@a.example.com:1,b.example.com:2/orders",
                [Host(name: "a.example.com", port: 1), Host(name: "b.example.com", port: 2)]
            ),
            (
                "host=a.example.com,b.example.com port=7000 dbname=orders user=app",
                [Host(name: "a.example.com", port: 7000), Host(name: "b.example.com", port: 7000)]
            ),
            ("postgresql://app@%2Frun%2Fpg/orders", [Host(name: "/run/pg")]),
            ("host=/run/pg user=app dbname=orders", [Host(name: "/run/pg")]),
            ("hostaddr=192.0.2.1 user=app dbname=orders", [Host(name: "192.0.2.1")]),
            (
                "host=db.example.com hostaddr=192.0.2.1 user=app dbname=orders",
                [Host(name: "db.example.com", address: "192.0.2.1")]
            ),
            (
                "postgresql://app@a.example.com,b.example.com:7/orders?hostaddr=,2001:db8::1",
                [Host(name: "a.example.com"), Host(name: "b.example.com", port: 7, address: "2001:db8::1")]
            ),
            ("host=/run/pg hostaddr=192.0.2.1 user=app dbname=orders", [Host(name: "/run/pg", address: "192.0.2.1")]),
            ("postgresql://app@[2001:db8::1]/orders", [Host(name: "2001:db8::1")]),
            ("postgresql:///orders?user=app", [Host(name: "/var/run/postgresql")]),
        ]
    )
    func forms(_ text: String, _ hosts: [Host]) throws {
        let configuration = try PostgresConfiguration(url: text)
        #expect(configuration.hosts == hosts)
        #expect(configuration.user == "app")
        #expect(configuration.database == "orders")
    }

    @Test("Keywords that are not ours go on to libpq, the password stays out of sight")
    func keywords() throws {
        let configuration = try PostgresConfiguration(
            url:
                "postgresql://app:hush@db.example.com/orders?sslmode=verify-full&connect_timeout=3&options=-c%20work_mem%3D8MB"
        )
        #expect(configuration.keywords == ["sslmode": "verify-full"])
        #expect(configuration.connectTimeout == .seconds(3))
        #expect(configuration.password?.value == "hush")
        #expect(!"\(configuration)".contains("hush"))
        #expect(configuration.sessionOptions.hasSuffix("-c work_mem=8MB"))
    }

    @Test(
        "What can't be read is refused without being repeated",
        arguments: [
            "postgresql://app:hush@db.example.com:port/orders", "postgresql://app:hush@[::1/orders",
            "password=hush host",
            "nokeyword=hush", "postgresql://app:hush@a,b:1,c/orders?port=hush", "host=a port=99999 password=hush",
            "connect_timeout=hush", "service=hush", "postgresql:///orders?service=hush",
            "host=a.example.com,b.example.com hostaddr=192.0.2.1 password=hush",
            "host=a.example.com hostaddr=192.0.2.1,192.0.2.2 password=hush", "host=a hostaddr=hush.example.com",
            "postgresql://app:pa@hush@db.example.com/orders",
            "postgresql://app:pa/hush@db.example.com/orders", "postgresql://app:1/hush@db.example.com/orders",
            "postgresql://app:pa%hush@db.example.com/orders", "postgresql://app@hush:x@db.example.com/orders",
            "postgresql://hush%40db.example.com/orders", "postgresql://a%2Fhush/orders", "host=pa@hush user=app",
            "host='a hush' user=app", "postgresql://app:pa@@hush/orders",
        ]
    )
    func refused(_ text: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url: text) }
        #expect(error?.code == .configuration)
        #expect(error?.description.contains("hush") == false)
    }

    @Test("The session is set by the start-up packet, spaces escaped")
    func options() {
        var configuration = PostgresConfiguration(socketDirectory: "/run/pg", database: "orders", user: "app")
        configuration.statementTimeout = .milliseconds(1_500)
        configuration.schema = "one two"
        let options = configuration.sessionOptions
        for part in [
            "-c timezone=UTC", "-c plan_cache_mode=force_generic_plan", "-c statement_timeout=1500",
            "-c lock_timeout=2000",
            "-c max_parallel_workers_per_gather=0", "-c idle_in_transaction_session_timeout=10000",
            "-c synchronous_commit=on", "-c search_path=one\\ two",
        ] {
            #expect(options.contains(part))
        }
    }

    @Test("A name is looked up by us, a socket and an address are not")
    func endpoints() async {
        let (endpoints, unknown) = await Endpoint.all(of: [
            Host(name: "/run/pg"), Host(name: "127.0.0.1", port: 7), Host(name: "::1"), Host(name: "localhost"),
            Host(name: "no-such-host.invalid"), Host(name: "db.invalid", port: 9, address: "192.0.2.7"),
        ])
        #expect(endpoints.first == Endpoint(host: "/run/pg", address: nil, port: 5432))
        #expect(endpoints.contains(Endpoint(host: "127.0.0.1", address: "127.0.0.1", port: 7)))
        #expect(endpoints.contains(Endpoint(host: "::1", address: "::1", port: 5432)))
        #expect(endpoints.contains { $0.host == "localhost" && $0.address != nil })
        #expect(!endpoints.contains { $0.host == "no-such-host.invalid" })
        #expect(unknown.map(\.name) == ["no-such-host.invalid"])
        #expect(endpoints.contains(Endpoint(host: "db.invalid", address: "192.0.2.7", port: 9)))
    }

    @Test("Why a name has no address is told: that it can't be looked up for the moment is not that there is none")
    func unknownHosts() async throws {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop(name: "away")
            let connector = Connector(
                configuration: try PostgresConfiguration(url: "postgresql://app@db.example.invalid/orders"),
                loop: loop,
                logger: Logger(label: "test", sink: LogSink(form: .text) { _ in })
            )
            func complaint() async -> String {
                await loop.run {
                    do {
                        try await connector.connect().close()
                        return ""
                    } catch {
                        return (error as? PostgresError)?.message ?? "\(error)"
                    }
                }
            }
            // The threads for look-ups are there by then.
            _ = await complaint()
            exhaustDescriptors(but: 0)
            let words = await complaint()
            #expect(words.hasPrefix("no address was found for db.example.invalid: "), "\(words)")
            let reason = words.split(separator: ": ").dropFirst().joined()
            #expect(!reason.isEmpty && reason != "Name or service not known", "\(words)")
        }
    }

    @Test("What the environment holds for libpq is forgotten, and nothing else")
    func inheritedSettings() async {
        await #expect(processExitsWith: .success) {
            for name in ["PGHOSTADDR", "PGSERVICE", "PGREQUIREPEER", "PGCHANNELBINDING", "PGTZ", "PGOPTIONS"] {
                unsafe setenv(name, "elsewhere", 1)
            }
            let path = ProcessEnvironment.all["PATH"]
            InheritedSettings.forget()
            let left = ProcessEnvironment.all
            #expect(!left.keys.contains { $0.hasPrefix("PG") })
            #expect(left["PATH"] == path)
        }
    }

    @Test("The server's writes-only rule and the keepalives are asked for")
    func parameters() {
        let configuration = PostgresConfiguration(socketDirectory: "/run/pg", database: "orders", user: "app")
        let parameters = configuration.parameters(for: Endpoint(host: "h", address: "192.0.2.1", port: 1))
        let named = Dictionary(parameters, uniquingKeysWith: { _, last in last })
        #expect(named["target_session_attrs"] == "read-write")
        #expect(named["keepalives_idle"] == "10" && named["tcp_user_timeout"] == "10000")
        #expect(named["hostaddr"] == "192.0.2.1" && named["host"] == "h")
        #expect(named["application_name"] == "walletorders")
    }
}
