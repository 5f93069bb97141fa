// SPDX-License-Identifier: Apache-2.0

/// When a package says it was signed, against the clock.
enum SigningTime {
    /// The code of a finding about a time in the future.
    static let future = "signing-time-future"

    /// Clocks differ by minutes, and their zones by hours.
    private static let tolerance: Int64 = 86_400

    /// Whether a second lies in the future, whatever zone somebody took for UTC.
    static func isFuture(_ second: Int64, at now: Int64) -> Bool { second > now + tolerance }
}
