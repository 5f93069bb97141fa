// SPDX-License-Identifier: Apache-2.0

/// Byte for byte changes of a zip archive that has no comment. Offsets in its records are those of APPNOTE 4.3.
package enum ArchiveBytes {
    /// Where a run of bytes stands.
    package static func positions(_ run: [UInt8], in bytes: [UInt8]) -> [Int] {
        bytes.indices.filter { bytes[$0] == run[0] && bytes[$0...].starts(with: run) }
    }

    /// Where the directory's records stand.
    package static func records(_ bytes: [UInt8]) -> [Int] { positions([0x50, 0x4B, 0x01, 0x02], in: bytes) }

    /// The number in a field of so many bytes, the lowest first.
    package static func number(_ width: Int, at offset: Int, in bytes: [UInt8]) -> Int {
        (0..<width).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    /// Sets a field of so many bytes, the lowest first.
    package static func put(_ value: Int, _ width: Int, at offset: Int, in bytes: inout [UInt8]) {
        for index in 0..<width { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    }

    /// Inserts bytes before the directory, whose recorded place moves along.
    package static func insertBeforeDirectory(_ inserted: [UInt8], in bytes: inout [UInt8]) {
        let directory = records(bytes)[0]
        bytes.insert(contentsOf: inserted, at: directory)
        put(directory + inserted.count, 4, at: bytes.count - 6, in: &bytes)
    }

    /// Gives the directory's record of the last entry an extra field.
    package static func addExtraField(_ field: [UInt8], in bytes: inout [UInt8]) {
        put(field.count, 2, at: (records(bytes).last ?? 0) + 30, in: &bytes)
        bytes.insert(contentsOf: field, at: bytes.count - 22)
        let size = bytes.count - 10
        put(number(4, at: size, in: bytes) + field.count, 4, at: size, in: &bytes)
    }
}
