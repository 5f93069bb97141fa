// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A second of the civil clock, in UTC, as HTTP headers and order documents write it.
///
/// Pure integer arithmetic: no locale, no time-zone data base, and about a hundred times cheaper than a formatter.
package struct WallTime: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z; leap seconds are not counted.
    package var seconds: Int64

    /// Makes a moment of its Unix time.
    package init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The present second of this machine's clock. Never used to stamp data: that is the database's clock's task.
    package static func now() -> WallTime {
        WallTime(seconds: Int64(time(nil)))
    }

    package static func < (a: WallTime, b: WallTime) -> Bool { a.seconds < b.seconds }

    // MARK: Calendar

    /// 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z: what the forms of a date can say.
    private static let writable: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    /// Year, month (1–12), day (1–31), hour, minute, second and weekday (0 = Sunday) in UTC. A moment before the year 0 or
    /// after the year 9999 is moved to that range's end.
    package var calendar: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, weekday: Int) {
        let seconds = min(max(self.seconds, Self.writable.lowerBound), Self.writable.upperBound)
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = Int(seconds - days * 86_400)
        // Days since 0000-03-01 in the proleptic Gregorian calendar; a year starts in March, so that the leap day is last.
        let z = days + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = Int(dayOfYear - (153 * shifted + 2) / 5 + 1)
        let month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        let year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        let weekday = Int(((days + 4) % 7 + 7) % 7)
        return (year, month, day, rest / 3_600, rest / 60 % 60, rest % 60, weekday)
    }

    /// The moment of a UTC date and time, or nil when there is no such day or time.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...9_999).contains(year), (1...12).contains(month), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        guard day >= 1, day <= lengths[month - 1] + (month == 2 && isLeap ? 1 : 0) else { return nil }
        let y = Int64(month <= 2 ? year - 1 : year)
        let era = y / 400
        let yearOfEra = y - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        self.seconds = days * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }

    // MARK: Text forms

    /// The form `2026-01-02T03:04:05Z` (RFC 3339), the one that order documents are written with.
    package var rfc3339: String {
        let c = self.calendar
        return WallTime.ascii([
            WallTime.digits(c.year, 4), [0x2d], WallTime.digits(c.month, 2), [0x2d], WallTime.digits(c.day, 2), [0x54],
            WallTime.digits(c.hour, 2), [0x3a], WallTime.digits(c.minute, 2), [0x3a], WallTime.digits(c.second, 2),
            [0x5a],
        ])
    }

    /// The form `Fri, 02 Jan 2026 03:04:05 GMT` (IMF-fixdate, RFC 9110 5.6.7).
    package var httpDate: String {
        let c = self.calendar
        let weekday = Array(WallTime.weekdays[c.weekday].utf8)
        let month = Array(WallTime.months[c.month - 1].utf8)
        return WallTime.ascii([
            weekday, [0x2c, 0x20], WallTime.digits(c.day, 2), [0x20], month, [0x20], WallTime.digits(c.year, 4), [0x20],
            WallTime.digits(c.hour, 2), [0x3a], WallTime.digits(c.minute, 2), [0x3a], WallTime.digits(c.second, 2),
            Array(" GMT".utf8),
        ])
    }

    /// Reads an HTTP date in any of the three forms that RFC 9110 5.6.7 asks recipients to take: IMF-fixdate, RFC 850
    /// and asctime. Anything else, a number above all, is nil.
    package init?(httpDate text: String) {
        guard text.utf8.count <= 40, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        func number(_ text: Substring, _ lengths: ClosedRange<Int>) -> Int? {
            guard lengths.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return Int(text)
        }
        func make(_ year: Int?, _ month: Substring, _ day: Int?, _ clock: Substring) -> WallTime? {
            let times = clock.split(separator: ":", omittingEmptySubsequences: false)
            guard times.count == 3, let hour = number(times[0], 2...2), let minute = number(times[1], 2...2),
                let second = number(times[2], 2...2), let year, let day,
                let month = WallTime.months.firstIndex(of: String(month))
            else { return nil }
            return WallTime(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
        }
        let found: WallTime?
        switch parts.count {
        case 6 where parts[5] == "GMT" && parts[0].last == ",":
            guard WallTime.weekdays.contains(String(parts[0].dropLast())) else { return nil }
            found = make(number(parts[3], 4...4), parts[2], number(parts[1], 2...2), parts[4])
        case 4 where parts[3] == "GMT" && parts[0].last == ",":
            let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, let short = number(date[2], 2...2) else { return nil }
            // A two-digit year that lies more than fifty years ahead is of the last century.
            let present = WallTime.now().calendar.year
            let year = present / 100 * 100 + short
            found = make(year > present + 50 ? year - 100 : year, date[1], number(date[0], 2...2), parts[2])
        case 5:
            guard WallTime.weekdays.contains(String(parts[0])) else { return nil }
            found = make(number(parts[4], 4...4), parts[1], number(parts[2], 1...2), parts[3])
        default: found = nil
        }
        guard let found else { return nil }
        self = found
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func digits(_ value: Int, _ width: Int) -> [UInt8] {
        var digits = [UInt8](repeating: 0x30, count: width)
        var rest = value
        var place = width - 1
        while place >= 0, rest > 0 {
            digits[place] = 0x30 + UInt8(rest % 10)
            rest /= 10
            place -= 1
        }
        return digits
    }

    private static func ascii(_ parts: [[UInt8]]) -> String {
        String(decoding: parts.joined(), as: UTF8.self)
    }
}
