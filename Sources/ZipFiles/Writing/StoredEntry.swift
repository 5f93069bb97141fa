// SPDX-License-Identifier: Apache-2.0

/// An uncompressed entry made once and used in many archives: its name, checksum and headers are ready.
///
/// Images are compressed already, so storing them costs nothing in size, and an archive of them costs next to
/// nothing in time.
package struct StoredEntry: Sendable, Hashable {
    /// The path inside the archive.
    package let name: String

    /// The file's bytes, shared with every archive that holds the entry.
    package let contents: [UInt8]

    /// The CRC-32 of the contents.
    package let crc32: UInt32

    /// The local header with its name, at ``DOSTime/fixed``.
    let localHeader: [UInt8]

    /// The directory record with its name, at ``DOSTime/fixed`` and offset 0.
    let directoryRecord: [UInt8]

    /// Sums the contents and makes the headers.
    ///
    /// - Throws: `.unsafePath` for a name that isn't a plain relative file path, `.tooLarge` from 4 GiB.
    package init(name: String, contents: [UInt8]) throws(ZipError) {
        try self.init(name: name, contents: contents, crc32: CRC32.checksum(contents))
    }

    /// Makes the headers from a checksum that is known already; it must be that of the contents.
    ///
    /// - Throws: `.unsafePath` for a name that isn't a plain relative file path, `.tooLarge` from 4 GiB.
    package init(name: String, contents: [UInt8], crc32: UInt32) throws(ZipError) {
        if let fault = EntryName.fault(name) { throw ZipError(.unsafePath, entry: name, fault) }
        if name.utf8.last == 0x2F {
            throw ZipError(.unsafePath, entry: name, "the name is a folder's (ends with \"/\")")
        }
        guard let size = UInt32(exactly: contents.count), size < .max else {
            throw ZipError(.tooLarge, entry: name, "the file has 4 GiB or more")
        }
        let bytes = Array(name.utf8)
        let common = ZipRecord.Common(
            flags: bytes.allSatisfy { $0 < 0x80 } ? 0 : ZipRecord.utf8Flag,
            method: ZipRecord.stored,
            time: .fixed,
            crc32: crc32,
            compressedSize: size,
            size: size,
            nameLength: UInt16(bytes.count)
        )
        self.name = name
        self.contents = contents
        self.crc32 = crc32
        localHeader = ZipRecord.local(common) + bytes
        directoryRecord = ZipRecord.directory(common, offset: 0) + bytes
    }
}
