// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ServiceRuntime

@Suite("A service group")
struct ServiceGroupTests {
    struct Recorder: Service {
        let name: String
        let events: Locked<[String]>
        let started: Signal
        var heedsShutdown = true
        var failsAtOnce = false

        func run(shutdown: Signal) async throws {
            self.events.withLock { $0.append("start \(self.name)") }
            self.started.fire()
            if self.failsAtOnce { throw Failure() }
            if self.heedsShutdown {
                try await shutdown.wait()
            } else {
                do { try await sleep(for: .seconds(600)) } catch {
                    self.events.withLock { $0.append("cancelled \(self.name)") }
                    throw error
                }
            }
            self.events.withLock { $0.append("end \(self.name)") }
        }
    }
    struct Failure: Error {}

    static let silent = Logger(label: "test", sink: LogSink(form: .json, output: { _ in }))

    @Test("ends its services in the reverse order of their start")
    func reverseOrder() async throws {
        let events = Locked<[String]>([])
        let signals = [Signal(), Signal(), Signal()]
        let services = zip(["a", "b", "c"], signals).map { Recorder(name: $0, events: events, started: $1) }
        let group = ServiceGroup(services, logger: Self.silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for signal in signals { try await signal.wait() }
            group.stop()
            try await tasks.waitForAll()
        }
        #expect(events.withLock { $0 }.filter { $0.hasPrefix("end") } == ["end c", "end b", "end a"])
    }

    @Test("cancels a service that does not drain in time, and ends the others")
    func cancelsTheSlow() async throws {
        let events = Locked<[String]>([])
        let signals = [Signal(), Signal()]
        let good = Recorder(name: "good", events: events, started: signals[0])
        let slow = Recorder(name: "slow", events: events, started: signals[1], heedsShutdown: false)
        let group = ServiceGroup([good, slow], drain: .milliseconds(30), logger: Self.silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for signal in signals { try await signal.wait() }
            group.stop()
            try await tasks.waitForAll()
        }
        #expect(Array(events.withLock { $0 }.suffix(2)) == ["cancelled slow", "end good"])
    }

    /// Heeds neither shutdown nor cancellation.
    struct Stubborn: Service {
        let name = "stubborn"
        let started: Signal
        let release: Signal

        func run(shutdown: Signal) async throws {
            self.started.fire()
            await self.release.waitUncancelled()
        }
    }

    @Test("a service that heeds nothing does not hold up those that were started before it")
    func stubborn() async throws {
        let events = Locked<[String]>([])
        let (started, release, ended) = ([Signal(), Signal()], Signal(), Signal())
        struct Watched: Service {
            let name = "watched"
            let inner: Recorder
            let ended: Signal
            func run(shutdown: Signal) async throws {
                try await self.inner.run(shutdown: shutdown)
                self.ended.fire()
            }
        }
        let good = Watched(inner: Recorder(name: "good", events: events, started: started[0]), ended: ended)
        let services: [any Service] = [good, Stubborn(started: started[1], release: release)]
        let group = ServiceGroup(services, drain: .milliseconds(30), logger: Self.silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for signal in started { try await signal.wait() }
            group.stop()
            try await withDeadline(Patience.long) { try await ended.wait() }
            #expect(!release.isFired)
            release.fire()
            try await tasks.waitForAll()
        }
        #expect(events.withLock { $0 } == ["start good", "end good"])
    }

    /// Ends once others were told to end as well.
    struct Companion: Service {
        let name: String
        let endsWithNeighbours = true
        let told: Locked<Int>
        let allTold: Signal
        let started: Signal

        func run(shutdown: Signal) async throws {
            self.started.fire()
            try await shutdown.wait()
            let count = self.told.withLock { told in
                told += 1
                return told
            }
            if count == 3 { self.allTold.fire() }
            try await self.allTold.wait()
        }
    }

    @Test("services that need not each other drain together, after those that need them and before those they need")
    func together() async throws {
        let events = Locked<[String]>([])
        let signals = (0..<5).map { _ in Signal() }
        let (told, allTold) = (Locked(0), Signal())
        var services: [any Service] = (1...3).map {
            Companion(name: "c\($0)", told: told, allTold: allTold, started: signals[$0])
        }
        let first = Recorder(name: "first", events: events, started: signals[0])
        let last = Recorder(name: "last", events: events, started: signals[4])
        services.insert(first, at: 0)
        services.append(last)
        // One after the other, each would wait for the next until it is cut off.
        let group = ServiceGroup(services, drain: .seconds(100_000), logger: Self.silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for signal in signals { try await signal.wait() }
            group.stop()
            try await tasks.waitForAll()
        }
        #expect(told.withLock { $0 } == 3)
        #expect(events.withLock { $0 }.filter { $0.hasPrefix("end") } == ["end last", "end first"])
    }

    @Test("each stage may take a part of what is left of one time, and never nothing")
    func share() {
        let now = MonotonicTime.now()
        #expect(ServiceGroup.share(2, of: now + .seconds(9), at: now) == .seconds(6))
        #expect(ServiceGroup.share(1, of: now + .seconds(3), at: now) == .seconds(1))
        for end in [now + .milliseconds(100), now, now + .seconds(-5)] {
            #expect(ServiceGroup.share(2, of: end, at: now) == .milliseconds(250))
        }
    }

    @Test("ends when one service fails, and throws its error")
    func failureEndsAll() async throws {
        let events = Locked<[String]>([])
        let good = Recorder(name: "good", events: events, started: Signal())
        let bad = Recorder(name: "bad", events: events, started: Signal(), failsAtOnce: true)
        await #expect(throws: Failure.self) {
            try await ServiceGroup([good, bad], logger: Self.silent).run()
        }
        #expect(events.withLock { $0 }.contains("end good"))
    }
}
