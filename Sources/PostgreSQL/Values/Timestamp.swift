// SPDX-License-Identifier: Apache-2.0

/// A moment as PostgreSQL's `timestamptz` keeps it: whole microseconds.
package struct Timestamp: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    package var microseconds: Int64

    /// Makes a moment of its microseconds since 1970.
    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The moment at a whole second since 1970.
    package static func seconds(_ seconds: Int64) -> Timestamp {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return Timestamp(microseconds: overflow ? (seconds < 0 ? .min : .max) : product)
    }

    /// `'infinity'`, later than every other moment.
    package static let infinity = Timestamp(microseconds: .max)
    /// `'-infinity'`, earlier than every other moment.
    package static let negativeInfinity = Timestamp(microseconds: .min)

    /// The whole seconds since 1970, rounded down.
    package var seconds: Int64 {
        let (quotient, remainder) = self.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

    /// From 1970 to 2000, where PostgreSQL's own count begins.
    private static let offset: Int64 = 946_684_800_000_000

    /// The count that PostgreSQL's binary format has; the extremes are its infinities.
    internal var wireValue: Int64 {
        if self == .infinity || self == .negativeInfinity { return self.microseconds }
        let (difference, overflow) = self.microseconds.subtractingReportingOverflow(Timestamp.offset)
        return overflow ? .min : difference
    }

    internal init(wireValue: Int64) {
        if wireValue == .max || wireValue == .min {
            self.microseconds = wireValue
            return
        }
        let (sum, overflow) = wireValue.addingReportingOverflow(Timestamp.offset)
        self.microseconds = overflow ? .max : sum
    }
}
