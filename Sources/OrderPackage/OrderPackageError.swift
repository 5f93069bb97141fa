// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// Why an identity can't sign, or a package can't be built.
///
/// The message says what is wrong, where, and what to do instead. It never holds a passphrase, key or customer's data.
public struct OrderPackageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong, to switch on.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A file isn't there or can't be read.
        case unreadableFile = "unreadable-file"
        /// A file or folder stands where one would be written.
        case alreadyExists = "already-exists"
        /// A file or folder can't be written.
        case unwritable = "unwritable"
        /// The bytes are no certificate, key or PKCS#12 file.
        case unreadableIdentity = "unreadable-identity"
        /// There is no certificate where one is needed.
        case noCertificate = "no-certificate"
        /// There is no private key where one is needed.
        case noPrivateKey = "no-private-key"
        /// The passphrase doesn't open the key or file.
        case wrongPassphrase = "wrong-passphrase"
        /// The key or file is encrypted and no passphrase was given.
        case passphraseNeeded = "passphrase-needed"
        /// OpenSSL can't read an old file because its legacy provider isn't installed.
        case legacyProviderMissing = "legacy-provider-missing"
        /// An algorithm that OpenSSL, or Wallet, doesn't take.
        case unsupportedAlgorithm = "unsupported-algorithm"
        /// The private key is not the certificate's.
        case keyMismatch = "key-mismatch"
        /// The key isn't RSA.
        case notRSA = "not-rsa"
        /// The key has fewer than 2,048 bits.
        case weakKey = "weak-key"
        /// The certificate is signed with SHA-1 or MD5.
        case weakSignature = "weak-signature"
        /// The certificate isn't an Order Type ID certificate.
        case notAnOrderCertificate = "not-an-order-certificate"
        /// The certificate names two different order types.
        case identifierMismatch = "identifier-mismatch"
        /// A file holds identities for several order types, and it wasn't said which is meant.
        case severalIdentities = "several-identities"
        /// A given intermediate isn't the one that issued the certificate.
        case wrongIntermediate = "wrong-intermediate"
        /// The certificate's issuer was neither given nor is it one of Apple's known intermediates.
        case unknownIssuer = "unknown-issuer"
        /// The issuer lacks what Wallet asks of an intermediate.
        case unfitIntermediate = "unfit-intermediate"
        /// A signature within the chain is wrong.
        case brokenChain = "broken-chain"
        /// The signing time lies after the end of the certificates' validity.
        case expired
        /// The certificates aren't valid yet.
        case notYetValid = "not-yet-valid"
        /// The order is of another type than the certificate.
        case orderTypeMismatch = "order-type-mismatch"
        /// A file without contents, which devices pass over.
        case emptyFile = "empty-file"
        /// Contents that are neither PNG, JPEG nor PDF.
        case unknownFormat = "unknown-format"
        /// A path that can't stand in a package.
        case badPath = "bad-path"
        /// Two files of one path.
        case duplicatePath = "duplicate-path"
        /// The package would reach Apple's limit of 5 MB.
        case tooLarge = "too-large"
        /// The package would have more files than are read.
        case tooManyFiles = "too-many-files"
        /// The order's JSON can't be read.
        case badOrder = "bad-order"
        /// A certificate request that can't be made of the given values.
        case badRequest = "bad-request"
        /// Signing gave no usable signature.
        case signing
    }

    /// What went wrong, to switch on.
    public let code: Code
    /// The file or path that is meant, where there is one.
    public let path: String?
    /// What is wrong and what to do instead, for people.
    public let message: String

    /// An error about a file, or about the whole when `path` is nil.
    public init(_ code: Code, path: String? = nil, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// A package of so many files beside its own three, which is more than are read.
    package static func tooManyFiles(_ count: Int) -> OrderPackageError {
        OrderPackageError(
            .tooManyFiles,
            "the package would have \(count) files beside its own; at most \(PackageFile.mostFiles) are read"
        )
    }

    /// The message, with the path in front.
    public var description: String { path.map { "\($0): \(message)" } ?? message }

    init(_ error: CryptographyError, path: String? = nil) {
        let code: Code =
            switch error.code {
            case .wrongPassphrase: .wrongPassphrase
            case .passphraseNeeded: .passphraseNeeded
            case .unsupportedAlgorithm: .unsupportedAlgorithm
            case .legacyProviderMissing: .legacyProviderMissing
            // A PKCS#12 file without its checksum among them.
            case .notPEM, .notDER, .notPKCS12, .invalidInput: .unreadableIdentity
            case .noCertificate: .noCertificate
            case .noPrivateKey: .noPrivateKey
            case .keyMismatch: .keyMismatch
            case .weakKey: .weakKey
            case .weakSignature: .weakSignature
            case .chain, .badSignature: .brokenChain
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .untrustedPeer, .tls, .truncated, .connectionLost, .failed: .signing
            }
        self.init(code, path: path, error.message)
    }
}
