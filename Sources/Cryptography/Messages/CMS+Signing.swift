// SPDX-License-Identifier: Apache-2.0

extension CMS {
    /// Signs `content` for Wallet: DER, detached, SHA-256 with RSA PKCS#1 v1.5, one signer named by its subject key
    /// identifier (SignedData version 3), the attributes contentType, signingTime and messageDigest and no other.
    ///
    /// PKCS#1 v1.5 has no randomness, so equal input gives equal bytes on every machine; keys on curves are refused for
    /// that reason, and because Apple issues none. Safe to call from any number of threads with one key.
    ///
    /// The structure is written here and only the signature comes from OpenSSL: its bytes are those of OpenSSL's own CMS
    /// writer (a test compares them), which costs a tenth of the signature on top.
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
        guard signer.matches(key) else {
            throw CryptographyError(
                .keyMismatch,
                "the private key does not belong to \(signer.subjectDescription)"
            )
        }
        let attributes = signedAttributes(digest: SHA256.hash(content), signingTime: signingTime)
        // What is signed is the SET itself; inside SignerInfo it stands under a tag of its own (RFC 5652 5.4).
        let signature = try key.signature(of: DER.value(0x31, attributes))
        let keyIdentifier = signer.subjectKeyIdentifier
        let version = DER.integer(keyIdentifier == nil ? 1 : 3)
        let signerInfo = DER.sequence([
            version,
            keyIdentifier.map { DER.value(0x80, $0) } ?? signer.issuerAndSerialNumber,
            sha256Algorithm,
            DER.value(0xa0, attributes),
            rsaAlgorithm,
            DER.octetString(signature),
        ])
        let signedData = DER.sequence([
            version,
            DER.value(0x31, sha256Algorithm),
            DER.sequence([dataIdentifier]),
            DER.value(0xa0, embedded([signer] + intermediates)),
            DER.value(0x31, signerInfo),
        ])
        return DER.sequence([signedDataIdentifier, DER.value(0xa0, signedData)])
    }

    /// The three attributes in DER's order, which sorts a SET by its members' bytes: their lengths decide it, whatever
    /// the values are.
    private static func signedAttributes(digest: SHA256Digest, signingTime: Int64) -> [UInt8] {
        contentTypePart
            + DER.sequence([signingTimeIdentifier, DER.value(0x31, ASN1Time.der(signingTime))])
            + DER.sequence([messageDigestIdentifier, DER.value(0x31, DER.octetString(digest.bytes))])
    }

    /// The certificates without roots and repetitions, sorted as DER sorts a SET.
    private static func embedded(_ certificates: [Certificate]) -> [UInt8] {
        var members: [[UInt8]] = []
        for (index, certificate) in certificates.enumerated()
        where (index == 0 || !certificate.isSelfIssued) && !members.contains(certificate.der) {
            members.append(certificate.der)
        }
        members.sort { $0.lexicographicallyPrecedes($1) }
        return DER.join(members)
    }

    private static func identifier(_ dotted: String) -> [UInt8] {
        guard let encoded = DER.objectIdentifier(dotted) else { fatalError("\(dotted) is no object identifier") }
        return encoded
    }

    private static let dataIdentifier = identifier(dataType)
    private static let signedDataIdentifier = identifier("1.2.840.113549.1.7.2")
    private static let signingTimeIdentifier = identifier(signingTimeAttribute)
    private static let messageDigestIdentifier = identifier(messageDigestAttribute)
    private static let contentTypePart = DER.sequence([
        identifier(contentTypeAttribute), DER.value(0x31, dataIdentifier),
    ])
    /// Without parameters, as in the one real order known (RFC 5754 2 allows both forms).
    private static let sha256Algorithm = DER.sequence([identifier("2.16.840.1.101.3.4.2.1")])
    private static let rsaAlgorithm = DER.sequence([identifier("1.2.840.113549.1.1.1"), DER.null])
}
