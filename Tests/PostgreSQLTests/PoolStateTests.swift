// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@testable import PostgreSQL

struct PoolStateTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func state(limit: Int = 2, waiters: Int = 8) -> PoolState { PoolState(limit: limit, waiterLimit: waiters) }

    private func acquire(_ state: inout PoolState, _ waiter: Int, after: Duration = .seconds(5))
        -> PoolState.Acquisition
    {
        state.acquire(waiter: waiter, deadline: self.start + after, now: self.start)
    }

    @Test("Connections are opened one for each who waits, up to the limit")
    func opening() {
        var state = self.state()
        #expect(self.acquire(&state, 1) == .wait(connect: true))
        #expect(self.acquire(&state, 2) == .wait(connect: true))
        #expect(self.acquire(&state, 3) == .wait(connect: false))
        #expect(state.connectingCount == 2)
        #expect(state.connected(101, now: self.start) == .hand(to: 1, connects: 0))
        #expect(state.connected(102, now: self.start) == .hand(to: 2, connects: 0))
        #expect(state.release(101, isReusable: true, now: self.start) == .hand(to: 3))
        #expect(state.release(102, isReusable: true, now: self.start) == .idle)
        #expect(self.acquire(&state, 4) == .lease(102))
    }

    @Test("The line is served in its order, and who leaves is passed over")
    func order() {
        var state = self.state(limit: 1)
        for waiter in 1...4 { _ = self.acquire(&state, waiter) }
        #expect(state.connected(101, now: self.start) == .hand(to: 1, connects: 0))
        let wasWaiting = [state.leave(waiter: 2), state.leave(waiter: 1)]
        #expect(wasWaiting == [true, false])
        #expect(state.release(101, isReusable: true, now: self.start) == .hand(to: 3))
        #expect(state.release(101, isReusable: true, now: self.start) == .hand(to: 4))
        #expect(state.waiterCount == 0)
    }

    @Test("Changes, which may wait for locks, leave one connection to reads")
    func readsFirst() {
        var state = self.state(limit: 3)
        func change(_ waiter: Int) -> PoolState.Acquisition {
            state.acquire(waiter: waiter, for: .change, deadline: self.start + .seconds(5), now: self.start)
        }
        #expect(change(1) == .wait(connect: true))
        #expect(change(2) == .wait(connect: true))
        #expect(state.connected(101, now: self.start) == .hand(to: 1, connects: 0))
        #expect(state.connected(102, now: self.start) == .hand(to: 2, connects: 0))
        #expect(change(3) == .wait(connect: false))
        #expect(change(4) == .wait(connect: false))
        #expect(self.acquire(&state, 5) == .wait(connect: true))
        #expect(state.connected(103, now: self.start) == .hand(to: 5, connects: 0))
        // What a read gives back goes to the next read, or to nobody.
        #expect(self.acquire(&state, 6) == .wait(connect: false))
        #expect(state.release(103, isReusable: true, now: self.start) == .hand(to: 6))
        #expect(state.release(103, isReusable: true, now: self.start) == .idle)
        #expect(change(7) == .wait(connect: false))
        #expect(self.acquire(&state, 8) == .lease(103))
        // What a change gives back goes to the next change.
        #expect(state.release(101, isReusable: true, now: self.start) == .hand(to: 3))
        // One that ends lets the next change have the one that lies idle.
        #expect(state.release(103, isReusable: true, now: self.start) == .idle)
        #expect(state.release(102, isReusable: false, now: self.start) == .closeAndHand(103, to: 4))
        #expect(state.leasedCount == 2 && state.waiterCount == 1)
        #expect(self.acquire(&state, 9) == .wait(connect: true))
        #expect(state.connected(104, now: self.start) == .hand(to: 9, connects: 0))
    }

    @Test("The only connection serves both")
    func onlyOne() {
        var state = self.state(limit: 1)
        #expect(
            state.acquire(waiter: 1, for: .change, deadline: self.start, now: self.start) == .wait(connect: true)
        )
        #expect(state.connected(101, now: self.start) == .hand(to: 1, connects: 0))
    }

    @Test("A connection that is not as good as new is replaced while someone waits")
    func replacing() {
        var state = self.state(limit: 1)
        _ = self.acquire(&state, 1)
        _ = state.connected(101, now: self.start)
        #expect(state.release(101, isReusable: false, now: self.start) == .close(connect: false))
        _ = self.acquire(&state, 2)
        _ = state.connected(102, now: self.start)
        _ = self.acquire(&state, 3)
        #expect(state.release(102, isReusable: false, now: self.start) == .close(connect: true))
    }

    @Test("A server that is down is probed by one attempt at a time, with growing pauses")
    func backOff() throws {
        var state = self.state(limit: 4)
        for waiter in 1...4 { _ = self.acquire(&state, waiter) }
        for _ in 1...4 { state.connectFailed(now: self.start, jitter: 1) }
        let first = try #require(state.retryAt)
        #expect(first == self.start + .milliseconds(200))
        #expect(self.acquire(&state, 5) == .wait(connect: false))
        let isDue = [state.retry(now: self.start), state.retry(now: first)]
        #expect(isDue == [false, true])
        #expect(state.connectingCount == 1)
        #expect(state.retryAt == nil)
        #expect(self.acquire(&state, 6) == .wait(connect: false))
        for _ in 1...20 {
            state.connectFailed(now: self.start, jitter: 1)
            _ = state.retry(now: self.start + .seconds(2))
        }
        state.connectFailed(now: self.start, jitter: 0)
        #expect(state.retryAt == self.start + .milliseconds(500))
        _ = state.retry(now: self.start + .seconds(2))
        // It is back: those who still wait get theirs.
        #expect(state.connected(101, now: self.start) == .hand(to: 1, connects: 3))
    }

    @Test("Who has waited long enough is told so, in any order of deadlines")
    func expiry() {
        var state = self.state(limit: 1)
        _ = self.acquire(&state, 1, after: .seconds(5))
        _ = self.acquire(&state, 2, after: .seconds(1))
        #expect(state.nextExpiry == self.start + .seconds(1))
        #expect(state.expire(now: self.start + .milliseconds(999)).isEmpty)
        #expect(state.expire(now: self.start + .seconds(1)) == [2])
        #expect(state.nextExpiry == self.start + .seconds(5))
        // The connection came too late for one, and in time for the other.
        #expect(state.connected(101, now: self.start) == .hand(to: 1, connects: 0))
    }

    @Test("The line is bounded")
    func crowd() {
        var state = self.state(limit: 1, waiters: 2)
        _ = self.acquire(&state, 1)
        _ = self.acquire(&state, 2)
        #expect(self.acquire(&state, 3) == .crowded)
    }

    @Test("After a drop nothing old comes back")
    func dropping() {
        var state = self.state()
        _ = self.acquire(&state, 1)
        _ = self.acquire(&state, 2)
        _ = state.connected(101, now: self.start)
        _ = state.connected(102, now: self.start)
        #expect(state.release(101, isReusable: true, now: self.start) == .idle)
        #expect(state.dropAll() == [101])
        #expect(state.release(102, isReusable: true, now: self.start) == .close(connect: false))
        #expect(state.total == 0)
        #expect(self.acquire(&state, 3) == .wait(connect: true))
    }

    @Test("A connection that dies idle is forgotten, one in use is counted until it comes back")
    func death() {
        var state = self.state()
        _ = self.acquire(&state, 1)
        _ = state.connected(101, now: self.start)
        #expect(state.died(101, now: self.start) == .leased)
        #expect(state.total == 1)
        #expect(state.release(101, isReusable: false, now: self.start) == .close(connect: false))
        _ = self.acquire(&state, 2)
        _ = state.connected(102, now: self.start)
        _ = state.release(102, isReusable: true, now: self.start)
        #expect(state.died(102, now: self.start) == .idle(connect: false))
        #expect(state.total == 0)
    }

    @Test("A closed pool takes nobody in and is drained when the last comes back")
    func closing() {
        var state = self.state()
        for waiter in 1...3 { _ = self.acquire(&state, waiter) }
        _ = state.connected(101, now: self.start)
        #expect(state.close().isEmpty)
        #expect(state.takeWaiters() == [2, 3])
        #expect(self.acquire(&state, 4) == .closed)
        #expect(!state.isDrained)
        #expect(state.connected(102, now: self.start) == .close)
        #expect(state.release(101, isReusable: true, now: self.start) == .close(connect: false))
        #expect(state.isDrained)
    }

    @Test("Whatever happens, no more than the limit, and nobody waits beside an idle connection that he may have")
    func invariants() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<400 {
            var state = self.state(limit: 3, waiters: 50)
            /// Each with whether it is used for a change.
            var leased: [Int: Bool] = [:]
            var waiting: [(number: Int, isChange: Bool, deadline: MonotonicTime)] = []
            var number = 0
            var now = self.start
            func handed(_ connection: Int, to waiter: Int) {
                // The first of the line that may have it.
                let changes = leased.values.count { $0 }
                let first = waiting.firstIndex { !$0.isChange || changes < state.changeLimit }
                #expect(first.map { waiting[$0].number } == waiter)
                if let first { leased[connection] = waiting.remove(at: first).isChange }
            }
            for _ in 0..<200 {
                number += 1
                now = now + .milliseconds(10)
                let isReusable = Bool.random(using: &generator)
                switch UInt8.random(in: 0..<10, using: &generator) {
                case 0, 1, 2:
                    let purpose: PoolState.Purpose = isReusable ? .read : .change
                    let deadline = now + .milliseconds(Int64.random(in: 1...1_000, using: &generator))
                    switch state.acquire(waiter: number, for: purpose, deadline: deadline, now: now) {
                    case .lease(let one): leased[one] = !isReusable
                    case .wait: waiting.append((number, !isReusable, deadline))
                    case .crowded, .closed: break
                    }
                case 3 where state.connectingCount > 0, 4 where state.connectingCount > 0:
                    if case .hand(let waiter, _) = state.connected(number, now: now) { handed(number, to: waiter) }
                case 5 where state.connectingCount > 0: state.connectFailed(now: now, jitter: 0.5)
                case 6 where !leased.isEmpty:
                    guard let one = leased.keys.randomElement(using: &generator) else { break }
                    leased[one] = nil
                    switch state.release(one, isReusable: isReusable, now: now) {
                    case .hand(let waiter): handed(one, to: waiter)
                    case .closeAndHand(let other, let waiter): handed(other, to: waiter)
                    case .idle, .close: break
                    }
                case 7:
                    guard let index = waiting.indices.randomElement(using: &generator) else { break }
                    let wasWaiting = state.leave(waiter: waiting.remove(at: index).number)
                    #expect(wasWaiting)
                case 8 where UInt8.random(in: 0..<8, using: &generator) == 0: _ = state.dropAll()
                default:
                    let expired = waiting.filter { $0.deadline <= now }.map(\.number)
                    let told = state.expire(now: now)
                    #expect(told == expired)
                    waiting.removeAll { $0.deadline <= now }
                    #expect(state.nextExpiry == waiting.map(\.deadline).min())
                    _ = state.retry(now: now)
                }
                let changes = leased.values.count { $0 }
                #expect(state.total <= 3 && changes <= state.changeLimit)
                #expect(state.leasedCount == leased.count && state.waiterCount == waiting.count)
                #expect(waiting.isEmpty || state.nextExpiry.map { $0 <= waiting.map(\.deadline).min() ?? now } == true)
                let servable = waiting.filter { !$0.isChange || changes < state.changeLimit }
                #expect(state.idleCount == 0 || servable.isEmpty)
                // Someone who could be served has an attempt under way, a retry set, or all connections in use.
                #expect(
                    servable.isEmpty || state.connectingCount > 0 || state.retryAt != nil || state.leasedCount == 3
                )
            }
        }
    }

    @Test("A long line costs each who joins it no more than a short one")
    func longLine() {
        func time(_ present: Int) -> Duration {
            var state = self.state(limit: 4, waiters: 1 << 20)
            var number = 0
            func join() {
                number += 1
                _ = state.acquire(waiter: number, for: .change, deadline: self.start + .seconds(5), now: self.start)
                _ = state.nextExpiry
                _ = state.retryAt
            }
            for _ in 0..<present { join() }
            return Patience.processorTime { for _ in 0..<2_000 { join() } }
        }
        _ = time(0)
        let (short, long) = (time(0), time(20_000))
        #expect(long < short * 20 + .milliseconds(2), "\(short) when empty, \(long) when long")
    }
}
