// SPDX-License-Identifier: Apache-2.0

/// How much one client may ask for: so many units a minute, all of which may come at once.
///
/// One number says both how fast units come back and how many there are at most, so that an operator has one to choose.
package struct TokenRate: Hashable, Sendable {
    /// The most that can be asked for: below a microsecond a unit the division by whole nanoseconds would show.
    package static let most = 60_000_000

    /// Units that come back within a minute, and the most that there are.
    package let perMinute: Int
    /// Nanoseconds until one unit has come back. What the division leaves is the client's: never less than was promised.
    internal let interval: Int64

    /// Makes a rate.
    ///
    /// - Parameter perMinute: more than ``most`` is taken as that many.
    /// - Returns: nil for 0 and less, which is no limit.
    package init?(perMinute: Int) {
        guard perMinute > 0 else { return nil }
        self.perMinute = min(perMinute, Self.most)
        self.interval = 60_000_000_000 / Int64(self.perMinute)
    }

    /// Nanoseconds in which an empty bucket fills: a minute, or a little less.
    internal var window: Int64 { self.interval * Int64(self.perMinute) }

    /// How long some units take to come back.
    package func duration(of units: Int) -> Duration {
        .nanoseconds(self.interval * Int64(min(max(0, units), self.perMinute)))
    }
}
