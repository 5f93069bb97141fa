// SPDX-License-Identifier: Apache-2.0

import ServiceRuntime

/// Lets a few changes of an order at a time at the database, in the order of their coming: those that would only wait for the
/// head's lock wait here, where they hold no connection.
///
/// Not a lock: other processes know nothing of it, and the head's lock is what keeps changes apart.
final class OrderTurns: Sendable {
    private struct Line: Sendable {
        var busy = 0
        var waiting: [Signal] = []
    }

    private let limit: Int
    private let lines = Locked<[OrderKey: Line]>([:])

    /// - Parameter limit: how many changes of one order may be at the database. With two, the next one is at the head's lock
    ///   when the one before commits.
    init(limit: Int) {
        self.limit = limit
    }

    /// Runs a closure when it is the order's turn.
    ///
    /// - Throws: ``StoreError`` with `busy` when the turn does not come within `patience`; `CancellationError`.
    func take<Result>(
        _ key: OrderKey,
        patience: Duration,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let signal = lines.withLock { lines -> Signal? in
            var line = lines.removeValue(forKey: key) ?? Line()
            defer { lines[key] = line }
            if line.busy < limit {
                line.busy += 1
                return nil
            }
            let signal = Signal()
            line.waiting.append(signal)
            return signal
        }
        if let signal { try await wait(for: signal, key, patience) }
        defer { pass(key) }
        return try await body()
    }

    private func wait(for signal: Signal, _ key: OrderKey, _ patience: Duration) async throws {
        do {
            try await withDeadline(patience) { try await signal.wait() }
        } catch {
            let hasLeft = lines.withLock { lines -> Bool in
                guard let index = lines[key]?.waiting.firstIndex(where: { $0 === signal }) else { return false }
                lines[key]?.waiting.remove(at: index)
                return true
            }
            // The turn may have come at this very moment.
            if !hasLeft { pass(key) }
            if error is DeadlineExceeded { throw StoreError.busy }
            throw error
        }
    }

    /// Gives the turn to the next, if there is one.
    private func pass(_ key: OrderKey) {
        let next = lines.withLock { lines -> Signal? in
            guard var line = lines.removeValue(forKey: key) else { return nil }
            if line.waiting.isEmpty {
                line.busy -= 1
                if line.busy > 0 { lines[key] = line }
                return nil
            }
            let next = line.waiting.removeFirst()
            lines[key] = line
            return next
        }
        next?.fire()
    }
}
