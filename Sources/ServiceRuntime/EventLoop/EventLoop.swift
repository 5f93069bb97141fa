// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// One thread that waits on epoll and runs what became ready: sockets, timers and Swift tasks.
///
/// The loop *is* a task executor. A task started with `spawn` or `run` has each of its resumptions on this thread, so a
/// request, its database connection and its answer never change thread, and what is confined to the loop needs no lock.
///
/// Nothing that runs here may block.
@safe
package final class EventLoop: TaskExecutor, @unchecked Sendable {
    // Sendable by rule: `shared` is locked; every other mutable property is touched on the loop's own thread only
    // (`preconditionOnLoop`), but for `owner`, which is written before `init` returns.

    private enum Job {
        case task(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private struct Shared {
        var jobs: [Job] = []
        /// Whether the eventfd was written since the loop last emptied the queue: one wake-up a batch.
        var isWoken = false
        var isStopping = false
    }

    /// The loop's name, which is also its thread's (15 bytes are shown by `ps`).
    package let name: String

    private let epoll: Int32
    private let wakeup: Int32
    private let shared = Locked(Shared())
    private let stopped = Signal()
    private let companions = Locked<[ObjectIdentifier: any Sendable & AnyObject]>([:])
    private var owner: pthread_t = 0
    private var local: [Job] = []
    private var slots: [Watch?] = []
    private var freeSlots: [Int] = []
    private var generation: UInt32 = 0
    private var timers = TimerHeap()
    // Accesses to what is marked can't meet: each is over before anything else of the loop is called.
    @safe @exclusivity(unchecked) private var idleWorkers: [LoopWorker] = []
    private var isEnding = false
    /// Whether the next job that is queued is to be run at once, and that job.
    @safe @exclusivity(unchecked) private var isCatching = false
    @safe @exclusivity(unchecked) private var caught: UnownedJob?
    private var timerSequence: UInt64 = 0

    /// The clock as it was when this turn of the loop began. Read on the loop.
    package var now: MonotonicTime { self.turnBegan }
    // Stored apart: an access to a stored property of another module is checked for meeting another at each time.
    private var turnBegan = MonotonicTime.now()

    /// Makes a loop and starts its thread.
    ///
    /// - Throws: `SystemError` when the kernel gives no descriptor or no thread.
    package init(name: String) throws(SystemError) {
        self.name = name
        self.epoll = epoll_create1(Int32(CLINUX_EPOLL_CLOEXEC))
        if self.epoll < 0 { throw SystemError.last("epoll_create1") }
        self.wakeup = eventfd(0, Int32(CLINUX_EFD_CLOEXEC | CLINUX_EFD_NONBLOCK))
        if self.wakeup < 0 {
            let error = SystemError.last("eventfd")
            close(self.epoll)
            throw error
        }
        var event = unsafe clinux_epoll_event(EPOLLIN.rawValue, UInt64.max)
        unsafe epoll_ctl(self.epoll, EPOLL_CTL_ADD, self.wakeup, &event)

        let started = LoopThread.start(running: self)
        if let error = started.error {
            close(self.epoll)
            close(self.wakeup)
            throw error
        }
        self.owner = started.thread
    }

    deinit {
        close(self.epoll)
        close(self.wakeup)
    }

    // MARK: Where am I

    /// The loop whose thread this is, or nil.
    package static var current: EventLoop? { LoopThread.currentLoop }

    /// The loop that runs every step of the calling task, or nil when there is none.
    ///
    /// Ask this, not `current`, before using across an `await` what is confined to a loop. An actor goes on on the thread
    /// of whoever woke it, be it another's loop, and its next step may be anywhere.
    package static func ofTask(isolation: isolated (any Actor)? = #isolation) -> EventLoop? {
        guard isolation == nil, let loop = self.current else { return nil }
        return unsafe withUnsafeCurrentTask { task in
            unsafe task?.unownedTaskExecutor == loop.asUnownedTaskExecutor() ? loop : nil
        }
    }

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool { pthread_self() == self.owner || LoopThread.currentLoop === self }

    /// Traps when the caller is not on this loop's thread: what is confined to a loop was reached from elsewhere.
    package func preconditionOnLoop(_ file: StaticString = #fileID, _ line: UInt = #line) {
        precondition(self.isCurrent, "must run on event loop \(self.name)", file: file, line: line)
    }

    // MARK: Work

    /// Runs a closure on the loop soon. Any thread may call; from the loop itself it runs later in the same turn.
    package func execute(_ work: @escaping @Sendable () -> Void) {
        self.enqueue(.work(work))
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if self.isCurrent, self.isCatching {
            self.isCatching = false
            self.caught = job
            return
        }
        self.enqueue(.task(job))
    }

    /// Starts a task whose every step runs on this loop, and which nobody awaits.
    ///
    /// Here and in `LoopWorker` are the only places that make an unstructured task: a request that came in over a socket has
    /// no parent to belong to. Its owner must see to its end: cancel it through the returned handle, or let it finish.
    @discardableResult
    package func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await self.onThisThread(body) }
    }

    /// Starts work like `spawn`, but runs it here and now up to its first wait. On the loop only.
    ///
    /// Work that never waits, such as an answer out of memory, is done when this returns, without a turn in the queue. It is
    /// done by a task that has done such work before, if one is free; nothing of that is left but what the task has room for.
    package func begin(_ work: any LoopWork) -> Errand {
        self.preconditionOnLoop()
        let worker = self.idleWorkers.popLast() ?? LoopWorker(self)
        let errand = Errand(worker)
        worker.begin(work)
        return errand
    }

    /// How many tasks wait for work at most; each keeps some KB.
    private static let mostIdleWorkers = 64

    internal var hasRoomForIdleWorker: Bool { !self.isEnding && self.idleWorkers.count < EventLoop.mostIdleWorkers }

    internal func takeBack(_ worker: LoopWorker) { self.idleWorkers.append(worker) }

    /// Does what resumes a task of this loop, and runs the task up to its next wait before this returns.
    internal func runHere(_ resume: () -> Void) {
        self.isCatching = true
        resume()
        self.isCatching = false
        guard let job = self.caught else { return }
        self.caught = nil
        unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }

    /// Runs an async closure with every step on this loop, as part of the caller's task.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async rethrows -> Result {
        try await withTaskExecutorPreference(self) { try await self.onThisThread(body) }
    }

    /// Makes the hop: a non-isolated closure starts where its caller runs, and would reach this loop only after its
    /// first suspension; a concurrent function starts on the task's preferred executor.
    ///
    /// The check comes first for a second reason: Swift 6.3 drops the hop of a function whose first deed is another
    /// async call.
    @concurrent
    private func onThisThread<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async rethrows -> Result {
        self.preconditionOnLoop()
        return try await body()
    }

    private func enqueue(_ job: Job) {
        if self.isCurrent {
            self.local.append(job)
            return
        }
        let mustWake = self.shared.withLock { shared -> Bool in
            shared.jobs.append(job)
            if shared.isWoken { return false }
            shared.isWoken = true
            return true
        }
        if mustWake { self.wake() }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = unsafe write(self.wakeup, &one, 8)
    }

    // MARK: Companions

    /// The one object of a type that goes with this loop; made when it is first asked for, and kept as long as the loop is.
    ///
    /// For what all users of a loop share, such as the memory that they read into. Any thread may ask.
    package func companion<Companion: Sendable & AnyObject>(_ make: () -> Companion) -> Companion {
        self.companions.withLock { companions in
            let key = ObjectIdentifier(Companion.self)
            if let known = companions[key] as? Companion { return known }
            let made = make()
            companions[key] = made
            return made
        }
    }

    // MARK: Descriptors

    /// Adds a descriptor to the loop. On the loop only.
    ///
    /// The loop holds the handler until `unwatch`. Closing the descriptor is the caller's, after `unwatch`.
    package func watch(
        _ descriptor: Int32,
        _ interest: Readiness,
        _ handler: any ReadinessHandler
    ) throws(SystemError) -> Watch {
        self.preconditionOnLoop()
        self.generation &+= 1
        let slot = self.freeSlots.popLast() ?? self.slots.count
        if slot == self.slots.count { self.slots.append(nil) }
        let watch = Watch(
            descriptor: descriptor,
            interest: interest,
            slot: slot,
            generation: self.generation,
            handler: handler
        )
        guard self.control(EPOLL_CTL_ADD, watch) else {
            self.freeSlots.append(slot)
            throw SystemError.last("epoll_ctl")
        }
        self.slots[slot] = watch
        return watch
    }

    /// Changes what a watch is told of. Costs a system call only when it differs.
    package func change(_ watch: Watch, to interest: Readiness) {
        self.preconditionOnLoop()
        guard watch.interest != interest, watch.handler != nil else { return }
        watch.interest = interest
        _ = self.control(EPOLL_CTL_MOD, watch)
    }

    /// Takes a descriptor out of the loop. Events that the kernel has already reported never reach the handler.
    package func unwatch(_ watch: Watch) {
        self.preconditionOnLoop()
        guard watch.handler != nil else { return }
        watch.handler = nil
        self.slots[watch.slot] = nil
        self.freeSlots.append(watch.slot)
        _ = self.control(EPOLL_CTL_DEL, watch)
    }

    private func control(_ operation: Int32, _ watch: Watch) -> Bool {
        var bits: UInt32 = 0
        if watch.interest.contains(.readable) { bits |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
        if watch.interest.contains(.writable) { bits |= EPOLLOUT.rawValue }
        var event = unsafe clinux_epoll_event(bits, UInt64(watch.generation) << 32 | UInt64(UInt32(watch.slot)))
        return unsafe epoll_ctl(self.epoll, operation, watch.descriptor, &event) == 0
    }

    // MARK: Timers

    /// Sets a timer. On the loop only; fires on the loop, never early, late by as much as a turn of the loop takes.
    ///
    /// - Parameter atEnd: what is done instead, on the loop too, when the loop ends before: whoever waits for the timer must
    ///   not wait for ever.
    package func schedule(
        at deadline: MonotonicTime,
        atEnd: (() -> Void)? = nil,
        _ body: @escaping () -> Void
    ) -> Timer {
        self.preconditionOnLoop()
        self.timerSequence &+= 1
        let timer = Timer(deadline: deadline, sequence: self.timerSequence, loop: self, body: body, atEnd: atEnd)
        self.timers.insert(timer)
        return timer
    }

    /// Sets a timer a duration from now. On the loop only.
    package func schedule(
        after duration: Duration,
        atEnd: (() -> Void)? = nil,
        _ body: @escaping () -> Void
    ) -> Timer {
        self.schedule(at: MonotonicTime.now() + duration, atEnd: atEnd, body)
    }

    internal func remove(_ timer: Timer) {
        self.preconditionOnLoop()
        self.timers.remove(timer)
    }

    // MARK: The loop itself

    /// Ends the loop after what is queued has run, and waits for its thread. Descriptors must be unwatched before.
    ///
    /// Timers do not fire any more. A task that sleeps on the loop is woken with `CancellationError`, and what it does then
    /// is still run.
    package func shutdown() async {
        self.shared.withLock { $0.isStopping = true }
        self.wake()
        // Waiting can't be cancelled: the thread must be gone before the loop's memory is.
        await self.stopped.waitUncancelled()
    }

    /// The thread's body.
    internal func runForever() {
        let capacity = 256
        let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
        defer { unsafe events.deallocate() }
        var isStopping = false
        var endings = 0
        while true {
            let timeout: Int32 =
                !self.local.isEmpty || isStopping ? 0 : EventLoop.milliseconds(until: self.timers.first?.deadline)
            let count = unsafe epoll_wait(self.epoll, events, Int32(capacity), timeout)
            self.turnBegan = MonotonicTime.now()
            for index in 0..<max(0, Int(count)) {
                unsafe self.dispatch(events: events[index].events, data: clinux_epoll_data(events + index))
            }
            self.fireTimers()
            self.shared.withLock { shared in
                shared.isWoken = false
                if self.local.isEmpty {
                    swap(&self.local, &shared.jobs)
                } else {
                    self.local.append(contentsOf: shared.jobs)
                    shared.jobs.removeAll(keepingCapacity: true)
                }
                isStopping = shared.isStopping
            }
            if isStopping { self.dismissWorkers() }
            self.runJobs()
            if isStopping, self.local.isEmpty, self.shared.withLock({ $0.jobs.isEmpty }) {
                // Who is woken may sleep once more, but one that does nothing else can't hold up the end.
                let hasWoken = self.endTimers()
                endings += 1
                if !hasWoken || endings == EventLoop.mostEndings { break }
            }
        }
        self.stopped.fire()
    }

    /// Ends the tasks that wait for work, and lets no other wait.
    private func dismissWorkers() {
        self.isEnding = true
        for worker in self.idleWorkers { worker.dismiss() }
        self.idleWorkers = []
    }

    /// How often those are woken who still sleep when the loop ends.
    private static let mostEndings = 16

    /// Takes back all timers and tells those who wait for them.
    ///
    /// - Returns: whether anybody was told.
    private func endTimers() -> Bool {
        var hasTold = false
        for timer in self.timers.removeAll() {
            let atEnd = timer.atEnd
            timer.body = nil
            timer.atEnd = nil
            guard let atEnd else { continue }
            atEnd()
            hasTold = true
        }
        return hasTold
    }

    private static func milliseconds(until deadline: MonotonicTime?) -> Int32 {
        guard let deadline else { return -1 }
        let left = deadline.nanoseconds &- MonotonicTime.now().nanoseconds
        if left <= 0 { return 0 }
        // Rounded up, or the last millisecond would be spent spinning.
        return Int32(clamping: min(left / 1_000_000 + 1, 3_600_000))
    }

    private func dispatch(events: UInt32, data: UInt64) {
        if data == UInt64.max {
            var count: UInt64 = 0
            _ = unsafe read(self.wakeup, &count, 8)
            return
        }
        let slot = Int(data & 0xffff_ffff)
        let generation = UInt32(truncatingIfNeeded: data >> 32)
        // A handler earlier in this batch may have closed the descriptor, and another may have taken its slot.
        guard slot < self.slots.count, let watch = self.slots[slot], watch.generation == generation,
            let handler = watch.handler
        else { return }
        var readiness: Readiness = []
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { readiness.insert(.readable) }
        if events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { readiness.insert(.hangup) }
        handler.ready(readiness)
    }

    private func fireTimers() {
        while let timer = self.timers.first, timer.deadline <= self.now {
            self.timers.remove(timer)
            let body = timer.body
            timer.body = nil
            timer.atEnd = nil
            body?()
        }
    }

    /// Runs queued jobs, and those that they queue, a bounded number before sockets get their turn again.
    private func runJobs() {
        var budget = 4_096
        var batch: [Job] = []
        while !self.local.isEmpty, budget > 0 {
            swap(&batch, &self.local)
            budget -= batch.count
            for job in batch {
                switch job {
                case .task(let job): unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
                case .work(let work): work()
                }
            }
            batch.removeAll(keepingCapacity: true)
        }
    }
}
