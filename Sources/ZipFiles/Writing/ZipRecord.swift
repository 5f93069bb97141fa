// SPDX-License-Identifier: Apache-2.0

/// The numbers of the zip format (APPNOTE 4.3) that writing and reading share.
enum ZipRecord {
    /// Signatures, and the fixed part of each record in bytes.
    static let localSignature: UInt32 = 0x0403_4B50
    static let localLength = 30
    static let directorySignature: UInt32 = 0x0201_4B50
    static let directoryLength = 46
    static let endSignature: UInt32 = 0x0605_4B50
    static let endLength = 22
    static let descriptorSignature: UInt32 = 0x0807_4B50
    static let zip64LocatorSignature: UInt32 = 0x0706_4B50
    static let zip64LocatorLength = 20

    /// Compression methods.
    static let stored: UInt16 = 0
    static let deflate: UInt16 = 8

    /// General purpose flags (APPNOTE 4.4.4).
    static let encryptedFlag: UInt16 = 1 << 0
    static let descriptorFlag: UInt16 = 1 << 3
    static let strongEncryptionFlag: UInt16 = 1 << 6
    static let utf8Flag: UInt16 = 1 << 11
    static let maskedHeadersFlag: UInt16 = 1 << 13

    /// Version 2.0, which folders in names and deflate ask for.
    static let versionNeeded: UInt16 = 20
    /// Version 2.0 on Unix, where the upper half of the external attributes is the file mode.
    static let versionMadeBy: UInt16 = 3 << 8 | 20
    /// A regular file with mode 0644.
    static let regularFile: UInt32 = 0o100644 << 16

    /// The part that the local header and the directory record have in common: needed version to name length.
    struct Common {
        var flags: UInt16
        var method: UInt16
        var time: DOSTime
        var crc32: UInt32
        var compressedSize: UInt32
        var size: UInt32
        var nameLength: UInt16
    }

    /// A local header without its name.
    static func local(_ common: Common) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(localLength + Int(common.nameLength))
        bytes.append32(localSignature)
        append(common, to: &bytes)
        return bytes
    }

    /// A directory record without its name; the local header's offset is given.
    static func directory(_ common: Common, offset: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(directoryLength + Int(common.nameLength))
        bytes.append32(directorySignature)
        bytes.append16(versionMadeBy)
        append(common, to: &bytes)
        bytes.append16(0)  // comment length
        bytes.append16(0)  // disk
        bytes.append16(0)  // internal attributes
        bytes.append32(regularFile)
        bytes.append32(offset)
        return bytes
    }

    /// The end record without a comment.
    static func end(entries: UInt16, directorySize: UInt32, directoryOffset: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append32(endSignature)
        bytes.append16(0)
        bytes.append16(0)
        bytes.append16(entries)
        bytes.append16(entries)
        bytes.append32(directorySize)
        bytes.append32(directoryOffset)
        bytes.append16(0)
        return bytes
    }

    private static func append(_ common: Common, to bytes: inout [UInt8]) {
        bytes.append16(versionNeeded)
        bytes.append16(common.flags)
        bytes.append16(common.method)
        bytes.append16(common.time.time)
        bytes.append16(common.time.date)
        bytes.append32(common.crc32)
        bytes.append32(common.compressedSize)
        bytes.append32(common.size)
        bytes.append16(common.nameLength)
        bytes.append16(0)  // extra field length
    }
}
