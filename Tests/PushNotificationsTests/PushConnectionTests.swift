// SPDX-License-Identifier: Apache-2.0
import HTTPEngine
import OrderModel
import OrderStore
import PushNotifications
import ServiceRuntime
import Simulators
import StoreTestSupport
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
        control.decide { request, _ in request.headers["apns-topic"] == Samples.shop ? .withhold : .serve }
        var deadlines = PushDeadlines()
        deadlines.answer = .milliseconds(200)
        var policy = RetryPolicy()
        policy.longest = .seconds(1)
        try await withPushes(control: control, policy: policy, deadlines: deadlines) { station in
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
        var policy = RetryPolicy()
        policy.longest = .seconds(1)
        try await withPushes(policy: policy, isAway: true) { station in
            try await station.changedOrder("A-1", 1..<51)
            try await station.expectFault("unreachable")
            let loops = try EventLoopGroup(count: 1, name: "back")
            let simulator = try PushStation.simulator(port: station.port, control: HTTP2Control(), loops: loops)
            let stop = Signal()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await simulator.run(shutdown: stop) }
                try await station.expect(50, Self.isAtRest)
                #expect(simulator.total == 50)
                stop.fire()
                try await group.waitForAll()
            }
            await loops.shutdown()
            try await station.expectFault(nil)
        }
    }

    @Test("a worker that is to stop hands back at once what has no answer, the try not counted")
    func shutdown() async throws {
        let control = HTTP2Control()
        let isUnderWay = Signal()
        control.decide { request, _ in
            if request.path == "/3/device/1" { return .serve }
            isUnderWay.fire()
            return .withhold
        }
        var deadlines = PushDeadlines()
        deadlines.answer = .seconds(3_600)
        try await withPushes(control: control, deadlines: deadlines) { station in
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
}
