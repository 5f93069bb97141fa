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

    /// 1980-01-01 00:00:00, the earliest: the time of every entry that is written, so that the same contents always give the
    /// same bytes.
    package static let fixed = DOSTime(time: 0, date: 0x0021)
}
