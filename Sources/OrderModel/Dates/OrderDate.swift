// SPDX-License-Identifier: Apache-2.0

/// A moment as Apple's documents write it: RFC 3339 with seconds and a time zone.
///
/// All arithmetic is on whole numbers in the proleptic Gregorian calendar.
public struct OrderDate: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01T00:00:00Z; finer digits of the text are cut off.
    public let microseconds: Int64
    /// Whether the text had a fraction of a second, which Wallet's date decoder is known to refuse.
    public let hasFraction: Bool
    /// Whether the text had a lower-case `t` or `z`. RFC 3339 section 5.6 lets applications insist on capitals, and says that
    /// writers should use them; Apple's decoders take nothing else.
    public let hasLowerCase: Bool
    /// Whether the text named a 61st second. It is the moment of the second behind it, which ``text`` writes.
    public let isLeapSecond: Bool

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    public var seconds: Int64 { Self.floorDivide(microseconds, 1_000_000) }

    /// A moment in whole seconds since 1970-01-01T00:00:00Z, moved into the years 0 to 9999.
    public init(seconds: Int64) {
        self.microseconds = min(max(seconds, Self.firstSecond), Self.lastSecond) * 1_000_000
        self.hasFraction = false
        self.hasLowerCase = false
        self.isLeapSecond = false
    }

    /// A moment in microseconds since 1970-01-01T00:00:00Z, moved into the years 0 to 9999.
    public init(microseconds: Int64) {
        self.microseconds = min(max(microseconds, Self.firstSecond * 1_000_000), Self.lastSecond * 1_000_000 + 999_999)
        self.hasFraction = microseconds % 1_000_000 != 0
        self.hasLowerCase = false
        self.isLeapSecond = false
    }

    /// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z: RFC 3339 has no other years.
    private static let firstSecond: Int64 = -62_167_219_200
    private static let lastSecond: Int64 = 253_402_300_799

    /// Earlier before later.
    public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

    /// Why a text is no RFC 3339 date-time.
    public enum Fault: Error, Sendable, Hashable {
        /// No `YYYY-MM-DDTHH:MM` at all.
        case form
        /// The day or the time of day does not exist.
        case range
        /// The seconds are missing (the W3C form that pass tools accept).
        case noSeconds
        /// It lies before the year 0 or after the year 9999 once its zone is taken off.
        case calendar
        /// Nothing says which time zone is meant.
        case noZone
        /// The zone is not `Z` or `±HH:MM`.
        case badZone

        /// What is wrong, to continue a sentence that begins with the text.
        public var message: String {
            switch self {
            case .form: "is no RFC 3339 date and time"
            case .range: "names a day or time that does not exist"
            case .calendar: "lies outside the years 0 to 9999 in UTC"
            case .noSeconds: "has no seconds"
            case .noZone: "has no time zone"
            case .badZone: "ends in a time zone that is neither 'Z' nor ±HH:MM"
            }
        }
    }

    /// Reads a text of RFC 3339 section 5.6, and says why when it is none.
    public init(parsing text: String) throws(Fault) {
        guard text.utf8.count <= 64 else { throw .form }
        var reader = DigitReader(Array(text.utf8))
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
            reader.take("-"), let day = reader.number(2), reader.take("T", orLowerCase: "t"),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2)
        else { throw .form }
        guard reader.take(":") else {
            throw reader.isAtEnd ? .noSeconds : reader.restIsZone ? .noSeconds : .form
        }
        guard let second = reader.number(2) else { throw .form }
        var fraction: Int64 = 0
        var hasFraction = false
        if reader.take(".") {
            guard let digits = reader.fraction() else { throw .form }
            fraction = digits
            hasFraction = true
        }
        if reader.isAtEnd { throw .noZone }
        var offset: Int64 = 0
        if !reader.take("Z", orLowerCase: "z") {
            let sign: Int64 = reader.take("+") ? 1 : reader.take("-") ? -1 : 0
            guard sign != 0, let hours = reader.number(2), reader.take(":"), let minutes = reader.number(2),
                hours <= 23, minutes <= 59
            else { throw .badZone }
            offset = sign * Int64(hours * 3600 + minutes * 60)
        }
        guard reader.isAtEnd else { throw .badZone }
        guard (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), hour <= 23, minute <= 59,
            second <= 60
        else { throw .range }
        let days = Self.daysSinceEpoch(year: year, month: month, day: day)
        let local = days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        // A leap second exists only at the end of a UTC day.
        if second == 60, Self.floorModulo(local - offset, 86_400) != 0 { throw .range }
        guard (Self.firstSecond...Self.lastSecond).contains(local - offset) else { throw .calendar }
        self.microseconds = (local - offset) * 1_000_000 + fraction
        self.hasFraction = hasFraction
        self.hasLowerCase = reader.tookLowerCase
        self.isLeapSecond = second == 60
    }

    /// The moment in whole seconds UTC, `2026-01-02T03:04:05Z`: the one form that packages hold.
    public var text: String { String(decoding: bytes(fraction: false), as: UTF8.self) }

    /// The moment with its microseconds when it has any, `2026-01-02T03:04:05.000001Z`: for records, not for packages.
    public var preciseText: String {
        String(decoding: bytes(fraction: Self.floorModulo(microseconds, 1_000_000) != 0), as: UTF8.self)
    }

    private func bytes(fraction: Bool) -> [UInt8] {
        let seconds = self.seconds
        let (year, month, day) = Self.civil(Self.floorDivide(seconds, 86_400))
        let time = Self.floorModulo(seconds, 86_400)
        var output: [UInt8] = []
        output.reserveCapacity(28)
        func put(_ value: Int64, _ width: Int) {
            let start = output.count
            for _ in 0..<width { output.append(0x30) }
            var rest = value
            for index in stride(from: start + width - 1, through: start, by: -1) {
                output[index] = 0x30 + UInt8(rest % 10)
                rest /= 10
            }
        }
        put(min(max(year, 0), 9999), 4)
        output.append(0x2D)
        put(month, 2)
        output.append(0x2D)
        put(day, 2)
        output.append(0x54)
        put(time / 3600, 2)
        output.append(0x3A)
        put(time / 60 % 60, 2)
        output.append(0x3A)
        put(time % 60, 2)
        if fraction {
            output.append(0x2E)
            put(Self.floorModulo(microseconds, 1_000_000), 6)
        }
        output.append(0x5A)
        return output
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01. Years begin in March here, so that the leap day is the last of its year.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int64 {
        let shifted = Int64(month <= 2 ? year - 1 : year)
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }

    private static func floorModulo(_ value: Int64, _ divisor: Int64) -> Int64 {
        value - floorDivide(value, divisor) * divisor
    }
}
