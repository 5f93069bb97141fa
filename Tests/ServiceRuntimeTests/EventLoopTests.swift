// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@Suite("The event loop")
struct EventLoopTests {
    @Test("runs every step of a task on its own thread")
    func tasksStayOnTheLoop() async throws {
        let loop = try EventLoop(name: "test")
        let other = try EventLoop(name: "other")
        let places = await loop.run {
            var places = [loop.isCurrent]
            for _ in 0..<20 {
                await Task.yield()
                places.append(loop.isCurrent)
                let there = await other.run { other.isCurrent && !loop.isCurrent }
                places.append(there && loop.isCurrent)
            }
            return places
        }
        #expect(places.allSatisfy { $0 })
        await loop.shutdown()
        await other.shutdown()
    }

    @Test("fires timers in the order of their deadlines, and cancelled ones never")
    func timersFireInOrder() async throws {
        let loop = try EventLoop(name: "test")
        let fired = await loop.run {
            let fired = Locked<[Int]>([])
            let done = Signal()
            // All from one moment: a pause between two of these lines must not change their order.
            let start = MonotonicTime.now()
            for (number, milliseconds) in [(3, 30), (1, 10), (2, 20), (4, 30)] {
                _ = loop.schedule(at: start + .milliseconds(milliseconds)) { fired.withLock { $0.append(number) } }
            }
            let timers = (0..<100).map { index in
                loop.schedule(at: start + .milliseconds(5 + index % 7)) { fired.withLock { $0.append(-1) } }
            }
            for timer in timers.shuffled() { timer.cancel() }
            _ = loop.schedule(at: start + .milliseconds(35)) { done.fire() }
            do { try await done.wait() } catch {}
            return fired.withLock { $0 }
        }
        #expect(fired == [1, 2, 3, 4])
        await loop.shutdown()
    }

    /// Counts what it is told, and takes the other handler's watch away when told first.
    private final class Reader: ReadinessHandler {
        let loop: EventLoop
        var watch: Watch?
        var other: Reader?
        var count = 0
        let told: Signal
        init(loop: EventLoop, told: Signal) {
            self.loop = loop
            self.told = told
        }
        func ready(_ readiness: Readiness) {
            self.count += 1
            if let watch = self.other?.watch { self.loop.unwatch(watch) }
            if let watch = self.watch { self.loop.unwatch(watch) }
            self.told.fire()
        }
    }

    @Test("wakes who sleeps when it ends, and what is done then is still run")
    func endOfSleep() async throws {
        let loop = try EventLoop(name: "test")
        let woken = Locked<[String]>([])
        await loop.run {
            loop.spawn {
                do {
                    try await sleep(for: .seconds(3_600))
                    woken.withLock { $0.append("slept to the end") }
                } catch {
                    await Task.yield()
                    woken.withLock { $0.append("sleep") }
                }
            }
            loop.spawn {
                do {
                    try await withDeadline(.seconds(3_600)) { try await sleep(for: .seconds(7_200)) }
                    woken.withLock { $0.append("slept to the end") }
                } catch {
                    woken.withLock { $0.append(error is CancellationError ? "deadline" : "\(error)") }
                }
            }
            // So that both are asleep.
            await Task.yield()
        }
        await loop.shutdown()
        #expect(woken.withLock { $0.sorted() } == ["deadline", "sleep"])
    }

    @Test("ends though somebody goes to sleep again whenever it is woken")
    func endOfRestlessSleep() async throws {
        let loop = try EventLoop(name: "test")
        let rounds = Locked(0)
        let isOver = Locked(false)
        await loop.run {
            loop.spawn {
                while !isOver.withLock({ $0 }) {
                    do { try await sleep(for: .seconds(3_600)) } catch { rounds.withLock { $0 += 1 } }
                }
            }
            await Task.yield()
        }
        await loop.shutdown()
        isOver.withLock { $0 = true }
        #expect(rounds.withLock { $0 } >= 1)
    }

    @Test("never tells a handler that was unwatched earlier in the same batch")
    func staleEventsAreDropped() async throws {
        let loop = try EventLoop(name: "test")
        let total = try await loop.run {
            var pipes: [(Int32, Int32)] = []
            for _ in 0..<2 {
                var ends: [Int32] = [0, 0]
                try #require(unsafe pipe(&ends) == 0)
                pipes.append((ends[0], ends[1]))
            }
            let told = Signal()
            let first = Reader(loop: loop, told: told)
            let second = Reader(loop: loop, told: told)
            first.other = second
            second.other = first
            first.watch = try loop.watch(pipes[0].0, .readable, first)
            second.watch = try loop.watch(pipes[1].0, .readable, second)
            for (_, end) in pipes { _ = unsafe write(end, "x", 1) }
            try await told.wait()
            await Task.yield()
            try await sleep(for: .milliseconds(10))
            let total = first.count + second.count
            first.other = nil
            second.other = nil
            for (a, b) in pipes {
                close(a)
                close(b)
            }
            return total
        }
        #expect(total == 1)
        await loop.shutdown()
    }

    @Test("takes work from many threads and loses none")
    func workFromManyThreads() async throws {
        let loop = try EventLoop(name: "test")
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    for _ in 0..<1_000 { loop.execute { count.withLock { $0 += 1 } } }
                }
            }
        }
        await loop.shutdown()
        #expect(count.withLock { $0 } == 16_000)
    }

    @Test("cancels what does not end before its deadline")
    func deadlines() async throws {
        let loop = try EventLoop(name: "test")
        await #expect(throws: DeadlineExceeded.self) {
            try await loop.run {
                try await withDeadline(.milliseconds(20)) { try await sleep(for: .seconds(60)) }
            }
        }
        let quick = try await loop.run { try await withDeadline(Patience.long) { 7 } }
        #expect(quick == 7)
        await loop.shutdown()
    }

    @Test("wakes all who wait for a signal, and those who are cancelled leave")
    func signals() async throws {
        let signal = Signal()
        let cancelled = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do { try await signal.wait() } catch { return true }; return false
                }
            }
            let lost = Task {
                do { try await signal.wait() } catch { return true }; return false
            }
            lost.cancel()
            let wasCancelled = await lost.value
            signal.fire()
            for await result in group where result { return false }
            return wasCancelled
        }
        #expect(cancelled)
        try await signal.wait()
    }

    /// Whatever thread it goes on on, its steps are nobody's loop's.
    private actor Bystander {
        func home() async -> String? {
            await Task.yield()
            return EventLoop.ofTask()?.name
        }
        func home(after loop: EventLoop) async -> String? {
            await loop.run { await Task.yield() }
            return EventLoop.ofTask()?.name
        }
    }

    private static func home() async -> String? {
        await Task.yield()
        return EventLoop.ofTask()?.name
    }

    @Test("A task's loop is the one that it was started on, and an actor has none")
    func loopOfTask() async throws {
        let group = try EventLoopGroup(count: 2, name: "home")
        let (first, second) = (group.loops[0], group.loops[1])
        #expect(await Self.home() == nil)
        #expect(await first.run { await Self.home() } == first.name)
        #expect(await first.run { await second.run { await Self.home() } } == second.name)
        let afterwards = await first.run {
            await second.run { await Task.yield() }
            return EventLoop.ofTask()?.name
        }
        #expect(afterwards == first.name)
        let bystander = Bystander()
        #expect(await bystander.home() == nil)
        #expect(await first.run { await bystander.home() } == nil)
        #expect(await first.run { await bystander.home(after: second) } == nil)
        // A job of the loop that belongs to no task has no step to come.
        let none = await withCheckedContinuation { continuation in
            first.execute { continuation.resume(returning: EventLoop.ofTask()?.name == nil && first.isCurrent) }
        }
        #expect(none)
        await group.shutdown()
    }

    private static func threadTime() -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test("A cancelled task waits for a loop's end without keeping its thread busy")
    func shutdownWhenCancelled() async throws {
        let waiting = try EventLoop(name: "waiting")
        let ending = try EventLoop(name: "ending")
        ending.execute { usleep(500_000) }
        let spent = await waiting.run {
            await withTaskGroup(of: Duration.self) { group in
                group.cancelAll()
                group.addTask {
                    let start = Self.threadTime()
                    await ending.shutdown()
                    return Self.threadTime() - start
                }
                return await group.next() ?? .seconds(1)
            }
        }
        #expect(spent < .milliseconds(50) * Patience.factor)
        await waiting.shutdown()
    }

    @Test("Waiting uncancelled ends with the event and not with the task", arguments: [true, false])
    func waitUncancelled(_ isFiredBefore: Bool) async throws {
        let signal = Signal()
        if isFiredBefore { signal.fire() }
        await withTaskGroup(of: Bool.self) { group in
            group.cancelAll()
            group.addTask {
                await signal.waitUncancelled()
                return signal.isFired
            }
            try? await Task.sleep(for: .milliseconds(20))
            signal.fire()
            #expect(await group.next() == true)
        }
    }
}
