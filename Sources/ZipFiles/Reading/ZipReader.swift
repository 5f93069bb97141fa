// SPDX-License-Identifier: Apache-2.0

/// Reads an untrusted archive that is wholly in memory, within limits.
///
/// Nothing is ever written to disk, and an archive that shows different files to different readers is refused.
package struct ZipReader: Sendable {
    private let bytes: [UInt8]
    private let limits: ZipLimits

    /// The entries in the order in which they lie in the archive.
    package let entries: [ZipEntry]

    /// What doesn't keep the archive from being read, but that other readers may trip over.
    package let notices: [ZipNotice]

    /// Scans the archive.
    ///
    /// - Throws: its first fault; ``inspect(_:limits:)`` gives them all.
    package init(_ bytes: [UInt8], limits: ZipLimits = .standard) throws(ZipError) {
        let (reader, faults) = Self.inspect(bytes, limits: limits)
        if let first = faults.first { throw first }
        self = reader
    }

    /// Scans the archive and gives every fault beside the entries that can be told apart nevertheless.
    ///
    /// For explaining an archive to people. What comes from the reader of a faulty archive must not be trusted.
    package static func inspect(_ bytes: [UInt8], limits: ZipLimits = .standard) -> (
        reader: ZipReader, faults: [ZipError]
    ) {
        let scan = ZipScan(bytes, limits: limits)
        return (ZipReader(bytes: bytes, limits: limits, scan: scan), scan.faults)
    }

    private init(bytes: [UInt8], limits: ZipLimits, scan: ZipScan) {
        self.bytes = bytes
        self.limits = limits
        entries = scan.entries
        notices = scan.notices
    }

    /// The first entry of a name.
    package func entry(named name: String) -> ZipEntry? {
        entries.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The unpacked bytes of an entry, checked against its size and CRC-32.
    ///
    /// - Throws: `.badChecksum`, `.badData`, `.headerMismatch` for another size than recorded, `.encrypted`,
    ///   `.unsupportedMethod`, and `.tooLarge` or `.ratio` before anything is unpacked.
    package func contents(of entry: ZipEntry) throws(ZipError) -> [UInt8] {
        guard !entry.isEncrypted else { throw ZipError(.encrypted, entry: entry.name, "the entry is encrypted") }
        guard entry.data.upperBound <= bytes.count else {
            throw ZipError(.truncated, entry: entry.name, "the entry isn't one of this archive")
        }
        guard entry.size <= limits.totalBytes else {
            throw ZipError(.tooLarge, entry: entry.name, "the entry unpacks to \(entry.size) bytes")
        }
        guard entry.size <= limits.ratioFloor || entry.size <= entry.compressedSize * limits.ratio else {
            throw ZipError(.ratio, entry: entry.name, "the entry unpacks to more than \(limits.ratio) times its size")
        }
        let contents: [UInt8]
        switch entry.method {
        case .stored: contents = Array(bytes[entry.data])
        case .deflate: contents = try Inflater.inflate(entry, in: bytes)
        case .other(let number):
            throw ZipError(.unsupportedMethod, entry: entry.name, "compression method \(number); only 0 and 8 are read")
        }
        guard contents.count == entry.size else {
            throw ZipError(.headerMismatch, entry: entry.name, "the data has another size than recorded")
        }
        guard CRC32.checksum(contents) == entry.crc32 else {
            throw ZipError(.badChecksum, entry: entry.name, "the data doesn't have the recorded checksum")
        }
        return contents
    }
}
