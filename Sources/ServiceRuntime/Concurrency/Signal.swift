// SPDX-License-Identifier: Apache-2.0

/// An event that happens once: many may wait for it, and it stays happened.
package final class Signal: Sendable {
    private struct State {
        var isFired = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// Waiters whose task was cancelled before they could store their continuation.
        var cancelled: Set<Int> = []
        /// Those that no cancellation wakes.
        var steadfast: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Makes an event that has not happened yet.
    package init() {}

    /// Whether it has happened.
    package var isFired: Bool { self.state.withLock { $0.isFired } }

    /// Makes it happen, and wakes all who wait. Further calls change nothing.
    package func fire() {
        let (waiters, steadfast) = self.state.withLock { state in
            state.isFired = true
            defer {
                state.waiters = [:]
                state.steadfast = []
            }
            return (Array(state.waiters.values), state.steadfast)
        }
        for waiter in waiters { waiter.resume(returning: true) }
        for waiter in steadfast { waiter.resume() }
    }

    /// Waits until it has happened; at once when it has.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    package func wait() async throws(CancellationError) {
        let waiter = self.state.withLock { state -> Int? in
            if state.isFired { return nil }
            state.nextWaiter += 1
            return state.nextWaiter
        }
        guard let waiter else { return }
        let happened = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = self.state.withLock { state -> Bool? in
                    if state.isFired { return true }
                    // The cancellation handler may have run before the continuation existed.
                    if state.cancelled.remove(waiter) != nil { return false }
                    state.waiters[waiter] = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let continuation = self.state.withLock { state -> CheckedContinuation<Bool, Never>? in
                if let continuation = state.waiters.removeValue(forKey: waiter) { return continuation }
                if !state.isFired { state.cancelled.insert(waiter) }
                return nil
            }
            continuation?.resume(returning: false)
        }
        self.state.withLock { state in _ = state.cancelled.remove(waiter) }
        if !happened { throw CancellationError() }
    }

    /// Waits until it has happened, also when the task is cancelled: for what can't be left half done. It must be sure to
    /// happen.
    package func waitUncancelled() async {
        await withCheckedContinuation { continuation in
            let isFired = self.state.withLock { state -> Bool in
                if state.isFired { return true }
                state.steadfast.append(continuation)
                return false
            }
            if isFired { continuation.resume() }
        }
    }
}
