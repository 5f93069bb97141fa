// SPDX-License-Identifier: Apache-2.0

import TestPatience
import Testing
import ZipFiles

/// Archives that are wrong in one way each, made from a good one.
enum Corpus {
    static func put16(_ value: UInt16, at offset: Int, in bytes: inout [UInt8]) {
        ArchiveBytes.put(Int(value), 2, at: offset, in: &bytes)
    }

    static func put32(_ value: UInt32, at offset: Int, in bytes: inout [UInt8]) {
        ArchiveBytes.put(Int(value), 4, at: offset, in: &bytes)
    }

    /// Replaces a text of the same length everywhere.
    static func replace(_ old: String, _ new: String, in bytes: inout [UInt8]) {
        for start in ArchiveBytes.positions(Array(old.utf8), in: bytes) {
            bytes.replaceSubrange(start..<start + old.utf8.count, with: new.utf8)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let title: String
        let code: ZipError.Code
        let change: @Sendable (inout [UInt8]) -> Void
        var testDescription: String { title }
    }

    /// The good archive: `aa/x.txt` with 5 bytes (local header at 0), then `bb/y.txt` with 5 bytes (at 43).
    static func good() throws -> [UInt8] {
        try archive([("aa/x.txt", Array("12345".utf8)), ("bb/y.txt", Array("67890".utf8))])
    }

    /// Changes a 16-bit field of the first entry, in its local header and in the directory.
    private static func both(_ local: Int, _ value: UInt16, _ bytes: inout [UInt8]) {
        put16(value, at: local, in: &bytes)
        put16(value, at: ArchiveBytes.records(bytes)[0] + local + 2, in: &bytes)
    }

    private static func directory(_ offset: Int, _ value: UInt32, _ bytes: inout [UInt8]) {
        put32(value, at: ArchiveBytes.records(bytes)[0] + offset, in: &bytes)
    }

    static let cases: [Case] = [
        Case(title: "no archive", code: .notAnArchive) { $0 = Array("this is a text and no archive".utf8) },
        Case(title: "empty file", code: .notAnArchive) { $0 = [] },
        Case(title: "cut off", code: .truncated) { $0.removeLast(23) },
        Case(title: "parent folder", code: .unsafePath) { replace("aa/x.txt", "../x.txt", in: &$0) },
        Case(title: "parent folder inside", code: .unsafePath) { replace("aa/x.txt", "a/../txt", in: &$0) },
        Case(title: "absolute path", code: .unsafePath) { replace("aa/x.txt", "/a/x.txt", in: &$0) },
        Case(title: "backslash", code: .unsafePath) { replace("aa/x.txt", "aa\\x.txt", in: &$0) },
        Case(title: "drive letter", code: .unsafePath) { replace("aa/x.txt", "C:/x.txt", in: &$0) },
        Case(title: "NUL in a name", code: .unsafePath) { replace("aa/x.txt", "aa/x\0txt", in: &$0) },
        Case(title: "name is not UTF-8", code: .badName) { bytes in
            for start in ArchiveBytes.positions(Array("aa/x.txt".utf8), in: bytes) { bytes[start] = 0xFF }
        },
        Case(title: "two entries of a name", code: .duplicateName) { replace("bb/y.txt", "aa/x.txt", in: &$0) },
        Case(title: "symbolic link", code: .symlink) { directory(38, 0o120777 << 16, &$0) },
        Case(title: "device", code: .specialFile) { directory(38, 0o020644 << 16, &$0) },
        Case(title: "folder by mode", code: .headerMismatch) { directory(38, 0o040755 << 16, &$0) },
        Case(title: "another local name", code: .headerMismatch) { $0[30] = 0x7A },
        Case(title: "another local size", code: .headerMismatch) { put32(4, at: 22, in: &$0) },
        Case(title: "another local compressed size", code: .headerMismatch) { put32(4, at: 18, in: &$0) },
        Case(title: "another local checksum", code: .headerMismatch) { put32(4, at: 14, in: &$0) },
        Case(title: "another local method", code: .headerMismatch) { put16(8, at: 8, in: &$0) },
        Case(title: "another local flag", code: .headerMismatch) { put16(0x800, at: 6, in: &$0) },
        Case(title: "stored with two sizes", code: .headerMismatch) { bytes in
            directory(24, 6, &bytes)
            put32(6, at: 22, in: &bytes)
        },
        Case(title: "encrypted", code: .encrypted) { both(6, 1, &$0) },
        Case(title: "strong encryption", code: .encrypted) { both(6, 1 << 6, &$0) },
        Case(title: "data descriptor that isn't there", code: .headerMismatch) { both(6, 1 << 3, &$0) },
        Case(title: "unknown method", code: .unsupportedMethod) { both(8, 12, &$0) },
        Case(title: "64-bit size", code: .zip64) { directory(24, .max, &$0) },
        Case(title: "64-bit directory", code: .zip64) { put32(.max, at: $0.count - 6, in: &$0) },
        Case(title: "64-bit locator", code: .zip64) { bytes in
            bytes.insert(contentsOf: [0x50, 0x4B, 0x06, 0x07] + [UInt8](repeating: 0, count: 16), at: bytes.count - 22)
        },
        Case(title: "second name in an extra field", code: .alternateName) {
            ArchiveBytes.addExtraField([0x75, 0x70, 0, 0], in: &$0)
        },
        Case(title: "several disks", code: .multipleDisks) { put16(1, at: $0.count - 18, in: &$0) },
        Case(title: "entry on another disk", code: .multipleDisks) { bytes in
            put16(1, at: ArchiveBytes.records(bytes)[0] + 34, in: &bytes)
        },
        Case(title: "two numbers of entries", code: .malformed) { put16(1, at: $0.count - 14, in: &$0) },
        Case(title: "fewer entries than records", code: .malformed) { bytes in
            put16(1, at: bytes.count - 14, in: &bytes)
            put16(1, at: bytes.count - 12, in: &bytes)
        },
        Case(title: "more entries than records", code: .malformed) { bytes in
            put16(3, at: bytes.count - 14, in: &bytes)
            put16(3, at: bytes.count - 12, in: &bytes)
        },
        Case(title: "directory beyond the end", code: .truncated) { put32(1 << 20, at: $0.count - 10, in: &$0) },
        Case(title: "entry beyond the end", code: .truncated) { directory(42, 1 << 20, &$0) },
        Case(title: "data beyond the directory", code: .truncated) { bytes in
            directory(20, 500, &bytes)
            directory(24, 500, &bytes)
        },
        Case(title: "two records of one local header", code: .overlap) { bytes in
            put32(0, at: ArchiveBytes.records(bytes)[1] + 42, in: &bytes)
        },
        Case(title: "bytes before the first entry", code: .gap) { $0.insert(contentsOf: [1, 2, 3], at: 0) },
        Case(title: "bytes between entries and directory", code: .gap) {
            ArchiveBytes.insertBeforeDirectory([1, 2, 3], in: &$0)
        },
        Case(title: "bytes between directory and end", code: .gap) {
            $0.insert(contentsOf: [1, 2, 3], at: $0.count - 22)
        },
        Case(title: "entry that isn't in the directory", code: .hiddenEntry) { bytes in
            ArchiveBytes.insertBeforeDirectory(Array(bytes[0..<43]), in: &bytes)
        },
        Case(title: "bytes after the end", code: .trailingBytes) { $0.append(contentsOf: [1, 2, 3]) },
        Case(title: "comment cut off", code: .truncated) { put16(9, at: $0.count - 2, in: &$0) },
    ]
}
