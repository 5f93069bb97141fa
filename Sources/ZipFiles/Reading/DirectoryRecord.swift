// SPDX-License-Identifier: Apache-2.0

/// One record of the directory at an archive's end (APPNOTE 4.3.12), as it stands there.
struct DirectoryRecord {
    let versionNeeded: UInt16
    let flags: UInt16
    let method: UInt16
    let time: DOSTime
    let crc32: UInt32
    let compressedSize: UInt32
    let size: UInt32
    let nameBytes: ArraySlice<UInt8>
    let extra: ArraySlice<UInt8>
    let hasComment: Bool
    let disk: UInt16
    let externalAttributes: UInt32
    let offset: UInt32
    /// The whole record's length.
    let length: Int

    /// Reads the record at `start`, or nil where none fits before `end`.
    init?(_ bytes: [UInt8], at start: Int, before end: Int) {
        guard end - start >= ZipRecord.directoryLength, bytes.get32(start) == ZipRecord.directorySignature else {
            return nil
        }
        let nameStart = start + ZipRecord.directoryLength
        let extraStart = nameStart + Int(bytes.get16(start + 28))
        let commentStart = extraStart + Int(bytes.get16(start + 30))
        let commentLength = Int(bytes.get16(start + 32))
        guard commentStart + commentLength <= end else { return nil }
        versionNeeded = bytes.get16(start + 6)
        flags = bytes.get16(start + 8)
        method = bytes.get16(start + 10)
        time = DOSTime(time: bytes.get16(start + 12), date: bytes.get16(start + 14))
        crc32 = bytes.get32(start + 16)
        compressedSize = bytes.get32(start + 20)
        size = bytes.get32(start + 24)
        nameBytes = bytes[nameStart..<extraStart]
        extra = bytes[extraStart..<commentStart]
        hasComment = commentLength > 0
        disk = bytes.get16(start + 34)
        externalAttributes = bytes.get32(start + 38)
        offset = bytes.get32(start + 42)
        length = commentStart + commentLength - start
    }

    /// The name as text; bytes that aren't UTF-8 are replaced, and ``hasValidName`` is false then.
    var name: String { String(decoding: nameBytes, as: UTF8.self) }

    /// Whether the name is valid UTF-8.
    var hasValidName: Bool { String(validating: nameBytes, as: UTF8.self) != nil }

    /// The Unix file type bits, 0 where none are given.
    var fileType: UInt32 { externalAttributes >> 16 & 0o170000 }
}

/// The identifiers of the fields in an extra field (APPNOTE 4.5).
enum ExtraField {
    /// Sizes and offsets of 64 bits.
    static let zip64: UInt16 = 0x0001
    /// Info-ZIP's second name in UTF-8, which some readers take instead of the first.
    static let unicodePath: UInt16 = 0x7075

    /// The unpacked and the packed size in a local header's extra field, where it has them (APPNOTE 4.5.3).
    static func wideSizes(_ extra: ArraySlice<UInt8>) -> (size: UInt64, compressedSize: UInt64)? {
        var rest = extra
        while rest.count >= 4 {
            let start = rest.startIndex
            let identifier = UInt16(rest[start]) | UInt16(rest[start + 1]) << 8
            let body = rest.dropFirst(4).prefix(Int(rest[start + 2]) | Int(rest[start + 3]) << 8)
            if identifier == zip64 {
                guard body.count >= 16 else { return nil }
                let numbers = [body.prefix(8), body.dropFirst(8).prefix(8)].map { bytes in
                    bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                }
                return (numbers[0], numbers[1])
            }
            rest = rest.dropFirst(4 + body.count)
        }
        return nil
    }

    /// The second names that an extra field holds (APPNOTE 4.6.9): behind a version and the first name's checksum.
    static func unicodePaths(_ extra: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var paths: [ArraySlice<UInt8>] = []
        var rest = extra
        while rest.count >= 4 {
            let start = rest.startIndex
            let identifier = UInt16(rest[start]) | UInt16(rest[start + 1]) << 8
            let body = rest.dropFirst(4).prefix(Int(rest[start + 2]) | Int(rest[start + 3]) << 8)
            if identifier == unicodePath { paths.append(body.dropFirst(5)) }
            rest = rest.dropFirst(4 + body.count)
        }
        return paths
    }

    /// The identifiers that an extra field holds; what doesn't fit is left out.
    static func identifiers(_ extra: ArraySlice<UInt8>) -> [UInt16] {
        var identifiers: [UInt16] = []
        var position = extra.startIndex
        while extra.endIndex - position >= 4 {
            identifiers.append(UInt16(extra[position]) | UInt16(extra[position + 1]) << 8)
            position += 4 + (Int(extra[position + 2]) | Int(extra[position + 3]) << 8)
        }
        return identifiers
    }
}
