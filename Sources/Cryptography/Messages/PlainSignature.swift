// SPDX-License-Identifier: Apache-2.0

/// A SignedData in the one form in which orders are nearly always signed, read without OpenSSL's CMS, which costs several times
/// the check of the signature itself.
///
/// Version 3, SHA-256, detached plain data, one signer named by key identifier, RSA, and exactly the attributes contentType,
/// signingTime and messageDigest in DER's order. What deviates in any byte is left to OpenSSL, and so is what turns out wrong:
/// this only ever says yes, and only where OpenSSL does too.
struct PlainSignature {
    private let der: [UInt8]
    private let keyIdentifier: [UInt8]
    private let attributes: Range<Int>
    private let signingTime: Int64
    private let digest: [UInt8]
    private let signature: Range<Int>

    /// nil for anything else.
    ///
    /// - Parameter der: strict DER (``DERReader/isStrict(_:)``).
    init?(_ der: [UInt8]) {
        var outer = DERReader(der)
        guard let info = outer.next(0x30), outer.isAtEnd else { return nil }
        var content = DERReader(der, info.contents)
        guard content.next(CMSParts.signedDataIdentifier), let wrapper = content.next(0xa0), content.isAtEnd else {
            return nil
        }
        var inner = DERReader(der, wrapper.contents)
        guard let signedData = inner.next(0x30), inner.isAtEnd else { return nil }
        var fields = DERReader(der, signedData.contents)
        guard fields.next(CMSParts.version3), let algorithms = fields.next(0x31), let type = fields.next(0x30),
            fields.next(0xa0) != nil, let signers = fields.next(0x31), fields.isAtEnd
        else { return nil }
        var algorithm = DERReader(der, algorithms.contents)
        var data = DERReader(der, type.contents)
        var set = DERReader(der, signers.contents)
        guard algorithm.nextSHA256(), algorithm.isAtEnd, data.next(CMSParts.dataIdentifier), data.isAtEnd,
            let signer = set.next(0x30), set.isAtEnd
        else { return nil }
        var parts = DERReader(der, signer.contents)
        guard parts.next(CMSParts.version3), let identifier = parts.next(0x80), !identifier.contents.isEmpty,
            parts.nextSHA256(), let attributes = parts.next(0xa0), parts.next(CMSParts.rsaAlgorithm),
            let signature = parts.next(0x04), parts.isAtEnd,
            let (time, digest) = Self.read(attributes: attributes.contents, der)
        else { return nil }
        self.der = der
        keyIdentifier = Array(der[identifier.contents])
        self.attributes = attributes.contents
        signingTime = time
        self.digest = Array(der[digest])
        self.signature = signature.contents
    }

    private static func read(attributes: Range<Int>, _ der: [UInt8]) -> (time: Int64, digest: Range<Int>)? {
        var reader = DERReader(der, attributes)
        guard reader.next(CMSParts.contentType), let timeAttribute = reader.next(0x30),
            let digestAttribute = reader.next(0x30), reader.isAtEnd
        else { return nil }
        var time = DERReader(der, timeAttribute.contents)
        var digest = DERReader(der, digestAttribute.contents)
        guard time.next(CMSParts.signingTimeIdentifier), let times = time.next(0x31), time.isAtEnd,
            digest.next(CMSParts.messageDigestIdentifier), let digests = digest.next(0x31), digest.isAtEnd
        else { return nil }
        var timeValue = DERReader(der, times.contents)
        var digestValue = DERReader(der, digests.contents)
        guard let second = timeValue.next(0x17), timeValue.isAtEnd, let sum = digestValue.next(0x04),
            digestValue.isAtEnd, sum.contents.count == SHA256Digest.byteCount,
            let seconds = ASN1Time.seconds(utcTime: der[second.contents])
        else { return nil }
        return (seconds, sum.contents)
    }

    /// The certificate whose key made the signature over `content`: the first of this key identifier, as OpenSSL looks for it.
    /// nil when anything about the signature is wrong.
    func signer(over content: [UInt8], among certificates: [Certificate]) -> Certificate? {
        guard digest == SHA256.hash(content).bytes,
            let certificate = certificates.first(where: { $0.subjectKeyIdentifier == keyIdentifier })
        else { return nil }
        // What is signed is the SET itself (RFC 5652 5.4).
        let message = DER.value(0x31, Array(der[attributes]))
        return certificate.verifies(der[signature], over: message) ? certificate : nil
    }

    /// What the signature says.
    func signedData(certificates: EmbeddedCertificates) -> CMSSignedData {
        CMSSignedData(
            certificates: certificates.readable,
            unreadableCertificates: certificates.unreadable,
            signers: [
                CMSSignedData.Signer(
                    identifier: .subjectKeyIdentifier(keyIdentifier),
                    digestAlgorithm: CMSParts.sha256,
                    signatureAlgorithm: CMSParts.rsa,
                    signedAttributes: [CMS.contentTypeAttribute, CMS.signingTimeAttribute, CMS.messageDigestAttribute],
                    unsignedAttributes: [],
                    contentType: CMS.dataType,
                    signingTime: signingTime,
                    signingTimeIsUTCTime: true,
                    signingTimeIsExact: true,
                    messageDigest: digest
                )
            ],
            contentType: CMS.dataType,
            isDetached: true,
            form: CMSForm(der, isDER: true)
        )
    }
}

extension DERReader {
    /// Passes over the next value if it is exactly this one.
    fileprivate mutating func next(_ value: [UInt8]) -> Bool {
        var ahead = self
        guard let found = ahead.next(), holds(value, at: found.whole) else { return false }
        self = ahead
        return true
    }

    /// Passes over SHA-256's identifier, with NULL parameters or without (RFC 5754 2).
    fileprivate mutating func nextSHA256() -> Bool {
        next(CMSParts.sha256Algorithm) || next(CMSParts.sha256AlgorithmWithNull)
    }
}
