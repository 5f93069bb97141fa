// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// SHA-256 (FIPS 180-4) of whole messages.
package enum SHA256 {
    /// The digest of one message.
    package static func hash(_ bytes: [UInt8]) -> SHA256Digest {
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { output, count in
            count = SHA256Digest.byteCount
            let done = unsafe bytes.withUnsafeBytes { input in
                unsafe EVP_Digest(
                    input.baseAddress,
                    input.count,
                    output.baseAddress,
                    nil,
                    MessageDigest.sha256.pointer,
                    nil
                )
            }
            precondition(done == 1, "SHA-256 can't fail on memory")
        }
        return SHA256Digest(bytes: digest)
    }

    /// The digest of several parts, as if they were joined.
    package static func hash(_ parts: [[UInt8]]) -> SHA256Digest {
        var hasher = SHA256Hasher()
        for part in parts { hasher.update(part) }
        return hasher.finish()
    }
}

/// SHA-256 of a message that arrives piece by piece.
@safe
package struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer

    /// Starts with the empty message.
    package init() {
        guard let context = unsafe EVP_MD_CTX_new() else { fatalError("out of memory") }
        unsafe self.context = context
        let started = unsafe EVP_DigestInit_ex2(context, MessageDigest.sha256.pointer, nil)
        precondition(started == 1, "SHA-256 can't fail on memory")
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    /// Adds bytes to the message.
    package mutating func update(_ bytes: [UInt8]) {
        let done = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(done == 1, "SHA-256 can't fail on memory")
    }

    /// Ends the message.
    package consuming func finish() -> SHA256Digest {
        let context = unsafe self.context
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { output, count in
            count = SHA256Digest.byteCount
            let done = unsafe EVP_DigestFinal_ex(context, output.baseAddress, nil)
            precondition(done == 1, "SHA-256 can't fail on memory")
        }
        // The last use of `self` is above, so its deinit could come too early: free by hand instead.
        unsafe EVP_MD_CTX_free(context)
        discard self
        return SHA256Digest(bytes: digest)
    }
}
