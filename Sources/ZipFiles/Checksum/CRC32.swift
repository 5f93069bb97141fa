// SPDX-License-Identifier: Apache-2.0

/// The CRC-32 of zip archives (polynomial 0xEDB88320, APPNOTE 4.4.7), sixteen bytes a step.
///
/// Own code, since libzip doesn't lend out the checksum of the library beneath it, and a package's images are
/// summed once and then reused for every revision.
package enum CRC32 {
    /// The checksum of a whole byte array.
    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        checksum(bytes[...])
    }

    /// The checksum of a part of a byte array, without copying it; `seed` is the checksum of what precedes it.
    package static func checksum(_ bytes: ArraySlice<UInt8>, continuing seed: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe tables.withUnsafeBufferPointer { table in
                unsafe run(seed, buffer, table)
            }
        }
    }

    /// Sixteen tables of 256: table `k` advances a byte over `k` further zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 16 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
            tables[index] = value
        }
        for index in 256..<tables.count {
            let previous = tables[index - 256]
            tables[index] = tables[Int(previous & 0xFF)] ^ (previous >> 8)
        }
        return tables
    }()

    private static func run(
        _ crc: UInt32,
        _ bytes: UnsafeRawBufferPointer,
        _ table: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        var crc = ~crc
        var offset = 0
        let count = bytes.count
        while count &- offset >= 16 {
            // One four-byte word, whose last byte lies `distance` bytes before the end of the sixteen.
            func word(_ at: Int, _ mixed: UInt32, _ distance: Int) -> UInt32 {
                let loaded = unsafe UInt32(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: offset &+ at, as: UInt32.self)
                )
                let value = loaded ^ mixed
                let base = distance &* 256
                let low = unsafe table[base &+ 768 &+ Int(value & 0xFF)] ^ table[base &+ 512 &+ Int(value >> 8 & 0xFF)]
                let high = unsafe table[base &+ 256 &+ Int(value >> 16 & 0xFF)] ^ table[base &+ Int(value >> 24)]
                return low ^ high
            }
            let front = word(0, crc, 12) ^ word(4, 0, 8)
            crc = front ^ word(8, 0, 4) ^ word(12, 0, 0)
            offset &+= 16
        }
        while offset < count {
            crc = unsafe table[Int((crc ^ UInt32(bytes[offset])) & 0xFF)] ^ (crc >> 8)
            offset &+= 1
        }
        return ~crc
    }
}
