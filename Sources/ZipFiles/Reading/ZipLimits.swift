// SPDX-License-Identifier: Apache-2.0

/// How much an untrusted archive may hold before reading stops.
package struct ZipLimits: Hashable, Sendable {
    /// The most entries, folders included.
    package var entries: Int

    /// The most bytes of the archive itself, and of all entries together when unpacked.
    package var totalBytes: Int

    /// How many times its compressed size an entry may unpack to. Judged from ``ratioFloor`` bytes on.
    package var ratio: Int

    /// Up to this unpacked size an entry's ratio isn't judged: a short repetitive text compresses very well.
    package var ratioFloor: Int

    /// Limits given one by one.
    package init(entries: Int = 200, totalBytes: Int = 50 << 20, ratio: Int = 100, ratioFloor: Int = 4_096) {
        self.entries = entries
        self.totalBytes = totalBytes
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }

    /// 200 entries, 50 MiB, ratio 100: ten times what a package below 5 MB can need.
    package static let standard = ZipLimits()
}
