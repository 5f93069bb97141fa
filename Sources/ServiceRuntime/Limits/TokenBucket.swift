// SPDX-License-Identifier: Apache-2.0

/// What one client has left of its ``TokenRate``: pure arithmetic, with the time given to it.
///
/// A bucket is one moment: the one at which it will be full again. Units come back by the mere passing of time, nothing has
/// to be counted up, and a bucket that is full says nothing: who forgets it loses nothing.
///
/// Whoever has a unit left is let through, whatever the request costs; then all of the cost is drawn, also below zero. So a
/// request that costs more than a bucket can hold has its turn as well, and its cost need not be known when it is judged. What
/// is owed stays bounded: at most one bucketful, so nobody waits much longer than a minute.
package struct TokenBucket: Sendable, Equatable {
    /// When it is full, if nothing more is drawn.
    private var fullAt: MonotonicTime

    /// A full bucket.
    package init() {
        self.fullAt = MonotonicTime(nanoseconds: .min)
    }

    /// Whether it is as good as new.
    package func isFull(at now: MonotonicTime) -> Bool { self.fullAt <= now }

    /// The whole units that are left; 0 when some are owed.
    package func available(at now: MonotonicTime, _ rate: TokenRate) -> Int {
        max(0, Int((rate.window - self.missing(at: now, rate)) / rate.interval))
    }

    /// How long until there is a unit; zero when there is one.
    package func wait(at now: MonotonicTime, _ rate: TokenRate) -> Duration {
        .nanoseconds(max(0, self.missing(at: now, rate) - (rate.window - rate.interval)))
    }

    /// Draws a request's cost if there is a unit.
    ///
    /// - Parameter cost: 0 asks without drawing.
    /// - Returns: false, with nothing drawn, when there is none.
    package mutating func take(_ cost: Int, at now: MonotonicTime, _ rate: TokenRate) -> Bool {
        guard self.missing(at: now, rate) <= rate.window - rate.interval else { return false }
        self.draw(cost, at: now, rate)
        return true
    }

    /// Draws units whether or not there are any: what a request cost that was let through before its cost was known.
    package mutating func draw(_ cost: Int, at now: MonotonicTime, _ rate: TokenRate) {
        let bound = 2 * rate.window
        let cost = rate.interval * Int64(min(max(0, cost), 2 * rate.perMinute))
        let missing = min(self.missing(at: now, rate) + cost, bound)
        // A bucket that nothing was drawn from stays full, so that its place is free for another client.
        if missing > 0 { self.fullAt = now + .nanoseconds(missing) }
    }

    /// Nanoseconds until it is full. Bounded, should the clock or the rate have been another one when it was drawn from.
    private func missing(at now: MonotonicTime, _ rate: TokenRate) -> Int64 {
        guard self.fullAt > now else { return 0 }
        let (missing, overflow) = self.fullAt.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        return overflow ? 2 * rate.window : min(missing, 2 * rate.window)
    }
}
