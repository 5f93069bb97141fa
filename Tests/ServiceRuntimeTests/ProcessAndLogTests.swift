// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
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

    /// Both ends of a new pipe.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        ProcessSignals.ignoreBrokenPipes()
        var ends: [Int32] = [0, 0]
        let code = unsafe Glibc.pipe(&ends)
        try #require(code == 0)
        // A child that another test starts meanwhile would keep the ends open for as long as it runs.
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        return (ends[0], ends[1])
    }

    /// Reads lines until they are all.
    private static func lines(
        _ descriptor: Int32,
        until areAll: @escaping @Sendable (String) -> Bool
    ) async throws -> [Substring] {
        try await runBlocking {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                if text.hasSuffix("\n"), areAll(text) { break }
                let count = unsafe read(descriptor, &buffer, buffer.count)
                if count <= 0 { break }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return text.split(separator: "\n")
        }
    }

    @Test("a reader of the log that stalls holds nobody up; what it missed is counted and said once it reads again")
    func stalledLogReader() async throws {
        let (reading, writing) = try Self.pipe()
        let writer = LogWriter(descriptor: writing, limit: 50_000) { Array("dropped \($0)\n".utf8) }
        let filling = String(repeating: "x", count: 200)
        // Nobody reads: with a write that waits, this would never end.
        for number in 0..<2_000 { writer.write(Array("\(number) \(filling)\n".utf8)) }
        #expect(!writer.flush(within: .milliseconds(20)))
        /// The next line's number, were none missing; nil once one is that should be there.
        @Sendable func next(_ lines: [Substring]) -> Int? {
            var next = 0
            for line in lines {
                if line.hasPrefix("dropped ") {
                    next += Int(line.dropFirst("dropped ".count)) ?? 0
                } else {
                    guard line.hasPrefix("\(next) x") else { return nil }
                    next += 1
                }
            }
            return next
        }
        let lines = try await Self.lines(reading) { (next($0.split(separator: "\n")) ?? 2_000) >= 2_000 }
        #expect(next(lines) == 2_000)
        // The pipe took 64 KiB and the queue twice 50 KB of 400 KB.
        #expect(lines.count < 1_200)
        #expect(writer.flush(within: .seconds(60)))
        writer.write(Array("again\n".utf8))
        #expect(try await Self.lines(reading) { $0.hasSuffix("again\n") } == ["again"])
        close(reading)
        // Nobody is left to read: lines go nowhere, and nobody waits.
        for _ in 0..<1_000 { writer.write(Array("\(filling)\n".utf8)) }
        #expect(writer.flush(within: .seconds(60)))
        close(writing)
    }

    @Test("a line is out before the call returns while the reader keeps up: a crash right after loses nothing")
    func lastLine() throws {
        let (reading, writing) = try Self.pipe()
        let writer = LogWriter(descriptor: writing) { _ in [] }
        writer.write(Array("last words\n".utf8))
        #expect(fcntl(reading, F_SETFL, O_NONBLOCK) == 0)
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = unsafe read(reading, &buffer, buffer.count)
        #expect(count == 11)
        close(reading)
        close(writing)
    }

    @Test("lines of many threads come whole")
    func manyThreads() async throws {
        let (reading, writing) = try Self.pipe()
        let writer = LogWriter(descriptor: writing, limit: 10_000_000) { _ in [] }
        async let read = Self.lines(reading) { $0.hasSuffix("end\n") }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<500 { writer.write(Array("\(thread) \(number) of a thread\n".utf8)) }
                }
            }
        }
        writer.write(Array("end\n".utf8))
        let lines = try await read
        #expect(lines.count == 4_001)
        #expect(Set(lines).count == 4_001)
        #expect(writer.flush(within: .seconds(60)))
        close(reading)
        close(writing)
    }

    @Test("metrics are written in Prometheus's text format")
    func metrics() {
        let metrics = Metrics()
        metrics.counter("a_total", help: "A.", labels: [("route", "x\"y")]).increment(by: 2)
        metrics.counter("a_total", help: "A.", labels: [("route", "x\"y")]).increment()
        metrics.gauge("b", help: "B.").set(1.5)
        let histogram = metrics.histogram("c_seconds", help: "C.", bounds: [0.1, 1])
        // A part counts as the whole does.
        let part = histogram.part()
        part.observe(0.5)
        for seconds in [0.05, 5] { histogram.observe(seconds) }
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

    @Test("A process that can't watch for signals can still be ended by them")
    func unwatchedSignals() async {
        await #expect(processExitsWith: .success) {
            ProcessSignals.prepare()
            let loop = try EventLoop(name: "deaf")
            let isBlocked: @Sendable () async -> Bool = {
                await loop.run {
                    var mask = sigset_t()
                    unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                    return unsafe sigismember(&mask, SIGTERM) == 1
                }
            }
            let before = await isBlocked()
            exhaustDescriptors(but: 0)
            ProcessSignals.watch(on: loop) { _ in }
            let after = await isBlocked()
            #expect(before && !after)
        }
    }

    @Test("A user who can't be looked up is not taken for one who is not there")
    func lookUpOfUsers() async throws {
        #expect(try UserIdentity(name: "root")?.user == 0)
        #expect(try UserIdentity(name: "no-such-user") == nil)
        await #expect(processExitsWith: .success) {
            exhaustDescriptors(but: 0)
            #expect(throws: SystemError.self) { try UserIdentity(name: "root") }
        }
    }
}
