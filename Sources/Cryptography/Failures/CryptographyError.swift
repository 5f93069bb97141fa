// SPDX-License-Identifier: Apache-2.0

/// What went wrong with a key, a certificate, a signature or a TLS connection.
///
/// `code` is what callers switch on; `message` says to people what was wrong, where, and what to do instead.
/// Neither ever holds a passphrase, key material or personal data.
public struct CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers tell apart.
    public enum Code: String, Hashable, Sendable {
        /// The passphrase doesn't open the key or file.
        case wrongPassphrase = "wrong-passphrase"
        /// The key or file is encrypted and no passphrase was given.
        case passphraseNeeded = "passphrase-needed"
        /// The algorithm is unknown, switched off, or not one that this product takes.
        case unsupportedAlgorithm = "unsupported-algorithm"
        /// The file needs OpenSSL's `legacy` provider, which isn't installed.
        case legacyProviderMissing = "legacy-provider-missing"
        /// The bytes are not PEM text.
        case notPEM = "not-pem"
        /// The bytes are not the DER structure that was expected.
        case notDER = "not-der"
        /// The bytes are not a PKCS#12 file.
        case notPKCS12 = "not-pkcs12"
        /// There is no certificate where one is needed.
        case noCertificate = "no-certificate"
        /// There is no private key where one is needed.
        case noPrivateKey = "no-private-key"
        /// The private key is not the certificate's.
        case keyMismatch = "key-mismatch"
        /// The key is too short to be trusted.
        case weakKey = "weak-key"
        /// A certificate is signed with a broken digest (MD5, SHA-1).
        case weakSignature = "weak-signature"
        /// A signature doesn't belong to the content or the key.
        case badSignature = "bad-signature"
        /// No chain leads from the certificate to a trusted root.
        case chain = "chain"
        /// A certificate's validity has ended.
        case expired = "expired"
        /// A certificate's validity hasn't begun.
        case notYetValid = "not-yet-valid"
        /// The other side of a TLS connection could not prove who it is.
        case untrustedPeer = "untrusted-peer"
        /// The TLS protocol failed.
        case tls = "tls"
        /// The connection ended without TLS's own goodbye: what came before may be cut short.
        case truncated = "truncated"
        /// The operating system reported the connection as broken.
        case connectionLost = "connection-lost"
        /// A value given by the caller can't be used.
        case invalidInput = "invalid-input"
        /// OpenSSL refused for a reason that has no code here.
        case failed = "failed"
    }

    /// What callers switch on.
    public let code: Code
    /// One sentence for people.
    public let message: String
    /// OpenSSL's own words, oldest first; empty when the fault was found without it.
    public let libraryErrors: [String]
    /// The certificate that is at fault, where one is: its subject may be no name at all.
    package var culprit: Certificate?

    /// Makes an error out of its parts.
    public init(_ code: Code, _ message: String, libraryErrors: [String] = []) {
        self.code = code
        self.message = message
        self.libraryErrors = libraryErrors
    }

    /// The message, followed by OpenSSL's words where there are any.
    public var description: String {
        libraryErrors.isEmpty ? message : "\(message) [\(libraryErrors.joined(separator: "; "))]"
    }
}
