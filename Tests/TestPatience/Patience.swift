// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How tests deal with time, on machines that are fast, busy, or run sanitized code.
///
/// A test shows an order or a cause, not a speed. Where it can't, its bound is multiplied by `factor`.
package enum Patience {
    /// `TEST_PATIENCE`, 1 when it is not set. scripts/sanitize sets it: sanitized code is that many times slower.
    package static let factor: Int = {
        guard let text = unsafe getenv("TEST_PATIENCE") else { return 1 }
        return max(1, unsafe Int(String(cString: text)) ?? 1)
    }()

    /// How long to wait for what must come. It ends a test that hangs, and proves nothing about speed.
    package static let long = Duration.seconds(120)

    /// A number of random cases or repetitions, fewer where each one takes longer.
    package static func count(_ full: Int) -> Int { max(1, full / self.factor) }

    /// What a closure costs the calling thread, which must stay the same: whatever else runs on the machine adds nothing.
    package static func processorTime(_ body: () throws -> Void) rethrows -> Duration {
        let start = self.threadTime()
        try body()
        return self.threadTime() - start
    }

    /// The same of an async closure, every step of which must run on the calling thread: call it on an event loop.
    package static func processorTime(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Void
    ) async rethrows -> Duration {
        let start = self.threadTime()
        try await body()
        return self.threadTime() - start
    }

    /// How many times as much of the calling thread a closure costs at four times the size: about 4 when the cost is linear,
    /// 16 when it is the square. The least of five runs of each, since nothing makes a run cheaper than it is; one after the
    /// other, since what else the machine does makes a run dearer by more than half for as long as it lasts.
    package static func growth(_ body: (_ scale: Int) throws -> Void) rethrows -> Double {
        var (small, large) = (Duration.seconds(3_600), Duration.seconds(3_600))
        for _ in 0..<5 {
            small = min(small, try self.processorTime { try body(1) })
            large = min(large, try self.processorTime { try body(4) })
        }
        return large / small
    }

    private static func threadTime() -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
