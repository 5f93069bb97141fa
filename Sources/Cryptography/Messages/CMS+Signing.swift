// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension CMS {
    /// Signs `content` for Wallet: DER, detached, SHA-256 with RSA PKCS#1 v1.5, one signer named by its subject key
    /// identifier (SignedData version 3), the attributes contentType, signingTime and messageDigest and no other.
    ///
    /// PKCS#1 v1.5 has no randomness, so equal input gives equal bytes on every machine; keys on curves are refused for
    /// that reason, and because Apple issues none. Safe to call from any number of threads with one key.
    /// - Parameters:
    ///   - signer: the leaf, embedded. Without a subject key identifier it is named by issuer and serial number
    ///     (version 1).
    ///   - intermediates: embedded too; roots among them are left out, since a reader must have its own.
    ///   - signingTime: seconds since 1970; UTCTime, from 2050 on GeneralizedTime.
    /// - Throws: `unsupportedAlgorithm` for a key that isn't RSA, `keyMismatch`, `failed`.
    package static func signDetached(
        _ content: [UInt8],
        signer: Certificate,
        key: PrivateKey,
        intermediates: [Certificate],
        signingTime: Int64
    ) throws(CryptographyError) -> [UInt8] {
        guard key.isRSA, signer.isRSA else {
            throw CryptographyError(
                .unsupportedAlgorithm,
                "orders are signed with RSA; this key or certificate is not RSA"
            )
        }
        OpenSSLFailures.clear()
        let flags = UInt32(CMS_PARTIAL | CMS_BINARY | CMS_DETACHED)
        guard let started = unsafe CMS_sign(nil, nil, nil, nil, flags) else {
            throw OpenSSLFailures.drain().error(.failed, "no signature could be started")
        }
        let structure = unsafe CMSStructure(takingOwnership: started)
        let naming = unsafe X509_get0_subject_key_id(signer.pointer) == nil ? 0 : CMS_USE_KEYID
        guard
            let info = unsafe CMS_add1_signer(
                structure.pointer,
                signer.pointer,
                key.pointer,
                MessageDigest.sha256.pointer,
                UInt32(CMS_BINARY | CMS_NOSMIMECAP) | UInt32(naming)
            )
        else {
            let failures = OpenSSLFailures.drain()
            throw signer.matches(key)
                ? failures.error(.failed, "the certificate can't sign")
                : failures.error(.keyMismatch, "the private key does not belong to \(signer.subjectDescription)")
        }
        // Set beforehand: otherwise OpenSSL would take the clock, and equal input would give other bytes.
        var done = unsafe ASN1Time.withTime(signingTime) { time in
            unsafe CMS_signed_add1_attr_by_NID(info, NID_pkcs9_signingTime, time.pointee.type, time, -1) == 1
        }
        var embedded = [signer]
        for intermediate in intermediates where !intermediate.isSelfIssued && !embedded.contains(intermediate) {
            embedded.append(intermediate)
            done = unsafe done && CMS_add1_cert(structure.pointer, intermediate.pointer) == 1
        }
        guard done else { throw OpenSSLFailures.drain().error(.failed, "the signature could not be filled in") }
        done = structure.finish(content, flags: flags)
        guard done, let der = structure.encoded() else {
            throw OpenSSLFailures.drain().error(.failed, "the content could not be signed")
        }
        return der
    }
}
