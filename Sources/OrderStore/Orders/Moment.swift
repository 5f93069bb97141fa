// SPDX-License-Identifier: Apache-2.0

import PostgreSQL
package import ServiceRuntime

/// A moment of the database's clock, in microseconds since 1970-01-01 UTC.
package struct Moment: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01 UTC.
    package var microseconds: Int64

    /// A moment from microseconds.
    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// A moment from whole seconds.
    package init(seconds: Int64) {
        self.microseconds = seconds * 1_000_000
    }

    init(_ timestamp: Timestamp) {
        self.microseconds = timestamp.microseconds
    }

    /// The second that the moment lies in.
    package var wallTime: WallTime {
        WallTime(seconds: timestamp.seconds)
    }

    var timestamp: Timestamp { Timestamp(microseconds: microseconds) }

    /// Earlier first.
    package static func < (left: Moment, right: Moment) -> Bool { left.microseconds < right.microseconds }
}
