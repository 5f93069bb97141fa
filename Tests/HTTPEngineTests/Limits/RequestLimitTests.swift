// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import ServiceRuntime
import Testing

@Suite("Request limit")
struct RequestLimitTests {
    /// A limit with a clock that is moved by hand, and what it logged and counted.
    private struct Bench: Sendable {
        let now = Locked(MonotonicTime(nanoseconds: 1_000_000_000))
        let lines = Locked<[String]>([])
        let metrics = Metrics()
        let limit: RequestLimit

        init(_ perMinute: Int) {
            let (now, lines) = (self.now, self.lines)
            self.limit = RequestLimit(
                "merchant-key",
                of: "requests with one merchant key",
                perMinute: perMinute,
                clients: 100,
                logger: Logger(
                    label: "merchant",
                    sink: LogSink(form: .text) { bytes in
                        lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
                    }
                ),
                metrics: self.metrics,
                clock: { now.withLock { $0 } }
            )
        }

        func pass(_ duration: Duration) { self.now.withLock { $0 = $0 + duration } }
    }

    @Test("over it is 429, with what, which limit and when, in words and in fields")
    func problem() throws {
        let bench = Bench(30)
        let key = RateLimiter.Key("a")
        for _ in 0..<30 { #expect(bench.limit.refusal(of: key) == nil) }
        bench.pass(.milliseconds(500))
        let problem = try #require(bench.limit.refusal(of: key))
        #expect(problem.status == .tooManyRequests)
        #expect(problem.code == "rate-limited")
        #expect(
            problem.detail == "In a minute only 30 requests with one merchant key may come. Try again in 2 seconds."
        )
        #expect(problem.extensions["limit"] == "merchant-key")
        #expect(problem.headers["retry-after"] == "2")
        #expect(problem.headers["ratelimit-policy"] == "\"merchant-key\";q=30;w=60")
        #expect(problem.headers["ratelimit"] == "\"merchant-key\";r=0;t=2")
        let response = problem.response(requestIdentifier: "r-1")
        #expect(response.headers["cache-control"] == "no-store")
        // Who waits as long as told comes in, once.
        bench.pass(.milliseconds(1_499))
        let late = try #require(bench.limit.refusal(of: key))
        #expect(late.headers["retry-after"] == "1")
        #expect(late.detail?.hasSuffix("Try again in 1 second.") == true)
        bench.pass(.milliseconds(1))
        #expect(bench.limit.refusal(of: key) == nil)
        #expect(bench.limit.refusal(of: key) != nil)
        #expect(bench.limit.refusal(of: RateLimiter.Key("b")) == nil)
    }

    @Test("what is left is told with the time in which it comes back")
    func fields() {
        let bench = Bench(600)
        let key = RateLimiter.Key("a")
        func shown() -> [String?] {
            var headers: HTTPFields = ["etag": "\"1\""]
            bench.limit.show(to: key, in: &headers)
            #expect(headers["ratelimit-policy"] == "\"merchant-key\";q=600;w=60")
            #expect(headers.count == 3)
            return [headers["ratelimit"]]
        }
        #expect(shown() == ["\"merchant-key\";r=600;t=60"])
        #expect(bench.limit.refusal(of: key) == nil)
        #expect(shown() == ["\"merchant-key\";r=599;t=60"])
        bench.limit.draw(589, of: key)
        #expect(shown() == ["\"merchant-key\";r=10;t=1"])
        #expect(bench.limit.refusal(of: key, cost: 0) == nil)
        #expect(shown() == ["\"merchant-key\";r=10;t=1"])
        #expect(bench.limit.refusal(of: key, cost: 25) == nil)
        // Fifteen are owed, and one more has to come back.
        #expect(shown() == ["\"merchant-key\";r=0;t=2"])
        bench.pass(.seconds(60))
        #expect(shown() == ["\"merchant-key\";r=585;t=59"])
    }

    @Test("0 a minute is no limit and shows nothing; another number is in force at once")
    func off() {
        let bench = Bench(0)
        let key = RateLimiter.Key("a")
        for _ in 0..<1_000 { #expect(bench.limit.refusal(of: key, cost: 1_000) == nil) }
        var headers = HTTPFields()
        bench.limit.show(to: key, in: &headers)
        #expect(headers.isEmpty)
        #expect(bench.limit.perMinute == 0)
        bench.limit.perMinute = 1
        #expect(bench.limit.refusal(of: key) == nil)
        #expect(bench.limit.refusal(of: key) != nil)
        bench.limit.perMinute = 0
        #expect(bench.limit.refusal(of: key) == nil)
    }

    @Test("refusals are all counted, and logged once a minute, without a word on who it was")
    func telling() {
        let bench = Bench(1)
        let key = RateLimiter.Key("wok_0123456789abcdef", "192.0.2.7")
        #expect(bench.limit.refusal(of: key) == nil)
        for _ in 0..<500 { #expect(bench.limit.refusal(of: key) != nil) }
        bench.pass(.seconds(59))
        #expect(bench.limit.refusal(of: key) != nil)
        #expect(bench.lines.withLock { $0.count } == 1)
        bench.pass(.milliseconds(500))
        #expect(bench.limit.refusal(of: key) != nil)
        bench.pass(.milliseconds(500))
        #expect(bench.limit.refusal(of: key) == nil)
        #expect(bench.limit.refusal(of: key) != nil)
        let lines = bench.lines.withLock { $0 }
        #expect(lines.count == 2)
        #expect(lines[0].contains("warning merchant: clients ask too often and are refused"))
        #expect(lines[0].contains("limit=\"merchant-key\" perMinute=1 refused=1\n"))
        #expect(lines[1].contains("refused=502\n"))
        #expect(!lines.joined().contains("wok_") && !lines.joined().contains("192.0.2"))
        let text = bench.metrics.text()
        #expect(text.contains("walletorders_rate_limited_requests_total{limit=\"merchant-key\"} 503\n"), "\(text)")
    }

    @Test(
        "addresses are counted by who holds them",
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::", "2001:db8:1:2::"),
            ("2001:db8:1:3::6", "2001:db8:1:3::"), ("::1", "::"), ("", ""), ("no:address", "no:address"), ("unix", nil),
        ] as [(String, String?)]
    )
    func holders(address: String, holder: String?) {
        #expect(AddressHolder.of(address) == holder)
    }
}
