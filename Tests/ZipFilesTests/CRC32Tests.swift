// SPDX-License-Identifier: Apache-2.0

import Testing
import ZipFiles

@Suite("CRC-32")
struct CRC32Tests {
    @Test(
        "the known check values",
        arguments: [
            ("", 0), ("a", 0xE8B7_BE43), ("123456789", 0xCBF4_3926),
            ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
        ] as [(String, UInt32)]
    )
    func knownValues(text: String, expected: UInt32) {
        #expect(CRC32.checksum(Array(text.utf8)) == expected)
    }

    @Test("every length and every cut give the value of the bit-by-bit definition")
    func cuts() {
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
        for length in 0...bytes.count {
            var expected: UInt32 = .max
            for byte in bytes[..<length] {
                expected ^= UInt32(byte)
                for _ in 0..<8 { expected = expected & 1 == 1 ? 0xEDB8_8320 ^ (expected >> 1) : expected >> 1 }
            }
            #expect(CRC32.checksum(bytes[..<length]) == ~expected)
            let cut = length / 3
            #expect(CRC32.checksum(bytes[cut..<length], continuing: CRC32.checksum(bytes[..<cut])) == ~expected)
        }
    }
}
