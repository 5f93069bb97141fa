// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a 16-bit number, least byte first.
    mutating func append16(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value >> 8))
    }

    /// Appends a 32-bit number, least byte first.
    mutating func append32(_ value: UInt32) {
        append16(UInt16(truncatingIfNeeded: value))
        append16(UInt16(truncatingIfNeeded: value >> 16))
    }

    /// Overwrites the two bytes at `offset`.
    mutating func set16(_ value: UInt16, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: value)
        self[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
    }

    /// Overwrites the four bytes at `offset`.
    mutating func set32(_ value: UInt32, at offset: Int) {
        set16(UInt16(truncatingIfNeeded: value), at: offset)
        set16(UInt16(truncatingIfNeeded: value >> 16), at: offset + 2)
    }

    /// The 16-bit number at `offset`; the caller has checked that it lies inside.
    func get16(_ offset: Int) -> UInt16 {
        UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }

    /// The 32-bit number at `offset`; the caller has checked that it lies inside.
    func get32(_ offset: Int) -> UInt32 {
        UInt32(get16(offset)) | UInt32(get16(offset + 2)) << 16
    }
}
