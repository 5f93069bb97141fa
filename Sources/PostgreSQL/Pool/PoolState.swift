// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// What a pool decides: who gets which connection, when to open another, when to give up. No I/O, no clock.
///
/// Connections and waiters are numbers; the shell (`ConnectionPool`) knows what stands behind them.
internal struct PoolState: Sendable {
    /// The answer to a caller who wants a connection.
    enum Acquisition: Sendable, Equatable {
        case lease(Int)
        /// Wait in line; `connect` asks for another connection to be opened.
        case wait(connect: Bool)
        /// Too many wait already.
        case crowded
        case closed
    }

    /// The answer to a caller who gives one back.
    enum Release: Sendable, Equatable {
        case idle
        case hand(to: Int)
        /// Close it; `connect` asks for one in its place.
        case close(connect: Bool)
        /// Close it, and hand over another that lay idle: its holder's leaving lets someone have that.
        case closeAndHand(Int, to: Int)
    }

    /// What to do with a new connection.
    enum Arrival: Sendable, Equatable {
        case idle
        /// Give it to the first who waits; `connects` more are worth opening.
        case hand(to: Int, connects: Int)
        case close
    }

    /// What a connection was doing when it ended by itself.
    enum Death: Sendable, Equatable {
        /// It lay idle; `connect` asks for one in its place.
        case idle(connect: Bool)
        /// Its holder will give it back.
        case leased
    }

    /// What a connection is wanted for.
    enum Purpose: Sendable {
        /// Something that waits for nobody.
        case read
        /// Something that may wait for locks, and would keep its connection meanwhile.
        case change
    }

    private struct Waiter: Sendable {
        var number: Int
        var deadline: MonotonicTime
    }

    /// Those who wait for one purpose, in the order of their coming, which is that of their numbers.
    private struct Line: Sendable {
        private var waiters: [Waiter] = []
        /// Where the line begins; what is before has left it.
        private var head = 0

        var count: Int { self.waiters.count - self.head }
        var first: Waiter? { self.head < self.waiters.count ? self.waiters[self.head] : nil }
        var numbers: [Int] { self.waiters[self.head...].map(\.number) }
        var earliest: MonotonicTime? { self.waiters[self.head...].map(\.deadline).min() }

        mutating func append(_ waiter: Waiter) { self.waiters.append(waiter) }

        mutating func removeFirst() {
            self.head += 1
            if self.head == self.waiters.count || self.head > 512 {
                self.waiters.removeFirst(self.head)
                self.head = 0
            }
        }

        /// Takes one out of the middle; false when it is not here.
        mutating func remove(_ number: Int) -> Bool {
            var (low, high) = (self.head, self.waiters.count)
            while low < high {
                let middle = (low + high) / 2
                if self.waiters[middle].number < number { low = middle + 1 } else { high = middle }
            }
            guard low < self.waiters.count, self.waiters[low].number == number else { return false }
            self.waiters.remove(at: low)
            return true
        }

        mutating func removeExpired(_ now: MonotonicTime) -> [Int] {
            let expired = self.waiters[self.head...].filter { $0.deadline <= now }.map(\.number)
            if !expired.isEmpty {
                self.waiters = self.waiters[self.head...].filter { $0.deadline > now }
                self.head = 0
            }
            return expired
        }
    }

    let limit: Int
    /// How many may be in use for changes: one is kept for reads, where there is more than one.
    let changeLimit: Int
    let waiterLimit: Int

    /// Last in, first out: the others may grow old.
    private var idle: [Int] = []
    private var leased: [Int: Purpose] = [:]
    private var changes = 0
    /// Leased connections that must not come back.
    private var stale: Set<Int> = []
    private var connecting = 0
    /// Two lines, so that neither is searched for whom the other one's limit does not hold up.
    private var reads = Line()
    private var writes = Line()
    /// When the next one's time is over, or before: who has left may have been the first. nil when nobody waits.
    private(set) var nextExpiry: MonotonicTime?
    private var failures = 0
    private var notBefore = MonotonicTime(nanoseconds: 0)
    private(set) var isClosed = false

    init(limit: Int, waiterLimit: Int) {
        self.limit = max(1, limit)
        self.changeLimit = max(1, limit - 1)
        self.waiterLimit = waiterLimit
    }

    var idleCount: Int { self.idle.count }
    var leasedCount: Int { self.leased.count }
    var connectingCount: Int { self.connecting }
    var waiterCount: Int { self.reads.count + self.writes.count }
    var total: Int { self.idle.count + self.leased.count + self.connecting }
    /// Whether a closed pool has nothing left.
    var isDrained: Bool { self.isClosed && self.total == 0 }

    // MARK: Callers

    mutating func acquire(
        waiter: Int,
        for purpose: Purpose = .read,
        deadline: MonotonicTime,
        now: MonotonicTime
    ) -> Acquisition {
        if self.isClosed { return .closed }
        if self.admits(purpose), let connection = self.idle.popLast() {
            self.lease(connection, purpose)
            return .lease(connection)
        }
        if self.waiterCount >= self.waiterLimit { return .crowded }
        switch purpose {
        case .read: self.reads.append(Waiter(number: waiter, deadline: deadline))
        case .change: self.writes.append(Waiter(number: waiter, deadline: deadline))
        }
        self.nextExpiry = min(self.nextExpiry ?? deadline, deadline)
        return .wait(connect: self.startConnect(now: now))
    }

    private func admits(_ purpose: Purpose) -> Bool { purpose == .read || self.changes < self.changeLimit }

    private mutating func lease(_ connection: Int, _ purpose: Purpose) {
        self.leased[connection] = purpose
        if purpose == .change { self.changes += 1 }
    }

    mutating func release(_ connection: Int, isReusable: Bool, now: MonotonicTime) -> Release {
        if self.leased.removeValue(forKey: connection) == .change { self.changes -= 1 }
        let isStale = self.stale.remove(connection) != nil
        if self.isClosed { return .close(connect: false) }
        guard isReusable, !isStale else {
            // A change that came back may have been all that kept another from an idle connection.
            if let other = self.idle.last, let waiter = self.leaseToNextWaiter(other) {
                self.idle.removeLast()
                return .closeAndHand(other, to: waiter)
            }
            return .close(connect: self.startConnect(now: now))
        }
        if let waiter = self.leaseToNextWaiter(connection) { return .hand(to: waiter) }
        self.idle.append(connection)
        return .idle
    }

    /// A waiter's task was cancelled. False when it is not in the line any more: it has its connection already.
    mutating func leave(waiter: Int) -> Bool { self.reads.remove(waiter) || self.writes.remove(waiter) }

    /// Takes those out of the line whose time is over.
    mutating func expire(now: MonotonicTime) -> [Int] {
        let expired = (self.reads.removeExpired(now) + self.writes.removeExpired(now)).sorted()
        self.nextExpiry = [self.reads.earliest, self.writes.earliest].compactMap { $0 }.min()
        return expired
    }

    /// Everyone who waits, taken out: they would wait for what does not come.
    mutating func takeWaiters() -> [Int] {
        defer {
            self.reads = Line()
            self.writes = Line()
            self.nextExpiry = nil
        }
        return (self.reads.numbers + self.writes.numbers).sorted()
    }

    /// Leases a connection to the first who may have one now, and takes him out of the line; nil when there is none.
    private mutating func leaseToNextWaiter(_ connection: Int) -> Int? {
        let read = self.reads.first
        let write = self.admits(.change) ? self.writes.first : nil
        if let write, read.map({ write.number < $0.number }) ?? true {
            self.writes.removeFirst()
            self.lease(connection, .change)
            return write.number
        }
        guard let read else { return nil }
        self.reads.removeFirst()
        self.lease(connection, .read)
        return read.number
    }

    // MARK: Connections

    mutating func connected(_ connection: Int, now: MonotonicTime) -> Arrival {
        self.connecting -= 1
        self.failures = 0
        if self.isClosed { return .close }
        guard let waiter = self.leaseToNextWaiter(connection) else {
            self.idle.append(connection)
            return .idle
        }
        // While the server was away, one probe stood for all.
        var connects = 0
        while self.startConnect(now: now) { connects += 1 }
        return .hand(to: waiter, connects: connects)
    }

    /// An attempt failed. The next one waits: 25 ms, doubling to 1 s, less up to half of it by chance.
    ///
    /// - Parameter jitter: from 0 to 1.
    mutating func connectFailed(now: MonotonicTime, jitter: Double) {
        self.connecting -= 1
        self.failures += 1
        let full = min(1_000.0, 25.0 * Double(1 << min(self.failures - 1, 10)))
        self.notBefore = now + .milliseconds(Int64(full * (0.5 + 0.5 * min(1, max(0, jitter)))))
    }

    /// When to try again: nil unless someone waits and no attempt is under way.
    var retryAt: MonotonicTime? {
        self.failures > 0 && self.connecting == 0 && self.total < self.limit && !self.isClosed && self.servable > 0
            ? self.notBefore : nil
    }

    /// Whether to open a connection now that the time to try again has come.
    mutating func retry(now: MonotonicTime) -> Bool { self.startConnect(now: now) }

    /// A connection ended by itself. A leased one stays counted until it is given back.
    mutating func died(_ connection: Int, now: MonotonicTime) -> Death {
        guard let index = self.idle.firstIndex(of: connection) else { return .leased }
        self.idle.remove(at: index)
        return .idle(connect: self.startConnect(now: now))
    }

    /// Nothing that is open now is to be used again: those to close at once.
    mutating func dropAll() -> [Int] {
        self.stale.formUnion(self.leased.keys)
        defer { self.idle = [] }
        return self.idle
    }

    /// No more callers: those to close at once. Leased ones are closed as they come back.
    mutating func close() -> [Int] {
        self.isClosed = true
        return self.dropAll()
    }

    /// How many of those who wait would be given a connection if there were one for each.
    private var servable: Int {
        self.reads.count + min(self.writes.count, max(0, self.changeLimit - self.changes))
    }

    private mutating func startConnect(now: MonotonicTime) -> Bool {
        guard !self.isClosed, self.total < self.limit, self.servable > self.connecting else { return false }
        // A server that is down is asked by one, not by all.
        if self.failures > 0, self.connecting > 0 || now < self.notBefore { return false }
        self.connecting += 1
        return true
    }
}
