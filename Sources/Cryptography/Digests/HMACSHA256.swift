// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// HMAC with SHA-256 (RFC 2104): proves that whoever made the code knew the key.
package enum HMACSHA256 {
    /// The 32-byte code of a message under a key of any length.
    package static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { output, count in
            var length: UInt32 = 0
            // A nil key means "same key as before" to OpenSSL, so an empty key still needs an address.
            let done = unsafe (key.isEmpty ? [0] : key).withUnsafeBytes { keyBytes in
                unsafe message.withUnsafeBufferPointer { input in
                    unsafe HMAC(
                        MessageDigest.sha256.pointer,
                        keyBytes.baseAddress,
                        Int32(key.count),
                        input.baseAddress,
                        input.count,
                        output.baseAddress,
                        &length
                    )
                }
            }
            precondition(unsafe done != nil && length == 32, "HMAC-SHA-256 can't fail on memory")
            count = 32
        }
    }
}

/// Whether two secrets are equal, in time that depends on their lengths alone.
///
/// An ordinary comparison stops at the first difference, which tells a patient attacker how much of a token is right.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe a.withUnsafeBytes { left in
        unsafe b.withUnsafeBytes { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}
