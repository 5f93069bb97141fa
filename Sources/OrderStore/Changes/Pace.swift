// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
import ServiceRuntime

/// Long work in memory, in steps: others on the same loop get their turn in between, and a cancelled task ends it.
struct Pace {
    /// How long the loop is kept to oneself.
    private static let share = Duration.milliseconds(2)
    private var turnedAt = MonotonicTime.now()

    /// Call after each piece of work.
    ///
    /// - Throws: `PostgresError` with `cancelled`.
    mutating func step() async throws {
        if Task.isCancelled { throw PostgresError(.cancelled, "the task was cancelled") }
        guard MonotonicTime.now() - turnedAt > Self.share else { return }
        await Task.yield()
        turnedAt = MonotonicTime.now()
    }
}
