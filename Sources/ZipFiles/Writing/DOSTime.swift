// SPDX-License-Identifier: Apache-2.0

/// The two-second local time stamp of zip entries (APPNOTE 4.4.6).
package struct DOSTime: Hashable, Sendable {
    /// Hours, minutes and half seconds, packed.
    package let time: UInt16

    /// Years since 1980, month and day, packed.
    package let date: UInt16

    /// From the packed halves.
    package init(time: UInt16, date: UInt16) {
        self.time = time
        self.date = date
    }

    /// 1980-01-01 00:00:00, the earliest: the time of every entry unless told otherwise, so that the same contents
    /// always give the same bytes.
    package static let fixed = DOSTime(time: 0, date: 0x0021)

    /// A point in UTC, in seconds since 1970. What lies before 1980 or after 2107 becomes the nearest time that can
    /// be written.
    package init(unixSeconds: Int64) {
        let first: Int64 = 315_532_800
        let last: Int64 = 4_354_819_198
        let seconds = min(max(unixSeconds, first), last)
        let days = seconds / 86_400
        let second = Int(seconds % 86_400)
        // Days since 0000-03-01 in the proleptic Gregorian calendar: the leap day ends each four-year block.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        let month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        let year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        self.init(
            time: UInt16((second / 3_600) << 11 | (second / 60 % 60) << 5 | (second % 60 / 2)),
            date: UInt16((year - 1_980) << 9 | month << 5 | day)
        )
    }
}
