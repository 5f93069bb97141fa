// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ServiceRuntime

@Suite("Errands of a loop")
struct ErrandTests {
    /// Work that is a closure, and what became of it.
    private final class Work: LoopWork {
        /// The task that did it.
        let task = Locked<Int?>(nil)
        /// How it ended: "done" or "cancelled".
        let end = Locked<String?>(nil)
        private let body: @Sendable () async throws -> Void

        init(_ body: @escaping @Sendable () async throws -> Void = {}) { self.body = body }

        func run() async {
            let task = unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
            self.task.withLock { $0 = task }
            let end: String
            do {
                try await self.body()
                end = Task.isCancelled ? "cancelled" : "done"
            } catch { end = "cancelled" }
            self.end.withLock { $0 = end }
        }

        var ended: String? { self.end.withLock { $0 } }
        var doer: Int? { self.task.withLock { $0 } }
    }

    private func withLoop(_ body: @escaping @Sendable (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(name: "test")
        let failure = await loop.run { () -> (any Error)? in
            do {
                try await body(loop)
                return nil
            } catch { return error }
        }
        await loop.shutdown()
        if let failure { throw failure }
    }

    private static func wait(_ isOver: () -> Bool) async throws {
        let end = MonotonicTime.now() + Patience.long
        while !isOver() {
            try #require(MonotonicTime.now() < end)
            try await sleep(for: .milliseconds(1))
        }
    }

    @Test func `work that never waits is done at once, by one task for all of it`() async throws {
        try await self.withLoop { loop in
            var doers: Set<Int> = []
            for _ in 0..<100 {
                let work = Work { #expect(loop.isCurrent) }
                _ = loop.begin(work)
                #expect(work.ended == "done")
                doers.insert(try #require(work.doer))
            }
            #expect(doers.count == 1)
        }
    }

    @Test func `work that waits goes on on the loop, whoever wakes it, and the loop does other work meanwhile`()
        async throws
    {
        let other = try EventLoop(name: "other")
        try await self.withLoop { loop in
            let works = (0..<1_000).map { number in
                Work {
                    await other.run { #expect(other.isCurrent) }
                    #expect(loop.isCurrent && EventLoop.ofTask() === loop)
                    if number % 2 == 0 { try await sleep(for: .milliseconds(1)) }
                    await Task.yield()
                    #expect(loop.isCurrent && EventLoop.ofTask() === loop)
                }
            }
            for work in works { _ = loop.begin(work) }
            #expect(works.allSatisfy { $0.ended == nil })
            #expect(Set(works.map(\.doer)).count == 1_000)
            let quick = Work()
            _ = loop.begin(quick)
            #expect(quick.ended == "done")
            try await Self.wait { works.allSatisfy { $0.ended == "done" } }
        }
        await other.shutdown()
    }

    @Test func `work within work is done by another task, and both are used again`() async throws {
        try await self.withLoop { loop in
            for _ in 0..<10 {
                let inner = Work()
                let outer = Work {
                    _ = loop.begin(inner)
                    #expect(inner.ended == "done")
                }
                _ = loop.begin(outer)
                #expect(outer.ended == "done" && inner.doer != outer.doer)
            }
        }
    }

    @Test func `cancelled work hears of it, and nothing that comes after does`() async throws {
        try await self.withLoop { loop in
            let works = (0..<3).map { _ in Work { try await sleep(for: .seconds(3_600)) } }
            let errands = works.map { loop.begin($0) }
            errands[1].cancel()
            try await Self.wait { works[1].ended != nil }
            #expect(works.map(\.ended) == [nil, "cancelled", nil])
            for _ in 0..<10 {
                let next = Work()
                _ = loop.begin(next)
                #expect(next.ended == "done")
                let waiting = Work { try await sleep(for: .milliseconds(1)) }
                let errand = loop.begin(waiting)
                // Of work that is done: it must not reach what its task does now.
                errands[1].cancel()
                try await Self.wait { waiting.ended != nil }
                #expect(waiting.ended == "done")
                errand.cancel()
            }
            for errand in errands { errand.cancel() }
            try await Self.wait { works.allSatisfy { $0.ended == "cancelled" } }
        }
    }

    @Test func `a loop ends with tasks that wait for work, and with work that goes on`() async throws {
        let loop = try EventLoop(name: "test")
        let works = (0..<200).map { _ in Work { await Task.yield() } }
        let long = (0..<200).map { _ in Work { try await sleep(for: .seconds(3_600)) } }
        try await loop.run {
            for work in works { _ = loop.begin(work) }
            try await Self.wait { works.allSatisfy { $0.ended == "done" } }
            for work in long { _ = loop.begin(work) }
        }
        await loop.shutdown()
        // Sleepers are woken, and what they do then is still run.
        #expect(long.allSatisfy { $0.ended == "cancelled" })
    }

    @Test func `what is done is let go of, while its task waits for the next`() async throws {
        try await self.withLoop { loop in
            for isWaiting in [false, true] {
                weak var gone: Work?
                do {
                    let work = Work { if isWaiting { try await sleep(for: .milliseconds(1)) } }
                    gone = work
                    _ = loop.begin(work)
                    try await Self.wait { work.ended != nil }
                }
                try await Self.wait { gone == nil }
            }
        }
    }

    @Test func `no more tasks wait for work than are bounded`() async throws {
        try await self.withLoop { loop in
            let works = (0..<200).map { _ in Work { await Task.yield() } }
            for work in works {
                _ = loop.begin(work)
                #expect(loop.hasRoomForIdleWorker)
            }
            try await Self.wait { works.allSatisfy { $0.ended == "done" } }
            #expect(!loop.hasRoomForIdleWorker)
        }
    }

    @Test func `a loop that is let go is freed, and so are its tasks`() async throws {
        weak var gone: EventLoop?
        do {
            let loop = try EventLoop(name: "test")
            gone = loop
            await loop.run {
                for _ in 0..<10 { _ = loop.begin(Work { await Task.yield() }) }
            }
            await loop.shutdown()
        }
        try await Self.wait { gone == nil }
    }
}
