// SPDX-License-Identifier: Apache-2.0

/// An entry as the local header and the directory describe it.
package struct ZipEntry: Hashable, Sendable {
    /// How an entry's bytes are kept.
    package enum Method: Hashable, Sendable {
        case stored
        case deflate
        /// Any other method, by its number in APPNOTE 4.4.5; its contents can't be read.
        case other(UInt16)
    }

    /// The path inside the archive; a folder's ends with `/`.
    package let name: String

    /// How the bytes are kept.
    package let method: Method

    /// The recorded size when unpacked.
    package let size: Int

    /// The size inside the archive.
    package let compressedSize: Int

    /// The recorded CRC-32 of the unpacked bytes.
    package let crc32: UInt32

    /// Whether the contents are encrypted, and so can't be read.
    package let isEncrypted: Bool

    /// Where the entry's data lies in the archive.
    let data: Range<Int>

    /// Whether the entry is a folder.
    package var isFolder: Bool { name.utf8.last == 0x2F }
}
