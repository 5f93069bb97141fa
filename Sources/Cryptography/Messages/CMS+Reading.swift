// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension CMS {
    /// Reads a signature without checking it.
    /// - Throws: `notDER` for anything but one SignedData, with what it is instead.
    package static func parse(_ der: [UInt8]) throws(CryptographyError) -> CMSSignedData {
        signedData(try CMSStructure.read(der: der), der)
    }

    private static func signedData(
        _ structure: borrowing CMSStructure,
        _ der: [UInt8],
        certificates: EmbeddedCertificates? = nil
    ) -> CMSSignedData {
        defer { OpenSSLFailures.clear() }
        let embedded = certificates ?? structure.certificates()
        return CMSSignedData(
            certificates: embedded.readable,
            unreadableCertificates: embedded.unreadable,
            signers: unsafe structure.signers.map { unsafe signer($0) },
            contentType: unsafe ObjectIdentifier.dotted(CMS_get0_eContentType(structure.pointer)) ?? "",
            isDetached: unsafe CMS_is_detached(structure.pointer) == 1,
            form: CMSForm(der)
        )
    }

    /// Checks a detached signature over `content`: exactly one signer, its attributes, and the signature itself.
    ///
    /// Whether the signer may be trusted is not looked at: see `CertificateChain`.
    /// - Parameter certificates: looked through for the signer's when the signature doesn't embed it.
    /// - Returns: the signer's certificate.
    /// - Throws: `notDER`, `noCertificate` when the signer's is nowhere, `badSignature` with the reason.
    package static func verifyDetached(
        _ der: [UInt8],
        content: [UInt8],
        certificates: [Certificate] = []
    ) throws(CryptographyError) -> Certificate {
        let structure = try CMSStructure.read(der: der)
        return try verify(structure, signedData(structure, der), content: content, certificates: certificates)
    }

    /// Reads a detached signature and checks it over `content`, as ``parse(_:)`` and
    /// ``verifyDetached(_:content:certificates:)`` do, in one reading.
    /// - Parameters:
    ///   - certificate: reads an embedded certificate, or remembers one of exactly these bytes.
    ///   - takesShortcut: whether a signature in the usual form is read without OpenSSL's CMS; the outcome is the same.
    /// - Returns: what the signature says, and the signer's certificate or why it isn't the signer's over `content`.
    /// - Throws: `notDER`.
    package static func read(
        _ der: [UInt8],
        content: [UInt8],
        certificates: [Certificate] = [],
        takesShortcut: Bool = true,
        certificate: ([UInt8]) throws(CryptographyError) -> Certificate
    ) throws(CryptographyError) -> (data: CMSSignedData, signer: Result<Certificate, CryptographyError>) {
        var embedded: EmbeddedCertificates?
        var rest = der
        if DERReader.isStrict(der), let parts = CMSForm.split(der) {
            var all = EmbeddedCertificates()
            for bytes in parts.certificates {
                all.add { () throws(CryptographyError) in try certificate(bytes) }
            }
            embedded = all
            if takesShortcut, let plain = PlainSignature(der),
                let signer = plain.signer(over: content, among: all.readable + certificates)
            {
                return (plain.signedData(certificates: all), .success(signer))
            }
            rest = parts.signedData
        }
        let structure = try CMSStructure.read(der: rest)
        let data = signedData(structure, der, certificates: embedded)
        let all = (embedded?.readable ?? []) + certificates
        do throws(CryptographyError) {
            return (data, .success(try verify(structure, data, content: content, certificates: all)))
        } catch {
            return (data, .failure(error))
        }
    }

    private static func verify(
        _ structure: borrowing CMSStructure,
        _ data: CMSSignedData,
        content: [UInt8],
        certificates: [Certificate]
    ) throws(CryptographyError) -> Certificate {
        guard data.isDetached else {
            throw CryptographyError(.badSignature, "the signature contains its content; it must be detached")
        }
        guard data.signers.count == 1, let signer = data.signers.first else {
            throw CryptographyError(.badSignature, "the signature has \(data.signers.count) signers; it must have one")
        }
        if !signer.signedAttributes.isEmpty {
            guard signer.contentType == data.contentType else {
                throw CryptographyError(.badSignature, "the contentType attribute is missing or wrong")
            }
            guard let digest = signer.messageDigest else {
                throw CryptographyError(.badSignature, "the messageDigest attribute is missing")
            }
            if signer.usesSHA256, digest != SHA256.hash(content).bytes {
                throw CryptographyError(.badSignature, "the content is not what was signed: its digest differs")
            }
        }
        OpenSSLFailures.clear()
        guard structure.verify(content, certificates: certificates) else {
            let failures = OpenSSLFailures.drain()
            if failures.contain(library: ERR_LIB_CMS, reason: CMS_R_SIGNER_CERTIFICATE_NOT_FOUND) {
                throw failures.error(.noCertificate, "the signature does not contain its signer's certificate")
            }
            throw failures.error(.badSignature, "the signature is not the signer's over this content")
        }
        guard let found = try structure.signerCertificates().first else {
            throw CryptographyError(.noCertificate, "the signature does not name its signer's certificate")
        }
        return found
    }

    private static func signer(_ info: OpaquePointer) -> CMSSignedData.Signer {
        var digest: UnsafeMutablePointer<X509_ALGOR>?
        var signature: UnsafeMutablePointer<X509_ALGOR>?
        unsafe CMS_SignerInfo_get0_algs(info, nil, nil, &digest, &signature)
        let signed = unsafe (0..<max(0, CMS_signed_get_attr_count(info))).map { unsafe CMS_signed_get_attr(info, $0) }
        let unsigned = unsafe (0..<max(0, CMS_unsigned_get_attr_count(info))).map {
            unsafe CMS_unsigned_get_attr(info, $0)
        }
        let time = unsafe value(signingTimeAttribute, in: signed, V_ASN1_UTCTIME)
        let longTime = unsafe value(signingTimeAttribute, in: signed, V_ASN1_GENERALIZEDTIME)
        let isUTCTime = unsafe time != nil
        let written = unsafe (time ?? longTime).map { unsafe bytes($0.assumingMemoryBound(to: ASN1_STRING.self)) }
        let isExact = written.map { ASN1Time.isExact($0, isUTCTime: isUTCTime) } ?? false
        let messageDigest = unsafe value(messageDigestAttribute, in: signed, V_ASN1_OCTET_STRING)
        let contentType = unsafe value(contentTypeAttribute, in: signed, V_ASN1_OBJECT)
        return unsafe CMSSignedData.Signer(
            identifier: identifier(of: info),
            digestAlgorithm: algorithm(digest),
            signatureAlgorithm: algorithm(signature),
            signedAttributes: signed.compactMap { unsafe ObjectIdentifier.dotted(X509_ATTRIBUTE_get0_object($0)) },
            unsignedAttributes: unsigned.compactMap { unsafe ObjectIdentifier.dotted(X509_ATTRIBUTE_get0_object($0)) },
            contentType: contentType.flatMap { unsafe ObjectIdentifier.dotted(OpaquePointer($0)) },
            signingTime: ASN1Time.seconds((time ?? longTime)?.assumingMemoryBound(to: ASN1_TIME.self)),
            signingTimeIsUTCTime: time != nil,
            signingTimeIsExact: isExact,
            messageDigest: messageDigest.map { unsafe bytes($0.assumingMemoryBound(to: ASN1_STRING.self)) }
        )
    }

    private static func identifier(of info: OpaquePointer) -> CMSSignedData.SignerIdentifier {
        var key: UnsafeMutablePointer<ASN1_OCTET_STRING>?
        var issuer: OpaquePointer?
        var serial: UnsafeMutablePointer<ASN1_INTEGER>?
        unsafe CMS_SignerInfo_get0_signer_id(info, &key, &issuer, &serial)
        if let key = unsafe key { return unsafe .subjectKeyIdentifier(bytes(key)) }
        let number = unsafe serial.map { unsafe Hex.encode(bytes($0)) }
        return unsafe .issuerAndSerial(issuer: DistinguishedName.describe(issuer), serialHex: number ?? "")
    }

    private static func algorithm(_ value: UnsafeMutablePointer<X509_ALGOR>?) -> String {
        guard let value = unsafe value else { return "" }
        return unsafe ObjectIdentifier.dotted(value.pointee.algorithm) ?? ""
    }

    /// The only value of an attribute, when it has this type.
    private static func value(
        _ oid: String,
        in attributes: [OpaquePointer?],
        _ type: Int32
    ) -> UnsafeMutableRawPointer? {
        let found = unsafe attributes.first { unsafe ObjectIdentifier.dotted(X509_ATTRIBUTE_get0_object($0)) == oid }
        guard let found = unsafe found, unsafe X509_ATTRIBUTE_count(found) == 1 else { return nil }
        return unsafe X509_ATTRIBUTE_get0_data(found, 0, type, nil)
    }

    private static func bytes(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        let count = unsafe Int(ASN1_STRING_length(string))
        guard count > 0, let start = unsafe ASN1_STRING_get0_data(string) else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }
}
