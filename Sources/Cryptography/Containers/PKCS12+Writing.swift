// SPDX-License-Identifier: Apache-2.0
import COpenSSL

extension PKCS12 {
    /// Writes a certificate with its key, encrypted with AES-256.
    /// - Parameters:
    ///   - others: intermediates.
    ///   - friendlyName: what Keychain Access shows.
    /// - Throws: `keyMismatch`, `invalidInput` for an unusable passphrase, `failed`.
    package static func write(
        certificate: Certificate,
        key: PrivateKey,
        others: [Certificate],
        passphrase: [UInt8],
        friendlyName: String
    ) throws(CryptographyError) -> [UInt8] {
        guard certificate.matches(key) else {
            throw CryptographyError(
                .keyMismatch,
                "the private key does not belong to \(certificate.subjectDescription)"
            )
        }
        let secret = Passphrase(passphrase)
        guard secret.isUsable else {
            throw CryptographyError(.invalidInput, "the passphrase is too long, or holds a zero byte")
        }
        OpenSSLFailures.clear()
        let stack = CertificateStack(others)
        let file = unsafe stack.withPointer { list in
            unsafe secret.withCString { text, _ in
                unsafe PKCS12_create(text, friendlyName, key.pointer, certificate.pointer, list, 0, 0, 0, 0, 0)
            }
        }
        guard let file = unsafe file else {
            throw OpenSSLFailures.drain().error(.failed, "the PKCS#12 file could not be made")
        }
        defer { unsafe PKCS12_free(file) }
        guard let der = unsafe encodeDER({ unsafe i2d_PKCS12(file, $0) }) else {
            throw OpenSSLFailures.drain().error(.failed, "the PKCS#12 file could not be written")
        }
        return der
    }
}
