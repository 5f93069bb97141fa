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
        var purpose: Purpose
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
    private var line: [Waiter] = []
    /// Where the line begins; what is before has left it.
    private var head = 0
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
    var waiterCount: Int { self.line.count - self.head }
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
        self.line.append(Waiter(number: waiter, deadline: deadline, purpose: purpose))
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
        guard isReusable, !isStale else { return .close(connect: self.startConnect(now: now)) }
        guard let waiter = self.nextWaiter() else {
            self.idle.append(connection)
            return .idle
        }
        self.lease(connection, waiter.purpose)
        return .hand(to: waiter.number)
    }

    /// A waiter's task was cancelled. False when it is not in the line any more: it has its connection already.
    mutating func leave(waiter: Int) -> Bool {
        guard let index = self.line[self.head...].firstIndex(where: { $0.number == waiter }) else { return false }
        self.line.remove(at: index)
        return true
    }

    /// Takes those out of the line whose time is over.
    mutating func expire(now: MonotonicTime) -> [Int] {
        let expired = self.line[self.head...].filter { $0.deadline <= now }.map(\.number)
        if !expired.isEmpty {
            self.line = self.line[self.head...].filter { $0.deadline > now }
            self.head = 0
        }
        return expired
    }

    /// When the next one's time is over.
    var nextExpiry: MonotonicTime? { self.line[self.head...].map(\.deadline).min() }

    /// Everyone who waits, taken out: they would wait for what does not come.
    mutating func takeWaiters() -> [Int] {
        defer {
            self.line = []
            self.head = 0
        }
        return self.line[self.head...].map(\.number)
    }

    /// The first who may have a connection now.
    private mutating func nextWaiter() -> Waiter? {
        guard let index = self.line[self.head...].firstIndex(where: { self.admits($0.purpose) }) else { return nil }
        let waiter = self.line[index]
        if index > self.head {
            self.line.remove(at: index)
            return waiter
        }
        self.head += 1
        if self.head == self.line.count || self.head > 512 {
            self.line.removeFirst(self.head)
            self.head = 0
        }
        return waiter
    }

    // MARK: Connections

    mutating func connected(_ connection: Int, now: MonotonicTime) -> Arrival {
        self.connecting -= 1
        self.failures = 0
        if self.isClosed { return .close }
        guard let waiter = self.nextWaiter() else {
            self.idle.append(connection)
            return .idle
        }
        self.lease(connection, waiter.purpose)
        // While the server was away, one probe stood for all.
        var connects = 0
        while self.startConnect(now: now) { connects += 1 }
        return .hand(to: waiter.number, connects: connects)
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
        if self.changes >= self.changeLimit { return self.line[self.head...].count { $0.purpose == .read } }
        let waiting = self.line[self.head...].count { $0.purpose == .change }
        return self.waiterCount - waiting + min(waiting, self.changeLimit - self.changes)
    }

    private mutating func startConnect(now: MonotonicTime) -> Bool {
        guard !self.isClosed, self.total < self.limit, self.servable > self.connecting else { return false }
        // A server that is down is asked by one, not by all.
        if self.failures > 0, self.connecting > 0 || now < self.notBefore { return false }
        self.connecting += 1
        return true
    }
}
