// SPDX-License-Identifier: Apache-2.0

/// PKCS#12 files (RFC 7292): a certificate with its key under a passphrase, as Keychain Access exports them.
package struct PKCS12: Sendable {
    /// What a file held.
    package struct Contents: Sendable {
        /// The key's own certificate.
        package let certificate: Certificate
        package let key: PrivateKey
        /// Further certificates, usually intermediates.
        package let others: [Certificate]
        /// Whether the file uses ciphers that OpenSSL 3 no longer loads by itself (RC2-40, as Keychain Access writes):
        /// it should be converted.
        package let usedLegacyAlgorithms: Bool
    }
}

/// What a PKCS#12 file held.
package typealias PKCS12Contents = PKCS12.Contents
