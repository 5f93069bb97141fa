// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPEngine
import OrderModel
import OrderStore
import PushNotifications
import ServiceRuntime
import Simulators
import StoreTestSupport
import TestPatience
import Testing

/// What becomes of tickets when connections don't behave.
@Suite("Connections to APNs: PushNotificationsTests", .database)
struct PushConnectionTests {
    static let isAtRest = PushWorkerTests.isAtRest

    @Test("after a GOAWAY in a batch of 100 all are delivered, over a second connection, each once")
    func goAway() async throws {
        let control = HTTP2Control()
        // The fiftieth stream of the first connection is the last. Later ones that came with it are not to be answered:
        // the GOAWAY leaves only when all that was read together is worked off.
        control.decide { _, place in
            guard place.connection == 1, place.stream >= 99 else { return .serve }
            return place.stream == 99 ? .goAway(.noError) : .withhold
        }
        try await withPushes(control: control) { station in
            try await station.changedOrder("A-1", 1..<101)
            try await station.expect(100, Self.isAtRest)
            for number in 1..<101 { #expect(station.simulator.count(of: station.token(number)) == 1) }
            #expect(control.connectionCount == 2)
        }
    }

    @Test("a connection that is cut in a batch loses nothing")
    func cut() async throws {
        let control = HTTP2Control()
        control.decide { _, place in place.connection == 1 && place.stream == 19 ? .cut : .serve }
        try await withPushes(control: control) { station in
            try await station.changedOrder("A-1", 1..<31)
            try await station.expect(30, Self.isAtRest)
            for number in 1..<31 { #expect(station.simulator.count(of: station.token(number)) >= 1) }
        }
    }

    @Test("refused streams go out again")
    func refusedStreams() async throws {
        let control = HTTP2Control()
        control.decide { _, place in place.stream < 10 ? .reset(HTTP2ErrorCode(rawValue: 7)) : .serve }
        try await withPushes(control: control) { station in
            try await station.changedOrder("A-1", 1..<11)
            try await station.expect(10, Self.isAtRest)
        }
    }

    @Test("one stream at a time is enough, and is never exceeded")
    func oneStream() async throws {
        let control = HTTP2Control(maxConcurrentStreams: 1)
        try await withPushes(control: control) { station in
            try await station.changedOrder("A-1", 1..<31)
            try await station.expect(30, Self.isAtRest)
            #expect(control.peakStreams == 1)
        }
    }

    @Test("withheld answers are given up in time and tried again; other types don't notice")
    func blackHole() async throws {
        let control = HTTP2Control()
        control.withholdAnswers { $0.headers["apns-topic"] == Samples.shop }
        let deadlines = PushDeadlines.answer(within: .milliseconds(200))
        try await withPushes(control: control, policy: .soon, deadlines: deadlines) { station in
            try await station.changedOrder("A-1", 1..<11)
            try await station.expectFault("timeout")
            try await station.changedOrder("B-1", 11..<21, type: Samples.bakery)
            try await station.expect(10, "order_type = 'order.com.example.bakery' and " + Self.isAtRest)
            control.decide(nil)
            try await station.expect(20, Self.isAtRest)
            try await station.expectFault(nil)
            // The first connection still answered its PING: it was kept.
            #expect(control.connectionCount == 2)
        }
    }

    @Test("while APNs is away the type says so, and its queue drains when APNs is back")
    func away() async throws {
        try await withPushes(policy: .soon, isAway: true) { station in
            try await station.changedOrder("A-1", 1..<51)
            try await station.expectFault("unreachable")
            try await station.withAPNsBack { simulator in
                try await station.expect(50, Self.isAtRest)
                #expect(simulator.total == 50)
            }
            try await station.expectFault(nil)
        }
    }

    @Test("a worker that is to stop hands back at once what has no answer, the try not counted")
    func shutdown() async throws {
        let control = HTTP2Control()
        let isUnderWay = control.withholdAnswers { $0.path != "/3/device/1" }
        try await withPushes(control: control, deadlines: .answer(within: .seconds(3_600))) { station in
            try await station.changedOrder("A-1", 1..<11)
            try await station.waitForPush(1)
            try await isUnderWay.wait()
            station.stop.fire()
            // It would be an hour if the answers were waited for.
            try await station.ended.wait()
            #expect(try await station.devices("due_at <= now() and claim is null and attempts = 0") == 9)
            #expect(try await station.devices(Self.isAtRest) == 1)
        }
    }

    @Test("nothing waits behind a push without an answer, also of the same type")
    func oneWithheld() async throws {
        let control = HTTP2Control()
        let isUnderWay = control.withholdAnswers { $0.path == "/3/device/1" }
        try await withPushes(control: control, deadlines: .answer(within: .seconds(3_600))) { station in
            try await station.changedOrder("A-1", 1..<2)
            try await isUnderWay.wait()
            // It would be an hour if the answer were waited for.
            try await station.changedOrder("B-1", 2..<4)
            try await station.expect(2, Self.isAtRest)
            try await station.change("B-1", tracking: "T-2")
            try await station.waitForPush(2, after: 1)
            try await station.expect(1, "claim is not null")
            #expect(station.worker.faults.isEmpty)
        }
    }

    @Test("a claim that fails stops nothing, also while a push is without an answer")
    func failedClaim() async throws {
        let control = HTTP2Control()
        let isUnderWay = control.withholdAnswers { $0.path == "/3/device/1" }
        let deadlines = PushDeadlines.answer(within: .seconds(3_600))
        let log = CapturedLog()
        try await withPushes(control: control, deadlines: deadlines, logger: log.logger) { station in
            try await station.changedOrder("A-1", 1..<2)
            try await isUnderWay.wait()
            try await station.database.create("B-1")
            try await station.register(2..<3, for: "B-1")
            let start = MonotonicTime.now()
            try await station.database.run("alter table devices rename to devices_away")
            let deadline = MonotonicTime.now() + Patience.long
            while !log.text.contains("tickets could not be claimed"), MonotonicTime.now() < deadline {
                station.worker.wake(try PushStation.type(Samples.shop))
                try await sleep(for: .milliseconds(20))
            }
            try await station.database.run("alter table devices_away rename to devices")
            try await station.change("B-1")
            try await station.waitForPush(2)
            // It would take until the server gives the first one up, after half a minute.
            #expect(MonotonicTime.now() - start < .seconds(15) * Patience.factor)
            try await station.expect(1, "claim is not null")
        }
    }

    // Sanitizers keep what is freed for a while.
    @Test("claims leave no memory behind while the queue never rests", .enabled(if: Patience.factor == 1))
    func neverAtRest() async throws {
        let control = HTTP2Control()
        let isUnderWay = control.withholdAnswers { $0.path == "/3/device/1" }
        try await withPushes(control: control, deadlines: .answer(within: .seconds(3_600))) { station in
            try await station.changedOrder("A-1", 1..<2)
            try await isUnderWay.wait()
            try await station.changedOrder("B-1", 2..<3)
            try await station.expect(1, Self.isAtRest)
            var growth: [Int] = []
            for _ in 0..<4 {
                let before = try Self.residentBytes()
                for _ in 0..<300 {
                    try await station.database.run("update devices set due_at = now() where claim is null")
                    station.worker.wake(try PushStation.type(Samples.shop))
                    try await station.expect(1, Self.isAtRest)
                }
                growth.append(try Self.residentBytes() - before)
            }
            // What other tests take meanwhile is not in each round; 13 kB a claim would be.
            #expect(try #require(growth.min()) < 2_000_000, "\(growth)")
            #expect(station.simulator.count(of: station.token(2)) == 1_201)
        }
    }

    private static func residentBytes() throws -> Int {
        let descriptor = unsafe open("/proc/self/statm", O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return try #require(words.count > 1 ? Int(words[1]) : nil) * sysconf(Int32(_SC_PAGESIZE))
    }

    @Test("a token that never gets an answer does not stop its type, however often it is tried")
    func silentToken() async throws {
        let control = HTTP2Control()
        control.withholdAnswers { $0.path == "/3/device/1" }
        try await withPushes(control: control, deadlines: .answer(within: .milliseconds(50))) { station in
            try await station.changedOrder("A-1", 1..<2)
            for attempts in 1...5 {
                try await station.expect(1, "attempts = \(attempts) and outcome = 'retry' and claim is null")
                #expect(station.worker.faults.isEmpty)
                try await station.database.run("update devices set due_at = now()")
            }
        }
    }

    @Test("a connection that refuses a stream is left, once it is old enough that this is no storm")
    func leftAfterRefusal() async throws {
        let control = HTTP2Control()
        control.decide { _, place in
            place.connection == 1 ? .reset(HTTP2ErrorCode(rawValue: 7)) : .serve
        }
        var deadlines = PushDeadlines()
        deadlines.renewal = .zero
        try await withPushes(control: control, deadlines: deadlines) { station in
            try await station.changedOrder("A-1", 1..<2)
            try await station.expect(1, Self.isAtRest)
            #expect(control.connectionCount == 2)
        }
    }

    @Test("what waited for a stream and was never sent is no silent token")
    func neverSent() async throws {
        let control = HTTP2Control(maxConcurrentStreams: 1)
        control.withholdAnswers { $0.path == "/3/device/1" }
        try await withPushes(control: control, deadlines: .answer(within: .milliseconds(300))) { station in
            try await station.database.create("A-1")
            try await station.register(1..<2, for: "A-1")
            try await station.change("A-1")
            try await station.expect(1, "claim is not null")
            try await station.changedOrder("B-1", 2..<3)
            try await station.expect(
                1,
                "device_identifier = 'device-2' and reason = 'not-processed' or \(Self.isAtRest)"
            )
            #expect(try await station.devices("device_identifier = 'device-2' and reason = 'timeout'") == 0)
        }
    }

    @Test("answers that can't be recorded are told with the reason")
    func unrecorded() async throws {
        let lines = Locked<[String]>([])
        let isTold = Signal()
        let logger = Logger(
            label: "push",
            sink: LogSink(form: .text, level: .info) { line in
                let text = String(decoding: line, as: UTF8.self)
                guard text.contains("push answers were not recorded") else { return }
                lines.withLock { $0.append(text) }
                isTold.fire()
            }
        )
        try await withPushes(logger: logger) { station in
            try await station.database.run(
                """
                create function refuse() returns trigger language plpgsql as
                    $$ begin raise exception 'no' using errcode = '53100'; end $$;
                create trigger refuse before update of outcome on devices for each row execute function refuse();
                """
            )
            try await station.changedOrder("A-1", 1..<2)
            try await withDeadline(Patience.long) { try await isTold.wait() }
            #expect(lines.withLock { $0.first?.contains("53100") } == true, "\(lines.withLock { $0 })")
        }
    }

    @Test("the log tells once that pushes stand still, where and why, and once that they go on")
    func told() async throws {
        let lines = Locked<[String]>([])
        let logger = Logger(
            label: "push",
            sink: LogSink(form: .text, level: .info) { line in
                lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            }
        )
        try await withPushes(policy: .soon, isAway: true, logger: logger) { station in
            try await station.changedOrder("A-1", 1..<51)
            try await station.expectFault("unreachable")
            let fault = try #require(station.worker.faults[try PushStation.type(Samples.shop)])
            #expect("\(fault)".contains("127.0.0.1:\(station.port)"), "\(fault)")
            try await station.withAPNsBack { _ in
                try await station.expect(50, Self.isAtRest)
                try await station.expectFault(nil)
            }
            let text = lines.withLock { $0 }
            let still = text.filter { $0.contains("pushes stand still") }
            #expect(still.count == 1, "\(text)")
            #expect(still.first?.contains("127.0.0.1:\(station.port)") == true, "\(text)")
            #expect(text.filter { $0.contains("pushes go on") }.count == 1, "\(text)")
        }
    }

    @Test("while nothing gets through no ticket grows old, and then all go out")
    func longOutage() async throws {
        try await withPushes(policy: .soon, isAway: true) { station in
            try await station.changedOrder("A-1", 1..<11)
            try await station.expectFault("unreachable")
            // The outage has lasted two days.
            try await station.database.run(
                """
                update devices set first_failed_at = now() - interval '2 days', mark = mark - 172800000000,
                    due_at = now() - interval '1 hour'
                """
            )
            // One more finds the way closed.
            let deadline = MonotonicTime.now() + Patience.long
            let tried = "claim is null and (dead or due_at > now() - interval '30 minutes')"
            var found: Int64 = 0
            repeat { found = try await station.devices(tried) } while found == 0 && MonotonicTime.now() < deadline
            #expect(found > 0)
            try await station.withAPNsBack { _ in
                try await station.expect(10, Self.isAtRest)
            }
        }
    }
}
