// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension Order {
    /// A moment with the time zone it was written in: RFC 3339, such as `2026-01-31T18:00:00+01:00`.
    ///
    /// Apple: `date-time`. Two are equal when moment and offset are. A document keeps the text as it was written;
    /// packages hold the moment in whole seconds UTC, the form that Wallet is known to read.
    public struct DateTime: Sendable, CustomStringConvertible {
        /// The text as it was written.
        public let text: String
        /// The moment.
        public let moment: OrderDate
        /// How far the local time is ahead of UTC, in seconds: 3600 for `+01:00`.
        public let offset: Int

        /// Seconds since 1970-01-01T00:00:00Z, rounded down.
        public var seconds: Int64 { moment.seconds }

        /// Reads a date and time with seconds and zone.
        ///
        /// - Throws: ``InvalidOrderError`` with `bad-date`.
        public init(_ text: String) throws(InvalidOrderError) {
            self = try .checked(.string(text), as: .dateTime)
        }

        /// A moment in UTC, in seconds since 1970, moved into the years 0 to 9999.
        public init(seconds: Int64) {
            moment = OrderDate(seconds: seconds)
            text = moment.text
            offset = 0
        }

        /// The text.
        public var description: String { text }
    }
}

extension Order.DateTime: Hashable, Comparable {
    /// Same moment, same offset.
    public static func == (left: Self, right: Self) -> Bool {
        left.moment.microseconds == right.moment.microseconds && left.offset == right.offset
    }

    /// Over moment and offset.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(moment.microseconds)
        hasher.combine(offset)
    }

    /// Earlier before later; of one moment, the smaller offset first.
    public static func < (left: Self, right: Self) -> Bool {
        (left.moment.microseconds, left.offset) < (right.moment.microseconds, right.offset)
    }
}

extension Order.DateTime: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard case .string(let text) = value, let moment = try? OrderDate(parsing: text) else { throw FieldFault() }
        self.text = text
        self.moment = moment
        self.offset = Self.offset(of: text)
    }

    var field: JSONValue { .string(text) }

    /// Of a text that is known to be a date-time: `Z`, or six characters `±HH:MM` at the end.
    private static func offset(of text: String) -> Int {
        let zone = Array(text.utf8.suffix(6))
        guard zone.last != 0x5A, zone.last != 0x7A, zone.count == 6 else { return 0 }
        func two(_ index: Int) -> Int { Int(zone[index] - 0x30) * 10 + Int(zone[index + 1] - 0x30) }
        let seconds = two(1) * 3600 + two(4) * 60
        return zone[0] == 0x2D ? -seconds : seconds
    }
}
