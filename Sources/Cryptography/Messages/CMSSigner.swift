// SPDX-License-Identifier: Apache-2.0

/// Signs for Wallet: DER, detached, SHA-256 with RSA PKCS#1 v1.5, one signer named by its subject key identifier
/// (SignedData version 3), the attributes contentType, signingTime and messageDigest and no other.
///
/// PKCS#1 v1.5 has no randomness, so equal input gives equal bytes on every machine; keys on curves are refused for that
/// reason, and because Apple issues none. Made once an identity; any number of threads may sign with it.
///
/// The structure is written here and only the signature comes from OpenSSL: its bytes are those of OpenSSL's own CMS
/// writer (a test compares them), which costs a tenth of the signature on top.
package struct CMSSigner: Sendable {
    private let key: PrivateKey
    /// What stands in front of the signer infos: version, digest algorithm, content type, certificates.
    private let front: [UInt8]
    /// What a signer info starts with: version, the certificate's name, digest algorithm.
    private let name: [UInt8]

    /// - Parameters:
    ///   - certificate: the leaf, embedded. Without a subject key identifier it is named by issuer and serial number
    ///     (version 1).
    ///   - key: its private key.
    ///   - intermediates: embedded too; roots among them are left out, since a reader must have its own.
    /// - Throws: `unsupportedAlgorithm` for a key that isn't RSA, `keyMismatch`.
    package init(
        certificate: Certificate,
        key: PrivateKey,
        intermediates: [Certificate]
    ) throws(CryptographyError) {
        guard key.isRSA, certificate.isRSA else {
            throw CryptographyError(
                .unsupportedAlgorithm,
                "orders are signed with RSA; this key or certificate is not RSA"
            )
        }
        guard certificate.matches(key) else {
            throw CryptographyError(
                .keyMismatch,
                "the private key does not belong to \(certificate.subjectDescription)"
            )
        }
        let keyIdentifier = certificate.subjectKeyIdentifier
        let version = DER.integer(keyIdentifier == nil ? 1 : 3)
        self.key = key
        front = DER.join([
            version,
            DER.value(0x31, CMSParts.sha256Algorithm),
            DER.sequence([CMSParts.dataIdentifier]),
            DER.value(0xa0, Self.embedded([certificate] + intermediates)),
        ])
        name = DER.join([
            version,
            keyIdentifier.map { DER.value(0x80, $0) } ?? certificate.issuerAndSerialNumber,
            CMSParts.sha256Algorithm,
        ])
    }

    /// Signs `content`.
    ///
    /// - Parameter signingTime: seconds since 1970; UTCTime, from 2050 on GeneralizedTime.
    /// - Throws: `failed`.
    package func sign(_ content: [UInt8], signingTime: Int64) throws(CryptographyError) -> [UInt8] {
        let attributes = Self.signedAttributes(digest: SHA256.hash(content), signingTime: signingTime)
        // What is signed is the SET itself; inside SignerInfo it stands under a tag of its own (RFC 5652 5.4).
        let signature = try key.signature(of: DER.value(0x31, attributes))
        let signerCount =
            name.count + DER.wholeCount(attributes.count) + CMSParts.rsaAlgorithm.count
            + DER.wholeCount(signature.count)
        let signersCount = DER.wholeCount(signerCount)
        let dataCount = front.count + DER.wholeCount(signersCount)
        let wrapperCount = DER.wholeCount(dataCount)
        let count = CMSParts.signedDataIdentifier.count + DER.wholeCount(wrapperCount)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(DER.wholeCount(count))
        DER.append(0x30, count: count, to: &bytes)
        bytes.append(contentsOf: CMSParts.signedDataIdentifier)
        DER.append(0xa0, count: wrapperCount, to: &bytes)
        DER.append(0x30, count: dataCount, to: &bytes)
        bytes.append(contentsOf: front)
        DER.append(0x31, count: signersCount, to: &bytes)
        DER.append(0x30, count: signerCount, to: &bytes)
        bytes.append(contentsOf: name)
        DER.append(0xa0, count: attributes.count, to: &bytes)
        bytes.append(contentsOf: attributes)
        bytes.append(contentsOf: CMSParts.rsaAlgorithm)
        DER.append(0x04, count: signature.count, to: &bytes)
        bytes.append(contentsOf: signature)
        return bytes
    }

    /// The three attributes in DER's order, which sorts a SET by its members' bytes: their lengths decide it, whatever
    /// the values are.
    private static func signedAttributes(digest: SHA256Digest, signingTime: Int64) -> [UInt8] {
        let time = ASN1Time.der(signingTime)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        bytes.append(contentsOf: CMSParts.contentType)
        DER.append(0x30, count: CMSParts.signingTimeIdentifier.count + DER.wholeCount(time.count), to: &bytes)
        bytes.append(contentsOf: CMSParts.signingTimeIdentifier)
        DER.append(0x31, count: time.count, to: &bytes)
        bytes.append(contentsOf: time)
        let digestCount = DER.wholeCount(SHA256Digest.byteCount)
        DER.append(0x30, count: CMSParts.messageDigestIdentifier.count + DER.wholeCount(digestCount), to: &bytes)
        bytes.append(contentsOf: CMSParts.messageDigestIdentifier)
        DER.append(0x31, count: digestCount, to: &bytes)
        DER.append(0x04, count: SHA256Digest.byteCount, to: &bytes)
        bytes.append(contentsOf: digest.bytes)
        return bytes
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
}
