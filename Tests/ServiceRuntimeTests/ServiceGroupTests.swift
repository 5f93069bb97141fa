// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

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
