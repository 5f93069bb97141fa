// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A digest algorithm, looked up in OpenSSL's providers once: each look-up costs more than hashing a short message.
@safe
final class MessageDigest: @unchecked Sendable {
    // Never changed after init, and EVP_MD is immutable once fetched: any thread may use it.
    let pointer: OpaquePointer

    /// SHA-256, the digest of manifests, signatures and tokens.
    static let sha256 = MessageDigest("SHA2-256")
    /// SHA-1. Only makes and recognises what must be refused, and key identifiers (RFC 5280 4.2.1.2).
    static let sha1 = MessageDigest("SHA1")

    private init(_ name: String) {
        guard let pointer = unsafe EVP_MD_fetch(nil, name, nil) else { fatalError("OpenSSL has no \(name)") }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_MD_free(pointer)
    }
}
