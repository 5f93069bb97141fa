// SPDX-License-Identifier: Apache-2.0

/// PKCS#12 files (RFC 7292): certificates with their keys under a passphrase, as Keychain Access exports them.
package struct PKCS12: Sendable {
    /// What a file held.
    package struct Contents: Sendable {
        /// All certificates, in the order of the file.
        package internal(set) var certificates: [Certificate] = []
        /// All private keys, in the order of the file: of a selection of identities, Keychain Access exports each.
        package internal(set) var keys: [PrivateKey] = []
        /// Whether the file uses ciphers that OpenSSL 3 no longer loads by itself (RC2-40, as Keychain Access writes):
        /// it should be converted.
        package internal(set) var usedLegacyAlgorithms = false
    }
}

/// What a PKCS#12 file held.
package typealias PKCS12Contents = PKCS12.Contents
