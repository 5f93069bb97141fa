// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Unguessable bytes from OpenSSL's generator, which the kernel seeds.
package enum SecureRandom {
    /// `count` unguessable bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // A process that can't get randomness must not go on and hand out guessable tokens.
            precondition(unsafe RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "no randomness from the system")
            filled = count
        }
    }

    /// A random UUID in lower case (RFC 9562, version 4).
    package static func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let hex = Array(Hex.encode(bytes).utf8)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(decoding: hex[$0], as: UTF8.self) }.joined(separator: "-")
    }
}
