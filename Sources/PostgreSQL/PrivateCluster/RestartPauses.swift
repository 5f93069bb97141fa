// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// How long a server that ended is left alone before it is started again: not at all the first time, then a second, doubling
/// up to the longest pause. One that stayed up for five minutes has a clean slate.
internal struct RestartPauses: Sendable {
    private static let first = Duration.seconds(1)
    private static let cleanSlate = Duration.seconds(300)

    let longest: Duration
    private var pause = Duration.zero
    private var lastStart: MonotonicTime?

    init(longest: Duration) { self.longest = longest }

    /// The pause before the next start.
    mutating func next(now: MonotonicTime) -> Duration {
        if let lastStart, now - lastStart < RestartPauses.cleanSlate {
            self.pause = min(self.longest, self.pause == .zero ? RestartPauses.first : self.pause * 2)
        } else {
            self.pause = .zero
        }
        self.lastStart = now + self.pause
        return self.pause
    }
}
