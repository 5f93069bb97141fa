// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension CertificateTemplate {
    /// Issues the certificate.
    /// - Parameters:
    ///   - key: the subject's key; only its public half goes in.
    ///   - issuer: who signs; nil for a certificate that signs itself with `key`.
    /// - Throws: `keyMismatch` when the issuer's key isn't its certificate's, `invalidInput` for a value that can't be
    ///   encoded.
    package func issue(
        for key: PrivateKey,
        issuer: (Certificate, PrivateKey)?
    ) throws(CryptographyError) -> Certificate {
        if let issuer, !issuer.0.matches(issuer.1) {
            throw CryptographyError(.keyMismatch, "the issuer's key does not belong to its certificate")
        }
        OpenSSLFailures.clear()
        guard let pointer = unsafe X509_new() else { fatalError("out of memory") }
        defer { unsafe X509_free(pointer) }
        try unsafe fill(pointer, key: key, issuer: issuer)
        let digest = signature == .sha1 ? MessageDigest.sha1 : .sha256
        guard unsafe X509_sign(pointer, (issuer?.1 ?? key).pointer, digest.pointer) > 0,
            let der = unsafe encodeDER({ unsafe i2d_X509(pointer, $0) })
        else {
            throw OpenSSLFailures.drain().error(.failed, "the certificate could not be signed")
        }
        // Read back: what we hand out is what a reader sees, caches included.
        return try Certificate(der: der)
    }

    private func fill(
        _ pointer: OpaquePointer,
        key: PrivateKey,
        issuer: (Certificate, PrivateKey)?
    ) throws(CryptographyError) {
        let number = serial ?? Self.randomSerial()
        let serialSet = unsafe number.withUnsafeBufferPointer { buffer -> Bool in
            guard let big = unsafe BN_bin2bn(buffer.baseAddress, Int32(buffer.count), nil) else { return false }
            defer { unsafe BN_free(big) }
            return unsafe BN_to_ASN1_INTEGER(big, X509_get_serialNumber(pointer)) != nil
        }
        let subjectName = unsafe X509_get_subject_name(pointer)
        try unsafe DistinguishedName.add(subject, to: subjectName)
        let issuerName = unsafe issuer.map { unsafe X509_get_subject_name($0.0.pointer) } ?? subjectName
        let done =
            unsafe serialSet && X509_set_version(pointer, 2) == 1
            && X509_set_issuer_name(pointer, issuerName) == 1
            && ASN1Time.withTime(notBefore) { unsafe X509_set1_notBefore(pointer, $0) } == 1
            && ASN1Time.withTime(notAfter) { unsafe X509_set1_notAfter(pointer, $0) } == 1
            && X509_set_pubkey(pointer, key.pointer) == 1
        guard done else { throw OpenSSLFailures.drain().error(.failed, "the certificate could not be filled in") }
        for item in try unsafe extensions(of: pointer, issuer: issuer?.0) {
            try unsafe add(item, to: pointer)
        }
    }

    private static func randomSerial() -> [UInt8] {
        var bytes = SecureRandom.bytes(16)
        // Positive and never short, so that all serials have one length.
        bytes[0] = bytes[0] & 0x7f | 0x40
        return bytes
    }

    private func extensions(
        of pointer: OpaquePointer,
        issuer: Certificate?
    ) throws(CryptographyError) -> [PrivateExtension] {
        var list: [PrivateExtension] = []
        var constraints: [[UInt8]] = []
        if isCA {
            constraints.append(DER.yes)
            if let pathLength { constraints.append(DER.integer(pathLength)) }
        }
        list.append(.init(oid: "2.5.29.19", der: DER.sequence(constraints), isCritical: true))
        if let keyUsage { list.append(.init(oid: "2.5.29.15", der: keyUsage.der, isCritical: true)) }
        if !extendedKeyUsage.isEmpty {
            var usages: [[UInt8]] = []
            for oid in extendedKeyUsage {
                guard let encoded = DER.objectIdentifier(oid) else {
                    throw CryptographyError(.invalidInput, "\(oid) is no object identifier")
                }
                usages.append(encoded)
            }
            list.append(.init(oid: "2.5.29.37", der: DER.sequence(usages)))
        }
        if hasKeyIdentifiers {
            let own = unsafe Self.keyIdentifier(of: pointer)
            list.append(.init(oid: "2.5.29.14", der: DER.octetString(own)))
            if let authority = issuer == nil ? own : issuer?.subjectKeyIdentifier {
                list.append(.init(oid: "2.5.29.35", der: DER.sequence([DER.value(0x80, authority)])))
            }
        }
        if !dnsNames.isEmpty || !ipAddresses.isEmpty {
            list.append(.init(oid: "2.5.29.17", der: DER.sequence(try alternativeNames())))
        }
        return list + privateExtensions
    }

    private func alternativeNames() throws(CryptographyError) -> [[UInt8]] {
        var names = dnsNames.map { DER.value(0x82, Array($0.utf8)) }
        for address in ipAddresses {
            guard let octets = unsafe a2i_IPADDRESS(address) else {
                throw CryptographyError(.invalidInput, "\(address) is no IP address")
            }
            defer { unsafe ASN1_OCTET_STRING_free(octets) }
            let length = unsafe Int(ASN1_STRING_length(octets))
            names.append(
                DER.value(
                    0x87,
                    unsafe [UInt8](UnsafeBufferPointer(start: ASN1_STRING_get0_data(octets), count: length))
                )
            )
        }
        return names
    }

    /// SHA-1 of the public key's bits (RFC 5280 4.2.1.2, method 1).
    private static func keyIdentifier(of pointer: OpaquePointer) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
            var length: UInt32 = 0
            let done = unsafe X509_pubkey_digest(pointer, MessageDigest.sha1.pointer, buffer.baseAddress, &length)
            precondition(done == 1 && length == 20, "a key that was set can be hashed")
            count = 20
        }
    }

    private func add(_ item: PrivateExtension, to pointer: OpaquePointer) throws(CryptographyError) {
        guard let object = unsafe OBJ_txt2obj(item.oid, 1) else {
            throw OpenSSLFailures.drain().error(.invalidInput, "\(item.oid) is no object identifier")
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        guard let octets = unsafe ASN1_OCTET_STRING_new() else { fatalError("out of memory") }
        defer { unsafe ASN1_OCTET_STRING_free(octets) }
        guard unsafe ASN1_OCTET_STRING_set(octets, item.der, Int32(item.der.count)) == 1,
            let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, item.isCritical ? 1 : 0, octets)
        else { throw OpenSSLFailures.drain().error(.failed, "extension \(item.oid) could not be made") }
        defer { unsafe X509_EXTENSION_free(made) }
        guard unsafe X509_add_ext(pointer, made, -1) == 1 else {
            throw OpenSSLFailures.drain().error(.failed, "extension \(item.oid) could not be added")
        }
    }
}
