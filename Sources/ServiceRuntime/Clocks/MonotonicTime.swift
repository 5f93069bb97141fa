// SPDX-License-Identifier: Apache-2.0
import CLinux

/// A moment on the kernel's monotonic clock.
///
/// Only good for measuring durations and for deadlines inside this process: the clock that stamps data is the database's
/// (store-design), and the wall clock is `WallTime`.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary start, the machine's boot.
    package var nanoseconds: Int64

    /// Makes a moment of its nanosecond count.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The present moment. One call of the kernel's vDSO, about 25 ns.
    package static func now() -> MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// A moment so far ahead that it never comes.
    package static let distantFuture = MonotonicTime(nanoseconds: Int64.max)

    package static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The moment a duration later. Saturates instead of trapping: a deadline may be "never".
    package static func + (moment: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return MonotonicTime(nanoseconds: overflow ? Int64.max : sum)
    }

    /// The duration from one moment to another.
    package static func - (a: MonotonicTime, b: MonotonicTime) -> Duration {
        .nanoseconds(a.nanoseconds &- b.nanoseconds)
    }
}

extension Duration {
    /// The whole duration in nanoseconds, saturated at what 64 bits hold (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? Int64.min : Int64.max }
        let (sum, overflows) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows ? Int64.max : sum
    }

    /// The duration in seconds, for metrics and messages.
    package var inSeconds: Double { Double(self.nanoseconds) / 1e9 }
}
