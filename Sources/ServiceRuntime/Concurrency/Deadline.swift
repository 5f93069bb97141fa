// SPDX-License-Identifier: Apache-2.0

/// Thrown when work did not end within its time.
package struct DeadlineExceeded: Error, Equatable, CustomStringConvertible {
    /// The time that it had.
    package let duration: Duration
    package var description: String { "not finished within \(self.duration.inSeconds) s" }
}

/// Waits for a duration: by a timer of the current loop, or by Swift's own clock where no loop runs.
///
/// - Throws: `CancellationError` when the task is cancelled or the loop ends first.
package func sleep(for duration: Duration) async throws(CancellationError) {
    guard let loop = EventLoop.current else {
        do { try await Task.sleep(for: duration) } catch { throw CancellationError() }
        return
    }
    let over = Signal()
    let isCutShort = Locked(false)
    let timer = loop.schedule(
        after: duration,
        atEnd: {
            isCutShort.withLock { $0 = true }
            over.fire()
        }
    ) { over.fire() }
    defer {
        // The task resumes on the loop that it went to sleep on, unless its executor was changed meanwhile.
        if loop.isCurrent { timer.cancel() }
    }
    try await over.wait()
    if isCutShort.withLock({ $0 }) { throw CancellationError() }
}

/// Runs a closure that is cancelled when it is not done in time.
///
/// The closure must heed cancellation: the call returns when the closure has.
///
/// - Throws: `DeadlineExceeded`, or what the closure throws.
package func withDeadline<Result: Sendable>(
    _ duration: Duration,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await sleep(for: duration)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else {
            throw DeadlineExceeded(duration: duration)
        }
        return result
    }
}
