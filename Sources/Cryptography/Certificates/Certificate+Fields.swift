// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// What a certificate says.
extension Certificate {
    /// The first value of a subject field, or nil.
    public func subject(_ field: NameField) -> String? {
        guard let name = unsafe X509_get_subject_name(pointer) else { return nil }
        let index = unsafe X509_NAME_get_index_by_NID(name, field.identifier, -1)
        guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index),
            let data = unsafe X509_NAME_ENTRY_get_data(entry)
        else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let length = unsafe ASN1_STRING_to_UTF8(&text, data)
        guard length >= 0, let text = unsafe text else { return nil }
        defer { unsafe CRYPTO_free(text, nil, 0) }
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
    }

    /// The subject in one line, as `openssl x509 -subject` writes it.
    public var subjectDescription: String { unsafe DistinguishedName.describe(X509_get_subject_name(pointer)) }

    /// The issuer in one line.
    public var issuerDescription: String { unsafe DistinguishedName.describe(X509_get_issuer_name(pointer)) }

    /// The serial number in lower-case hexadecimal digits.
    public var serialHex: String {
        guard let serial = unsafe X509_get0_serialNumber(pointer) else { return "" }
        return unsafe Hex.encode(bytes(of: serial))
    }

    /// The subject key identifier, by which signatures and issued certificates refer to this key.
    public var subjectKeyIdentifier: [UInt8]? {
        guard let value = unsafe X509_get0_subject_key_id(pointer) else { return nil }
        return unsafe bytes(of: value)
    }

    /// The key identifier of the issuer, which names the one right intermediate.
    public var authorityKeyIdentifier: [UInt8]? {
        guard let value = unsafe X509_get0_authority_key_id(pointer) else { return nil }
        return unsafe bytes(of: value)
    }

    /// Whether the certificate is RSA, the only kind that signs orders.
    public var isRSA: Bool {
        guard let key = unsafe X509_get0_pubkey(pointer) else { return false }
        return unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA
    }

    /// The size of its key in bits; 0 when the kind of key is unknown.
    public var keyBits: Int {
        guard let key = unsafe X509_get0_pubkey(pointer) else { return 0 }
        return unsafe Int(EVP_PKEY_get_bits(key))
    }

    /// Whether its own signature uses SHA-1 (or MD5), which no longer proves anything.
    public var signatureUsesSHA1: Bool {
        var digest: Int32 = 0
        defer { OpenSSLFailures.clear() }
        guard unsafe X509_get_signature_info(pointer, &digest, nil, nil, nil) == 1 else { return false }
        return digest == NID_sha1 || digest == NID_md5
    }

    /// Whether it may issue certificates (basicConstraints CA:TRUE).
    public var isCA: Bool { unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_CA) != 0 }

    /// Whether subject and issuer are the same: a root.
    public var isSelfIssued: Bool { unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_SI) != 0 }

    /// Whether the key usage extension is there and allows digital signatures.
    public var keyUsageDigitalSignature: Bool {
        unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_KUSAGE) != 0
            && X509_get_key_usage(pointer) & UInt32(KU_DIGITAL_SIGNATURE) != 0
    }

    /// The extended key usages as dotted object identifiers, in order; empty without the extension.
    public var extendedKeyUsage: [String] {
        defer { OpenSSLFailures.clear() }
        guard let list = unsafe X509_get_ext_d2i(pointer, NID_ext_key_usage, nil, nil) else { return [] }
        let stack = OpaquePointer(list)
        defer { unsafe OPENSSL_sk_pop_free(stack) { unsafe ASN1_OBJECT_free(OpaquePointer($0)) } }
        return unsafe (0..<max(0, OPENSSL_sk_num(stack))).compactMap { index in
            unsafe ObjectIdentifier.dotted(OpaquePointer(OPENSSL_sk_value(stack, index)))
        }
    }

    /// The DER inside an extension's octet string, or nil without the extension.
    /// - Parameter oid: dotted, such as `1.2.840.113635.100.14.2`.
    public func extensionValue(_ oid: String) -> [UInt8]? {
        defer { OpenSSLFailures.clear() }
        guard let object = unsafe OBJ_txt2obj(oid, 1) else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        let index = unsafe X509_get_ext_by_OBJ(pointer, object, -1)
        guard index >= 0, let found = unsafe X509_get_ext(pointer, index),
            let data = unsafe X509_EXTENSION_get_data(found)
        else { return nil }
        return unsafe bytes(of: data)
    }

    /// Extensions that are there more than once, dotted, which RFC 5280 4.2 forbids: readers differ in which counts.
    public var repeatedExtensions: [String] {
        var seen: Set<String> = []
        var repeated: [String] = []
        for index in unsafe 0..<max(0, X509_get_ext_count(pointer)) {
            let found = unsafe X509_get_ext(pointer, index)
            guard let oid = unsafe ObjectIdentifier.dotted(X509_EXTENSION_get_object(found)) else { continue }
            if !seen.insert(oid).inserted, !repeated.contains(oid) { repeated.append(oid) }
        }
        return repeated
    }

    /// The text of an extension that is a UTF8String or an IA5String, or nil.
    public func extensionString(_ oid: String) -> String? {
        guard let value = extensionValue(oid) else { return nil }
        guard let text = DER.contents(of: value, tag: 0x0c) ?? DER.contents(of: value, tag: 0x16) else { return nil }
        return String(validating: text, as: UTF8.self)
    }

    /// IssuerAndSerialNumber (RFC 5652 10.2.4) in DER: names this certificate where it has no key identifier.
    var issuerAndSerialNumber: [UInt8] {
        let issuer = unsafe encodeDER { unsafe i2d_X509_NAME(X509_get_issuer_name(pointer), $0) }
        let serial = unsafe encodeDER { unsafe i2d_ASN1_INTEGER(X509_get0_serialNumber(pointer), $0) }
        return DER.sequence([issuer ?? [], serial ?? []])
    }

    /// Whether `issuer` has the name that this certificate gives for its issuer.
    func names(_ issuer: Certificate) -> Bool {
        unsafe X509_NAME_cmp(X509_get_issuer_name(pointer), X509_get_subject_name(issuer.pointer)) == 0
    }

    private func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        let count = unsafe Int(ASN1_STRING_length(string))
        guard count > 0, let start = unsafe ASN1_STRING_get0_data(string) else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }
}
