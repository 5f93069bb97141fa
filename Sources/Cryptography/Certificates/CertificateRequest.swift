// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A request for a certificate (PKCS#10, RFC 2986), to be uploaded to an authority's portal.
package enum CertificateRequest {
    /// The request as PEM text, signed with `key`.
    /// - Throws: `invalidInput` for a value that its field can't hold, `failed`.
    package static func pem(
        subject: [(field: NameField, value: String)],
        key: PrivateKey
    ) throws(CryptographyError) -> [UInt8] {
        OpenSSLFailures.clear()
        guard let request = unsafe X509_REQ_new() else { fatalError("out of memory") }
        defer { unsafe X509_REQ_free(request) }
        try unsafe DistinguishedName.add(subject, to: X509_REQ_get_subject_name(request))
        let buffer = MemoryBuffer()
        let done =
            unsafe X509_REQ_set_version(request, 0) == 1
            && X509_REQ_set_pubkey(request, key.pointer) == 1
            && X509_REQ_sign(request, key.pointer, MessageDigest.sha256.pointer) > 0
            && buffer.withBIO { unsafe PEM_write_bio_X509_REQ($0, request) } == 1
        guard done else { throw OpenSSLFailures.drain().error(.failed, "the request could not be signed") }
        return buffer.contents()
    }
}
