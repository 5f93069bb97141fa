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
        bytes.append(contentsOf: blankLocal)
        set(common, at: 4, in: &bytes)
        return bytes
    }

    /// A directory record without its name; the local header's offset is given.
    static func directory(_ common: Common, offset: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(directoryLength + Int(common.nameLength))
        bytes.append(contentsOf: blankDirectory)
        set(common, at: 6, in: &bytes)
        bytes.set32(offset, at: 42)
        return bytes
    }

    /// Records whose numbers are zero but for those that are always the same: extra fields, comments, disks and internal
    /// attributes stay so.
    private static let blankLocal = {
        var bytes = [UInt8](repeating: 0, count: localLength)
        bytes.set32(localSignature, at: 0)
        bytes.set16(versionNeeded, at: 4)
        return bytes
    }()
    private static let blankDirectory = {
        var bytes = [UInt8](repeating: 0, count: directoryLength)
        bytes.set32(directorySignature, at: 0)
        bytes.set16(versionMadeBy, at: 4)
        bytes.set16(versionNeeded, at: 6)
        bytes.set32(regularFile, at: 38)
        return bytes
    }()

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

    private static func set(_ common: Common, at start: Int, in bytes: inout [UInt8]) {
        bytes.set16(common.flags, at: start + 2)
        bytes.set16(common.method, at: start + 4)
        bytes.set16(common.time.time, at: start + 6)
        bytes.set16(common.time.date, at: start + 8)
        bytes.set32(common.crc32, at: start + 10)
        bytes.set32(common.compressedSize, at: start + 14)
        bytes.set32(common.size, at: start + 18)
        bytes.set16(common.nameLength, at: start + 22)
    }
}
