// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime

/// When given-up pushes are counted: it reads the given-up tickets of all types, so it is done seldom and never twice at
/// once, however many pushes are given up. Pure.
package struct CountPace: Sendable {
    /// The pause between two counts; others may redrive what was given up.
    private static let usual = Duration.seconds(5)
    /// The pause when a push was given up since.
    private static let least = Duration.seconds(1)

    private var last: MonotonicTime?
    private var isUnderWay = false
    private var hasNews = false

    /// A pace at which the first count is due at once.
    package init() {}

    /// Notes that a push was given up.
    package mutating func noteNews() { self.hasNews = true }

    /// Whether to count now; if so, it has begun.
    package mutating func begins(at now: MonotonicTime) -> Bool {
        guard !self.isUnderWay else { return false }
        if let last = self.last, now - last < (self.hasNews ? Self.least : Self.usual) { return false }
        self.isUnderWay = true
        self.hasNews = false
        return true
    }

    /// Notes the end of a count.
    package mutating func end(at now: MonotonicTime) {
        self.isUnderWay = false
        self.last = now
    }
}
