// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A private key, shared by everything that signs or answers with it.
@safe
public final class PrivateKey: @unchecked Sendable {
    // Never changed after init. OpenSSL counts references atomically and guards the key's caches (blinding, exported
    // forms) with locks of its own, so any number of threads may sign with it at once.
    let pointer: OpaquePointer
    /// Set up for signing SHA-256 digests, and copied for each signature: setting up looks algorithms up by name, which
    /// costs more than everything else around the key's own arithmetic. nil when the key can't sign digests.
    private let signing: OpaquePointer?

    init(takingOwnership pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        unsafe signing = Self.signingContext(pointer)
    }

    private static func signingContext(_ key: OpaquePointer) -> OpaquePointer? {
        defer { OpenSSLFailures.clear() }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
        guard unsafe EVP_PKEY_sign_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(context, MessageDigest.sha256.pointer) == 1
        else {
            unsafe EVP_PKEY_CTX_free(context)
            return nil
        }
        return unsafe context
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(signing)
        // Wipes the key's numbers when this was the last reference.
        unsafe EVP_PKEY_free(pointer)
    }

    /// Whether this is an RSA key for PKCS#1 signatures, the only kind that signs orders.
    public var isRSA: Bool { unsafe EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA }

    /// The size in bits: the modulus of RSA, the order of a curve.
    public var bits: Int { unsafe Int(EVP_PKEY_get_bits(pointer)) }

    /// Makes a new RSA key.
    /// - Throws: `weakKey` below 1,024 bits, `failed` when OpenSSL can't.
    public static func generateRSA(bits: Int = 2048) throws(CryptographyError) -> PrivateKey {
        guard (1024...16_384).contains(bits) else {
            throw CryptographyError(.weakKey, "an RSA key has 1,024 to 16,384 bits, not \(bits)")
        }
        return try unsafe generate("RSA") { unsafe EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)) }
    }

    /// Makes a new key on the curve P-256: small and quick for TLS. It can't sign orders.
    public static func generateP256() throws(CryptographyError) -> PrivateKey {
        try unsafe generate("EC") { unsafe EVP_PKEY_CTX_set_group_name($0, "P-256") }
    }

    private static func generate(
        _ algorithm: String,
        _ configure: (OpaquePointer) -> Int32
    ) throws(CryptographyError) -> PrivateKey {
        OpenSSLFailures.clear()
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
            throw OpenSSLFailures.drain().error(.unsupportedAlgorithm, "OpenSSL has no \(algorithm) keys")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe configure(context) == 1,
            unsafe EVP_PKEY_generate(context, &made) == 1, let made = unsafe made
        else {
            throw OpenSSLFailures.drain().error(.failed, "no \(algorithm) key could be made")
        }
        return unsafe PrivateKey(takingOwnership: made)
    }

    /// A signature of `message` with SHA-256: PKCS#1 v1.5 for RSA (no randomness), ECDSA for curves.
    package func signature(of message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        OpenSSLFailures.clear()
        let digest = SHA256.hash(message).bytes
        guard let signing = unsafe signing, let context = unsafe EVP_PKEY_CTX_dup(signing) else {
            throw OpenSSLFailures.drain().error(.failed, "the key can't sign")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var capacity = unsafe Int(EVP_PKEY_get_size(pointer))
        var done = false
        let signature = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            done = unsafe digest.withUnsafeBufferPointer { input in
                unsafe EVP_PKEY_sign(context, output.baseAddress, &capacity, input.baseAddress, input.count) == 1
            }
            count = done ? capacity : 0
        }
        guard done else { throw OpenSSLFailures.drain().error(.failed, "the key could not sign") }
        return signature
    }
}
