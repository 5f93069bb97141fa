// SPDX-License-Identifier: Apache-2.0

package import ServiceRuntime

/// A clock that stands still until it is moved by hand.
package struct HandClock: Sendable {
    private let now = Locked(MonotonicTime(nanoseconds: 1_000_000_000))

    package init() {}

    /// Moves it on.
    package func pass(_ duration: Duration) { now.withLock { $0 = $0 + duration } }

    /// What tells its time.
    package var read: @Sendable () -> MonotonicTime {
        { [now] in now.withLock { $0 } }
    }
}
