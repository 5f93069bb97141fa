// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

/// The commands that an operator asks when something does not arrive.
@Suite("Operations")
struct OperationsTests {
    @Test func `orders and tickets are listed, told of, pushed and erased`() async throws {
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let admin = try program.value(after: "admin      ", upTo: "\n")
            let key = String(
                decoding: try Files.read(installation.data + "/keys/merchant-api.key").filter { $0 != 0x0a },
                as: UTF8.self
            )
            func call(_ status: Int32, _ arguments: String...) async throws -> String {
                let result = try await installation.run(arguments)
                #expect(result.status == status, "\(arguments): \(result.text)\(result.errorText)")
                return result.text + result.errorText
            }
            func post(_ path: String, _ body: String) async throws -> ChildProcess.Result {
                try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["-sS", "-f", "-H", "@-", "-d", body, "http://\(merchant)/api/v1/orders\(path)"],
                    input: Array("Authorization: Bearer \(key)\nContent-Type: application/json\n".utf8)
                )
            }
            let created = try await post(
                "",
                """
                {"order": {"orderTypeIdentifier": "order.com.example.shop", "orderIdentifier": "A-1",
                 "orderNumber": "77", "orderType": "ecommerce", "status": "open",
                 "orderManagementURL": "https://www.example.com/o", "merchant": {"displayName": "Shop",
                 "merchantIdentifier": "merchant.com.example.shop", "url": "https://www.example.com/"},
                 "fulfillments": [{"fulfillmentType": "shipping", "fulfillmentIdentifier": "p",
                                   "status": "processing"}]}}
                """
            )
            try #require(created.status == 0, "\(created.errorText)")
            let answer = installation.directory + "/answer.json"
            try Files.write(created.output, to: answer)
            let phone = try await ChildProcess.run(
                String(TestInstallation.program.dropLast("walletorders".count)) + "walletsim",
                ["iphone", "--order-details", answer, "--trust", installation.data + "/pki/root.pem"]
            )
            #expect(phone.status == 0, "\(phone.text)\(phone.errorText)")
            let event = try await post(
                "/order.com.example.shop/A-1/events",
                """
                {"eventIdentifier": "e-1", "fulfillment": {"fulfillmentIdentifier": "p", "status": "shipped"}}
                """
            )
            #expect(event.status == 0, "\(event.errorText)")

            #expect(try await call(0, "orders", "list").contains("A-1  number 77  open,shipped  revision 2"))
            let listed = try await call(0, "orders", "list", "--json", "--status", "open", "order.com.example.shop")
            #expect(listed.contains("\"orderIdentifier\":\"A-1\"") && listed.contains("\"cursor\":null"))
            #expect(try await call(0, "orders", "list", "--status", "cancelled") == "No orders.\n")
            #expect(
                try await call(0, "orders", "list", "--status", "cancelled", "--json")
                    == "{\"orders\":[],\"cursor\":null}\n"
            )
            #expect(try await call(64, "orders", "list", "--cursor", "bogus").contains("--cursor: "))
            let typo = "no such order type: order.typo; known: order.com.example.shop"
            for words in [["orders", "list"], ["tickets", "list"], ["tickets", "redrive"]] {
                let result = try await installation.run(words + ["order.typo"])
                #expect(result.status == 1 && result.errorText.contains(typo), "\(result.errorText)")
            }
            let made = try await installation.run(["keys", "create", "--name", "a", "--order-type", "order.typo"])
            #expect(made.status == 0 && made.text.hasSuffix("\n") && made.errorText.contains(typo))
            let bound = try await installation.run([
                "keys", "create", "--name", "a", "--order-type", "order.com.example.shop",
            ])
            #expect(bound.status == 0 && bound.errorText.isEmpty, "\(bound.errorText)")
            #expect(try await call(0, "orders", "get", "A-1").contains("\"orderNumber\": \"77\""))
            let document = try await call(0, "orders", "get", "--json", "order.com.example.shop", "A-1")
            #expect(document.contains("\"status\":\"shipped\"") && !document.contains("authenticationToken"))
            #expect(try await call(1, "orders", "get", "A-2").contains("no such order"))
            let history = try await call(0, "orders", "history", "A-1")
            for part in ["Revisions:", "e-1", "Devices:", "since ", "Fetched:", "Device log: none"] {
                #expect(history.contains(part), "\(part) is not in: \(history)")
            }
            #expect(try await call(0, "orders", "history", "A-1", "--json").contains("\"revision\":2"))
            #expect(try await call(0, "orders", "push", "A-1") == "1 device is due to be told.\n")
            #expect(try await call(1, "orders", "push", "A-2").contains("no such order"))

            // A push that was given up, as after a refused request.
            let dead = try await ChildProcess.run(
                "/usr/bin/psql",
                [
                    "-h", installation.data + "/socket", "-U", "walletorders", "-qc",
                    "update devices set dead = true, due_at = null, claim = null, reason = 'PayloadTooLarge'",
                ]
            )
            #expect(dead.status == 0, "\(dead.errorText)")
            let tickets = try await call(0, "tickets", "list")
            #expect(tickets.contains("1 given up") && tickets.contains("PayloadTooLarge"))
            #expect(try await call(0, "tickets", "list", "--json").contains("\"dead\":1"))
            #expect(try await call(0, "tickets", "redrive", "order.com.example.shop") == "1 push is due again.\n")
            #expect(try await call(0, "tickets", "redrive", "--json") == "{\"redriven\":0}\n")

            // A token that APNs no longer knew is told of as gone, also where it was pushed to before.
            let gone = try await ChildProcess.run(
                "/usr/bin/psql",
                [
                    "-h", installation.data + "/socket", "-U", "walletorders", "-qc",
                    "update devices set push_token = null, token_digest = null, due_at = null, claim = null, "
                        + "outcome = 'pruned', reason = 'Unregistered', pushed_at = now()",
                ]
            )
            #expect(gone.status == 0, "\(gone.errorText)")
            let told = try await call(0, "orders", "history", "A-1")
            #expect(told.contains("no push token: APNs no longer knew it (Unregistered)"), "\(told)")
            let json = try await call(0, "orders", "history", "--json", "A-1")
            #expect(json.contains("\"hasPushToken\":false") && json.contains("\"outcome\":\"pruned\""), "\(json)")
            let none = try await call(0, "orders", "push", "A-1")
            #expect(none.contains("0 devices are due to be told. One is registered, but APNs no longer"), "\(none)")

            let erasure = try await call(0, "orders", "erase", "--yes", "--json", "A-1")
            let name = "\"orderTypeIdentifier\":\"order.com.example.shop\",\"orderIdentifier\":\"A-1\""
            #expect(erasure == "{\"erased\":{\(name)}}\n")
            #expect(try await call(1, "orders", "erase", "--yes", "A-1").contains("no such order"))
            let erased = try await call(0, "orders", "history", "A-1").split(separator: "\n")
            let year = WallTime.now().rfc3339.prefix(4)
            #expect(erased.count == 2 && erased[1].hasPrefix("erased at \(year)"), "\(erased)")
            #expect(erased.last?.contains("after 2 revisions, the last updated \(year)") == true, "\(erased)")
            #expect(try await call(0, "orders", "history", "--json", "A-1").contains("\"erasedAt\":\"\(year)"))
            // Given-up pushes are told of until they are redriven, which the worker sees within some seconds.
            let deadline = MonotonicTime.now() + .seconds(20)
            var ready = ""
            repeat {
                ready = try await ChildProcess.run("/usr/bin/curl", ["-sS", "-f", admin]).text
            } while !ready.contains("\"degraded\":[]") && MonotonicTime.now() < deadline
            #expect(ready.contains("\"degraded\":[]"), "\(ready)")
            #expect(try await program.end(SIGTERM) == 0)
        }
    }

    @Test func `texts that all orders of a type share are rolled out by the worker when that is asked for`()
        async throws
    {
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let made = try await installation.run([
                "keys", "create", "--name", "a", "--scope", "admin", "--scope", "orders:write", "--scope",
                "orders:read",
            ])
            let key = made.text.filter { $0 != "\n" }
            func send(_ method: String, _ path: String, _ body: String) async throws -> String {
                let result = try await ChildProcess.run(
                    "/usr/bin/curl",
                    ["-sS", "-f", "-X", method, "-H", "@-", "-d", body, "http://\(merchant)/api/v1\(path)"],
                    input: Array("Authorization: Bearer \(key)\nContent-Type: application/json\n".utf8)
                )
                #expect(result.status == 0, "\(method) \(path): \(result.errorText)")
                return result.text
            }
            let texts = "/order-types/order.com.example.shop/localizations/en"
            _ = try await send("PUT", texts, "{\"hello\": \"Hello\"}")
            _ = try await send("POST", "/orders", ReloadTests.order)
            _ = try await send("PUT", texts, "{\"hello\": \"Good day\"}")
            #expect(try await installation.run(["orders", "list"]).text.contains("revision 1"))
            #expect(
                try await send("POST", "/order-types/order.com.example.shop/refresh", "").contains("\"started\":true")
            )
            var listed = ""
            let deadline = MonotonicTime.now() + .seconds(20)
            repeat {
                listed = try await installation.run(["orders", "list"]).text
            } while !listed.contains("revision 2")
                && MonotonicTime.now() < deadline
            #expect(listed.contains("revision 2"), "\(listed)\(program.text)")
            try await program.says("rolled out")
            #expect(try await program.end(SIGTERM) == 0)
        }
    }

    @Test func `a schema of another program is told by migrate, which leaves it alone`() async throws {
        try await TestInstallation.use { installation in
            let database = try await installation.startDatabase()
            func call(_ status: Int32, _ words: String...) async throws -> String {
                let result = try await ChildProcess.run(
                    TestInstallation.program,
                    words + ["--data-dir", installation.directory + "/own", "--database", database]
                )
                #expect(result.status == status, "\(words): \(result.text)\(result.errorText)")
                return result.text + result.errorText
            }
            func change(_ statement: String) async throws {
                let changed = try await ChildProcess.run(
                    "/usr/bin/psql",
                    ["-h", installation.data + "/socket", "-U", "walletorders", "-d", "shop", "-qc", statement]
                )
                try #require(changed.status == 0, "\(changed.errorText)")
            }
            #expect(try await call(1, "migrate", "--status").contains("Not applied: 1"))
            #expect(try await call(78, "keys", "list").contains("run 'walletorders migrate'"))
            _ = try await call(0, "migrate")
            #expect(try await call(0, "migrate", "--status") == "The schema is up to date.\n")

            try await change("insert into schema_migrations (version, name, checksum) values (99, 'later', 'x')")
            #expect(try await call(1, "migrate", "--status").contains("unknown to this program: 99"))
            #expect(try await call(1, "migrate", "--status", "--json").contains("\"unknown\":[99]"))
            let newer = try await call(78, "migrate")
            #expect(newer.contains("the database is at migration 99") && !newer.contains("setting database"))

            // As during an upgrade: a former version that ends must be able to start again, unless the schema says otherwise.
            let words = ["--data-dir", installation.directory + "/own", "--database", database]
            let server = try installation.launch(
                TestInstallation.program,
                ["serve"] + words + TestInstallation.freePorts,
                environment: ["PATH": "/usr/bin:/bin", "PGHOSTADDR": "192.0.2.1", "PGSERVICE": "elsewhere"]
            )
            try await server.says("newer than this program, which can work with it")
            try await change(
                """
                do $$ begin assert (select count(*) from pg_stat_activity
                    where application_name like 'walletorders/serve/_%') > 0, 'no session says whose it is'; end $$
                """
            )
            #expect(try await server.end(SIGTERM) == 0)
            try await change("update schema_migrations set breaks_older = true where version = 99")
            let broken = try await ChildProcess.run(
                TestInstallation.program,
                ["serve"] + words + TestInstallation.freePorts
            )
            #expect(broken.status == 78 && broken.errorText.contains("install the newer program"))

            try await change("delete from schema_migrations where version = 99")
            try await change("update schema_migrations set checksum = 'x' where version = 1")
            #expect(try await call(1, "migrate", "--status").contains("another text than this program's: 1"))
            #expect(try await call(1, "migrate", "--status", "--json").contains("\"changed\":[1]"))
            let changed = try await call(78, "migrate")
            #expect(changed.contains("was applied with another text") && !changed.contains("setting database"))
            let served = try await ChildProcess.run(
                TestInstallation.program,
                ["serve", "--data-dir", installation.directory + "/own", "--database", database]
                    + TestInstallation.freePorts
            )
            #expect(served.status == 78 && served.errorText.contains("migrate --status"), "\(served.errorText)")
            let doctor = try await call(1, "doctor", "--offline")
            #expect(doctor.contains("✗ schema: ") && doctor.contains("migrate --status"), "\(doctor)")
        }
    }

    @Test func `a shell completes commands and options`() async throws {
        let bash = """
            source <("$0" completion bash)
            try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _walletorders; echo "${COMPREPLY[*]}"; }
            try walletorders ord
            try walletorders orders hi
            try walletorders orders history --js
            try walletorders run --de
            """
        let result = try await ChildProcess.run("/bin/bash", ["-c", bash, TestInstallation.program])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.text.split(separator: "\n").map { $0.split(separator: " ").first ?? "" }.count == 4)
        for words in ["orders order\n", "history\n", "--json\n", "--demo"] { #expect(result.text.contains(words)) }
        for shell in ["zsh", "fish"] {
            let script = try await ChildProcess.run(TestInstallation.program, ["completion", shell])
            #expect(script.status == 0 && script.text.contains("redrive"))
        }
        #expect(try await ChildProcess.run(TestInstallation.program, ["completion", "tcsh"]).status == 64)
    }

    @Test func `doctor finds all well, or says of each fault what to do`() async throws {
        try await TestInstallation.use { installation in
            let folder = installation.directory
            let database = try await installation.startDatabase()
            let testpki = try await ChildProcess.run(TestInstallation.program, ["testpki", folder + "/pki"])
            try #require(testpki.status == 0)
            let apns = try installation.launch(
                String(TestInstallation.program.dropLast("walletorders".count)) + "walletsim",
                ["apns", "--pki", folder + "/pki", "--listen", "127.0.0.1:0"]
            )
            try await apns.says("\n")
            let port = try apns.value(after: "https://127.0.0.1:", upTo: "\n")
            func configure(identity: String = "identity", port: String, trust: String = "root.pem") throws {
                let text = """
                    {"dataDir": "\(folder)/own", "orderTypes": {"order.com.example.shop": {
                        "identity": "\(folder)/pki/\(identity).pem", "key": "\(folder)/pki/\(identity).key",
                        "intermediates": "\(folder)/pki/intermediate.pem", "webServiceURL": "https://w.example.com/",
                        "apns": {"host": "127.0.0.1", "port": \(port), "trust": "\(folder)/pki/\(trust)"}}}}
                    """
                try Files.write(Array(text.utf8), to: folder + "/config.json")
            }
            func doctor(_ arguments: String..., database: String = database) async throws -> ChildProcess.Result {
                try await ChildProcess.run(
                    TestInstallation.program,
                    ["doctor"] + arguments,
                    environment: [
                        "PATH": "/usr/bin:/bin", "WALLETORDERS_DATABASE": database,
                        "WALLETORDERS_CONFIG": folder + "/config.json",
                    ]
                )
            }
            try configure(port: port)
            let early = try await doctor()
            #expect(early.status == 1)
            #expect(early.text.contains("✗ schema") && early.text.contains("walletorders migrate"))
            #expect(early.text.contains("✗ token keys"))
            let migrated = try await ChildProcess.run(
                TestInstallation.program,
                ["migrate", "--database", database, "--data-dir", folder + "/own"]
            )
            try #require(migrated.status == 0, "\(migrated.errorText)")

            let well = try await doctor()
            #expect(well.status == 0, "\(well.text)\(well.errorText)")
            for part in [
                "✓ database: PostgreSQL", "✓ schema", "✓ clock", "✓ rows", "✓ token keys",
                "✓ order.com.example.shop: certificate: valid until", "only devices of a test",
                "✓ order.com.example.shop: APNs: 127.0.0.1:\(port) takes the certificate",
            ] { #expect(well.text.contains(part), "\(part) is not in: \(well.text)") }
            #expect(try await doctor("--json").text.hasPrefix("{\"ok\":true,\"checks\":["))

            // A row that no program of ours left behind.
            func psql(_ statement: String) async throws {
                let done = try await ChildProcess.run("/usr/bin/psql", [database, "-qc", statement])
                try #require(done.status == 0, "\(done.errorText)")
            }
            try await psql("insert into registrations values ('order.com.example.shop', 'phone', 'none', 1)")
            let broken = try await doctor("--offline")
            #expect(broken.status == 1)
            #expect(broken.text.contains("✗ rows: 1 break the rule that a registration has its device and its order"))
            try await psql("delete from registrations")

            // An APNs that is not there, one that is not Apple's, a key that all may read, a database that is away.
            try configure(port: "1", trust: "root.pem")
            let away = try await doctor()
            #expect(
                away.status == 1 && away.text.contains("✗ order.com.example.shop: APNs: 127.0.0.1:1 is not reached")
            )
            #expect(try await doctor("--offline").status == 0)
            try configure(port: port, trust: "identity.pem")
            let untrusted = try await doctor()
            #expect(
                untrusted.status == 1 && untrusted.text.contains("order.com.example.shop.apns.trust"),
                "\(untrusted.text)"
            )
            try configure(port: port)
            #expect(unsafe chmod(folder + "/pki/identity.key", 0o644) == 0)
            let open = try await doctor("--offline")
            #expect(open.status == 1 && open.text.contains("chmod o= \(folder)/pki/identity.key"))
            let dark = try await doctor("--offline", database: "postgres://u:Hush4711@127.0.0.1:1/d")
            #expect(dark.status == 1 && dark.text.contains("✗ database") && !dark.text.contains("Hush4711"))
            try configure(identity: "server", port: port)
            #expect(try await doctor("--offline").text.contains("✗ order.com.example.shop: certificate"))
            try Files.write(Array("{\"loops\": \"x\"}".utf8), to: folder + "/config.json")
            let wrong = try await doctor("--json")
            #expect(wrong.status == 1 && wrong.text.contains("\"ok\":false") && wrong.text.contains("loops (file)"))
        }
    }
}
