// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An owned `CMS_ContentInfo`.
@safe
struct CMSStructure: ~Copyable {
    let pointer: OpaquePointer

    init(takingOwnership pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    /// Reads a SignedData.
    /// - Throws: `notDER`, with what the bytes are instead.
    static func read(der: [UInt8]) throws(CryptographyError) -> CMSStructure {
        guard !der.isEmpty else { throw CryptographyError(.notDER, "the signature is empty") }
        OpenSSLFailures.clear()
        let read = unsafe decodeDER(der) { cursor, length in
            unsafe d2i_CMS_ContentInfo(nil, cursor, length)
        } free: {
            unsafe CMS_ContentInfo_free($0)
        }
        guard let read = unsafe read else {
            throw OpenSSLFailures.drain().error(.notDER, "the signature is not DER: \(Self.describe(der))")
        }
        let structure = unsafe CMSStructure(takingOwnership: read)
        OpenSSLFailures.clear()
        guard unsafe OBJ_obj2nid(CMS_get0_type(structure.pointer)) == NID_pkcs7_signed else {
            throw CryptographyError(.notDER, "the signature is CMS, but not SignedData")
        }
        return structure
    }

    deinit {
        unsafe CMS_ContentInfo_free(pointer)
    }

    private static func describe(_ bytes: [UInt8]) -> String {
        let start = String(decoding: bytes.prefix(4_096), as: UTF8.self).lowercased()
        if start.hasPrefix("mime-version") || start.contains("content-type:") {
            return "it is an S/MIME mail; sign with -outform DER"
        }
        if start.contains("-----begin") { return "it is PEM text; sign with -outform DER" }
        return bytes[0] == 0x30 ? "it is cut short, damaged, or followed by other bytes" : "it does not begin with 0x30"
    }

    /// The signers; the pointers live as long as the structure.
    var signers: [OpaquePointer] { unsafe CertificateStack.elements(of: CMS_get0_SignerInfos(pointer)) }

    /// The embedded certificates, in the order of the file.
    func certificates() -> EmbeddedCertificates {
        let stack = unsafe CMS_get1_certs(pointer)
        defer { unsafe CertificateStack.free(stack) }
        var all = EmbeddedCertificates()
        let elements = unsafe CertificateStack.elements(of: stack)
        for index in unsafe elements.indices {
            all.add { () throws(CryptographyError) in try unsafe Certificate(sharing: elements[index]) }
        }
        return all
    }

    /// Checks digest and signature, not the certificates.
    func verify(_ content: [UInt8], certificates: [Certificate]) -> Bool {
        let extra = CertificateStack(certificates)
        let flags = UInt32(CMS_NO_SIGNER_CERT_VERIFY | CMS_BINARY)
        return unsafe extra.withPointer { stack in
            unsafe withReadBuffer(content) { bio -> Bool in
                // Given a memory BIO itself, OpenSSL 3.0 makes another of its own and loses it where the signature names
                // a digest that it doesn't know; a filter in front hides what kind it is.
                guard let filter = unsafe BIO_new(BIO_f_null()) else { fatalError("out of memory") }
                unsafe BIO_push(filter, bio)
                defer {
                    unsafe BIO_pop(filter)
                    unsafe BIO_free(filter)
                }
                return unsafe CMS_verify(pointer, stack, nil, filter, nil, flags) == 1
            }
        }
    }

    /// The certificates of the signers, known after `verify`.
    func signerCertificates() throws(CryptographyError) -> [Certificate] {
        let stack = unsafe CMS_get0_signers(pointer)
        defer { unsafe OPENSSL_sk_free(stack) }
        return try unsafe CertificateStack.certificates(of: stack)
    }
}
