// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Synchronization

/// An X.509 certificate (RFC 5280), read once and shared.
@safe
public final class Certificate: @unchecked Sendable {
    // Never changed after init. OpenSSL's cache of extensions is filled in init; later reads take its lock, so any
    // thread may read.
    let pointer: OpaquePointer
    /// The exact bytes.
    public let der: [UInt8]
    /// Valid from this second on; seconds since 1970.
    public let notBefore: Int64
    /// Valid up to and including this second; seconds since 1970.
    public let notAfter: Int64
    /// Set up for checking signatures with its key, once one has been checked; copied for each. As a number, since atomics
    /// know no opaque pointers.
    private let checking = Atomic<UInt>(0)

    /// - Throws: `notDER` when the certificate's own extensions contradict themselves, or its dates can't be read.
    init(takingOwnership pointer: OpaquePointer) throws(CryptographyError) {
        unsafe self.pointer = pointer
        der = unsafe encodeDER { unsafe i2d_X509(pointer, $0) } ?? []
        let start = unsafe ASN1Time.seconds(X509_get0_notBefore(pointer))
        let end = unsafe ASN1Time.seconds(X509_get0_notAfter(pointer))
        notBefore = start ?? 0
        notAfter = end ?? 0
        guard start != nil, end != nil else {
            throw OpenSSLFailures.drain().error(
                .notDER,
                "the certificate \(subjectDescription) has dates that can't be read; ask for a new one"
            )
        }
        unsafe X509_check_purpose(pointer, -1, 0)
        guard unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_INVALID) == 0, !der.isEmpty else {
            throw OpenSSLFailures.drain().error(.notDER, "the certificate's extensions can't be read")
        }
        OpenSSLFailures.clear()
    }

    /// Takes a further reference to a certificate that something else owns.
    convenience init(sharing pointer: OpaquePointer) throws(CryptographyError) {
        unsafe X509_up_ref(pointer)
        try unsafe self.init(takingOwnership: pointer)
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(OpaquePointer(bitPattern: checking.load(ordering: .acquiring)))
        unsafe X509_free(pointer)
    }

    /// Reads one certificate in DER.
    /// - Throws: `notDER` for anything else, PEM included, and for bytes after the certificate.
    public convenience init(der: [UInt8]) throws(CryptographyError) {
        OpenSSLFailures.clear()
        let certificate = unsafe decodeDER(der) { cursor, length in
            unsafe d2i_X509(nil, cursor, length)
        } free: {
            unsafe X509_free($0)
        }
        guard let certificate = unsafe certificate else {
            let isDER = der.first == 0x30
            throw OpenSSLFailures.drain().error(
                .notDER,
                "no certificate in DER here: "
                    + (isDER ? "the bytes are no certificate, or damaged" : PEMText.describe(der))
            )
        }
        try unsafe self.init(takingOwnership: certificate)
    }

    /// Reads the first certificate of a PEM text.
    /// - Throws: `notPEM`, `noCertificate`.
    public convenience init(pem: [UInt8]) throws(CryptographyError) {
        guard let first = try Self.all(pem: pem).first else {
            throw CryptographyError(.noCertificate, "no certificate here: \(PEMText.describe(pem))")
        }
        try unsafe self.init(sharing: first.pointer)
    }

    /// Reads all certificates of a PEM text, in order; other blocks (keys) and comments are skipped.
    /// - Throws: `notPEM` for text without any block or with a damaged one, `noCertificate` without a certificate.
    public static func all(pem: [UInt8]) throws(CryptographyError) -> [Certificate] {
        let labels = PEMText.labels(in: pem)
        guard labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) else {
            throw CryptographyError(
                labels.isEmpty ? .notPEM : .noCertificate,
                "no certificate here: \(PEMText.describe(pem)); one starts with -----BEGIN CERTIFICATE-----"
            )
        }
        OpenSSLFailures.clear()
        let secret = Passphrase(nil)
        var pointers: [OpaquePointer] = unsafe []
        unsafe withReadBuffer(pem, from: PEMText.markLength(pem)) { bio in
            while let next = unsafe secret.withContext({
                unsafe PEM_read_bio_X509(bio, nil, Passphrase.callback, $0)
            }) {
                unsafe pointers.append(next)
            }
        }
        let failures = OpenSSLFailures.drain()
        // Each pointer gets its owner before anything may throw.
        var certificates: [Certificate] = []
        var fault: CryptographyError?
        for index in unsafe pointers.indices {
            do throws(CryptographyError) {
                certificates.append(try unsafe Certificate(takingOwnership: pointers[index]))
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        // Reading ends with "no start line" at the end of the text; any other end is a damaged block.
        guard failures.contain(library: ERR_LIB_PEM, reason: PEM_R_NO_START_LINE) else {
            throw failures.error(.notPEM, "certificate \(certificates.count + 1) in the PEM text is damaged")
        }
        guard !certificates.isEmpty else {
            throw failures.error(.noCertificate, "no certificate here: \(PEMText.describe(pem))")
        }
        return certificates
    }

    /// The certificate as PEM text.
    public func pem() -> [UInt8] {
        let buffer = MemoryBuffer()
        let done = unsafe buffer.withBIO { unsafe PEM_write_bio_X509($0, pointer) }
        precondition(done == 1, "a certificate that was read can be written")
        return buffer.contents()
    }

    /// SHA-256 over the whole certificate.
    public var fingerprint: SHA256Digest { SHA256.hash(der) }

    /// Whether `key` is the private half of this certificate's key.
    public func matches(_ key: PrivateKey) -> Bool {
        defer { OpenSSLFailures.clear() }
        guard let own = unsafe X509_get0_pubkey(pointer) else { return false }
        return unsafe EVP_PKEY_eq(own, key.pointer) == 1
    }

    /// Whether `signature` is one of this certificate's key over `message`: RSA PKCS#1 v1.5 with SHA-256. Keys of other kinds
    /// have none.
    func verifies(_ signature: ArraySlice<UInt8>, over message: [UInt8]) -> Bool {
        defer { OpenSSLFailures.clear() }
        guard let template = unsafe checkingContext(), let context = unsafe EVP_PKEY_CTX_dup(template) else {
            return false
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let digest = SHA256.hash(message).bytes
        return unsafe signature.withUnsafeBufferPointer { signature in
            unsafe digest.withUnsafeBufferPointer { digest in
                unsafe EVP_PKEY_verify(
                    context,
                    signature.baseAddress,
                    signature.count,
                    digest.baseAddress,
                    digest.count
                ) == 1
            }
        }
    }

    private func checkingContext() -> OpaquePointer? {
        if let made = unsafe OpaquePointer(bitPattern: checking.load(ordering: .acquiring)) { return unsafe made }
        guard isRSA, let key = unsafe X509_get0_pubkey(pointer),
            let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
        else { return nil }
        guard unsafe EVP_PKEY_verify_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(context, MessageDigest.sha256.pointer) == 1
        else {
            unsafe EVP_PKEY_CTX_free(context)
            return nil
        }
        let (exchanged, other) = checking.compareExchange(
            expected: 0,
            desired: UInt(bitPattern: context),
            ordering: .acquiringAndReleasing
        )
        if exchanged { return unsafe context }
        unsafe EVP_PKEY_CTX_free(context)
        return unsafe OpaquePointer(bitPattern: other)
    }

    /// Whether `issuer` really signed this certificate: names and key identifiers fit, the issuer may sign, and the
    /// signature is right. A name alone proves nothing.
    public func isSigned(by issuer: Certificate) -> Bool {
        defer { OpenSSLFailures.clear() }
        guard unsafe X509_check_issued(issuer.pointer, pointer) == X509_V_OK,
            let key = unsafe X509_get0_pubkey(issuer.pointer)
        else { return false }
        return unsafe X509_verify(pointer, key) == 1
    }
}

extension Certificate: Hashable {
    /// Equal means: the same bytes.
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left === right || left.der == right.der
    }

    /// Hashes the end of the signature, which differs wherever anything does.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Array(der.suffix(16)))
    }
}
