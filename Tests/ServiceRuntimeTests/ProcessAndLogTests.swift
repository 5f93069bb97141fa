// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import Testing

@Suite("Child processes, logs and metrics")
struct ProcessAndLogTests {
    @Test("a program gets its input and gives its output and status")
    func childProcess() async throws {
        let input = [UInt8](repeating: 0x61, count: 300_000)
        let result = try await ChildProcess.run("/bin/sh", ["-c", "cat; echo oops >&2; exit 7"], input: input)
        #expect(result.status == 7)
        #expect(result.output == input)
        #expect(result.errorText == "oops\n")
        let cut = try await ChildProcess.run("/bin/sh", ["-c", "head -c 100000 /dev/zero"], limit: 1_000)
        #expect(cut.output.count == 1_000)
        let killed = try await ChildProcess.run("/bin/sh", ["-c", "kill -9 $$"])
        #expect(killed.status == 128 + 9)
        await #expect(throws: SystemError.self) { try await ChildProcess.run("/nonexistent", []) }
    }

    @Test("a program that goes on is ended by a signal")
    func signalled() async throws {
        let child = try ChildProcess("/bin/sleep", ["600"])
        child.send(SIGTERM)
        #expect(try await child.wait() == 128 + SIGTERM)
    }

    @Test("blocking work runs beside the loops, more of it than there are threads")
    func blocking() async throws {
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await runBlocking {
                        usleep(1_000)
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 19_900)
    }

    @Test("no text can forge a log line, and a sensitive value is never shown")
    func logLines() throws {
        let lines = Locked<[String]>([])
        let sink = LogSink(form: .json) { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        let logger = Logger(label: "test", sink: sink)
        let secret = Sensitive("hunter2")
        logger.notice(
            "a \"b\"\n\u{1b}[31m",
            ["token": "\(secret)", "count": 3, "dump": .string(String(reflecting: secret))]
        )
        logger.debug("not on")
        let line = try #require(lines.withLock { $0 }.first)
        #expect(lines.withLock { $0 }.count == 1)
        #expect(line.filter { $0 == "\n" }.count == 1)
        #expect(!line.contains("\u{1b}"))
        #expect(!line.contains("hunter2"))
        #expect(line.contains(#""count":3,"dump":"<redacted>","token":"<redacted>"}"#))
        #expect(line.contains(#""message":"a \"b\"\n\u001b[31m""#))
    }

    @Test("metrics are written in Prometheus's text format")
    func metrics() {
        let metrics = Metrics()
        metrics.counter("a_total", help: "A.", labels: [("route", "x\"y")]).increment(by: 2)
        metrics.counter("a_total", help: "A.", labels: [("route", "x\"y")]).increment()
        metrics.gauge("b", help: "B.").set(1.5)
        let histogram = metrics.histogram("c_seconds", help: "C.", bounds: [0.1, 1])
        for seconds in [0.05, 0.5, 5] { histogram.observe(seconds) }
        #expect(
            metrics.text() == """
                # HELP a_total A.
                # TYPE a_total counter
                a_total{route="x\\"y"} 3
                # HELP b B.
                # TYPE b gauge
                b 1.5
                # HELP c_seconds C.
                # TYPE c_seconds histogram
                c_seconds_bucket{le="0.1"} 1
                c_seconds_bucket{le="1"} 2
                c_seconds_bucket{le="+Inf"} 3
                c_seconds_sum 5.55
                c_seconds_count 3

                """
        )
    }
}
