// SPDX-License-Identifier: Apache-2.0

/// What a loop is asked to do, and nobody awaits.
package protocol LoopWork: AnyObject, Sendable {
    /// Does it. Each step runs on the loop's thread.
    func run() async
}

/// Work that was begun on a loop, to be called off by whoever owns it.
package struct Errand: Sendable {
    private let worker: LoopWorker
    private let number: UInt64

    internal init(_ worker: LoopWorker) {
        self.worker = worker
        self.number = worker.number
    }

    /// Cancels the work, if it isn't done yet. On the loop only.
    package func cancel() { self.worker.cancel(self.number) }
}

/// A task that does one errand after the other: to make a task and to tear it down costs more than many an answer.
@safe
internal final class LoopWorker: @unchecked Sendable {
    // Sendable by rule: touched on its loop only. Nor can an access here meet another of the same property, so the runtime
    // need not look.

    /// Counts errands; raised when one is done.
    @safe @exclusivity(unchecked) private(set) var number: UInt64 = 0
    private unowned let loop: EventLoop
    @safe @exclusivity(unchecked) private var work: (any LoopWork)?
    @safe @exclusivity(unchecked) private var waiting: UnsafeContinuation<Void, Never>?
    private var task: Task<Void, Never>?
    /// Whether its task was cancelled.
    private var isSpent = false

    init(_ loop: EventLoop) { self.loop = loop }

    /// Does work up to its first wait, before this returns.
    func begin(_ work: any LoopWork) {
        self.work = work
        if let waiting = self.waiting {
            self.waiting = nil
            self.loop.runHere { unsafe waiting.resume() }
        } else {
            self.task = Task.immediateDetached(executorPreference: self.loop) { await self.run() }
        }
    }

    /// Lets a worker that has nothing to do go.
    func dismiss() {
        guard let waiting = self.waiting else { return }
        self.waiting = nil
        unsafe waiting.resume()
    }

    /// Cancels an errand. The task is cancelled with it, and takes no other.
    func cancel(_ number: UInt64) {
        self.loop.preconditionOnLoop()
        guard number == self.number else { return }
        self.isSpent = true
        self.task?.cancel()
    }

    // Concurrent, so that it is nobody's isolation that it keeps: less is looked up at each wait.
    @concurrent
    private func run() async {
        while true {
            do {
                // What was done is let go of here: over the wait for the next it would be kept, and all that it holds.
                guard let work = self.work.take() else { return }
                await work.run()
            }
            self.number &+= 1
            if self.isSpent || !self.loop.hasRoomForIdleWorker { return }
            unsafe await withUnsafeContinuation { continuation in
                unsafe self.waiting = continuation
                self.loop.takeBack(self)
            }
        }
    }
}
