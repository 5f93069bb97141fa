// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

/// The rate limits of a whole process, over sockets.
@Suite("Rate limits")
struct LimitTests {
    /// What curl says to a request: the header and the body.
    private static func curl(_ arguments: [String], key: String = "wok_none") async throws -> String {
        let result = try await ChildProcess.run(
            "/usr/bin/curl",
            ["-sS", "-k", "-m", "60", "-H", "@-"] + arguments,
            input: Array("Authorization: Bearer \(key)\n".utf8)
        )
        #expect(result.status == 0, "\(arguments): \(result.errorText)")
        return result.text
    }

    /// The statuses of a request that is sent many times.
    private static func statuses(_ url: String, key: String = "wok_none", _ words: [String] = []) async throws
        -> [String]
    {
        try await self.curl(words + ["-o", "/dev/null", "-w", "%{http_code}\n", url], key: key)
            .split(separator: "\n").map(String.init)
    }

    private static func field(_ name: String, _ answer: String) throws -> String {
        let lines = answer.split(whereSeparator: \.isNewline)
        let line = try #require(lines.first { $0.lowercased().hasPrefix(name + ": ") }, "\(answer)")
        return String(line.dropFirst(name.count + 2))
    }

    @Test func `clients over their limits are told when to come again, and come in then; all others go on`()
        async throws
    {
        try await TestInstallation.use { installation in
            let configuration = installation.directory + "/limits.json"
            func configure(_ perKey: Int) throws {
                let text = """
                    {"merchant": {"requestsPerKey": \(perKey), "failuresPerAddress": 20},
                     "device": {"requestsPerDevice": 10, "requestsPerAddress": 40}}
                    """
                try Files.write(Array(text.utf8), to: configuration)
            }
            try configure(30)
            let began = MonotonicTime.now()
            let program = try await installation.start(TestInstallation.freePorts + ["--config", configuration])
            let merchant = "http://" + (try program.value(after: "merchants  http://", upTo: "/"))
            let admin = "http://" + (try program.value(after: "admin      http://", upTo: "/"))
            let device = "https://" + (try program.value(after: "devices    https://", upTo: "/"))
            let key = try program.value(after: "Merchant key (kept in the data directory): ", upTo: "\n")
            let created = try await ChildProcess.run(
                TestInstallation.program,
                ["keys", "create", "--name", "other", "--data-dir", installation.data]
            )
            let other = created.text.filter { $0 != "\n" }

            // A key: over it after a minute's worth, and what came back meanwhile.
            let list = merchant + "/api/v1/orders?type=order.com.example.shop"
            let many = try await Self.statuses(list + "&limit=[1-200]", key: key)
            #expect(many.prefix(30).allSatisfy { $0 == "200" }, "\(many)")
            #expect(many.suffix(50).contains("429"), "\(many)")
            // What came back meanwhile is used up; the next takes two seconds.
            var refused = ""
            for _ in 0..<1_000 where !refused.hasPrefix("HTTP/1.1 429") {
                refused = try await Self.curl(["-i", list], key: key)
            }
            #expect(refused.contains("\"code\":\"rate-limited\""))
            #expect(refused.contains("\"limit\":\"merchant-key\""))
            #expect(try Self.field("ratelimit-policy", refused) == "\"merchant-key\";q=30;w=60")
            let seconds = try #require(Int64(try Self.field("retry-after", refused)))
            #expect((1...2).contains(seconds))
            #expect(try Self.field("ratelimit", refused) == "\"merchant-key\";r=0;t=\(seconds)")
            // A large body is refused before it is sent.
            try Files.write([UInt8](repeating: 0x20, count: 1_000_000), to: installation.directory + "/large")
            var upload = ""
            for _ in 0..<1_000 where !upload.contains("HTTP/1.1 429") {
                upload = try await Self.curl(
                    [
                        "-i", "-H", "Expect: 100-continue", "--data-binary", "@\(installation.directory)/large",
                        "-w", "sent %{size_upload}", list,
                    ],
                    key: key
                )
            }
            #expect(!upload.contains("100 Continue") && upload.hasSuffix("sent 0"), "\(upload)")
            #expect(try await Self.statuses(list, key: other) == ["200"])
            try await sleep(for: .seconds(seconds))
            let again = try await Self.curl(["-i", list], key: key)
            #expect(again.hasPrefix("HTTP/1.1 200"), "\(again)")
            #expect(try Self.field("ratelimit", again).hasPrefix("\"merchant-key\";r="))

            // No key: bounded by address, which is the good keys' as well.
            let guesses = try await Self.statuses(list + "&limit=[1-60]")
            #expect(guesses.prefix(20).allSatisfy { $0 == "401" } && guesses.contains("429"), "\(guesses)")
            #expect(try await Self.statuses(list, key: other) == ["200"])

            // Devices: one by one, and all of an address together.
            let orders = device + "/v1/orders/order.com.example.shop/"
            let one = try await Self.statuses(orders + "none?x=[1-30]")
            #expect(one.prefix(10).allSatisfy { $0 == "401" } && one.contains("429"), "\(one)")
            let all = try await Self.statuses(orders + "invented-[1-200]")
            #expect(all.contains("401") && all.suffix(50).contains("429"), "\(all)")

            // Whoever watches is never refused.
            for page in ["/livez", "/readyz", "/metrics"] {
                let watched = try await Self.statuses(admin + page + "?x=[1-100]")
                #expect(watched.count == 100 && watched.allSatisfy { $0 == "200" })
            }
            let metrics = try await Self.curl([admin + "/metrics"])
            for limit in ["merchant-key", "merchant-failures", "device", "device-address"] {
                let name = "walletorders_rate_limited_requests_total{limit=\"\(limit)\"} "
                #expect(metrics.contains(name) && !metrics.contains(name + "0\n"), "\(limit)")
            }

            // SIGHUP puts other numbers in force.
            try configure(0)
            let before = program.text.utf8.count
            program.send(SIGHUP)
            try await program.says("configuration reloaded", after: before)
            let free = try await Self.statuses(list + "&limit=[1-200]", key: key)
            #expect(free.count == 200 && free.allSatisfy { $0 == "200" })
            let told = program.text.split(separator: "\n").filter { $0.contains("clients ask too often") }
            for limit in ["merchant-key", "merchant-failures", "device", "device-address"] {
                #expect(told.contains { $0.contains("\"limit\":\"\(limit)\"") }, "\(told)")
            }
            // Hundreds were refused. Each limit has one line a minute.
            let minutes = Int((MonotonicTime.now() - began).inSeconds / 60) + 1
            #expect(told.count <= 4 * minutes)
            #expect(told.allSatisfy { !$0.contains(key.prefix(20)) && !$0.contains("127.0.0.1") })
            #expect(try await program.end(SIGTERM) == 0)
        }
    }
}
