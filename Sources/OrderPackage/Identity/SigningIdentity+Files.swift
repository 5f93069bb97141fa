// SPDX-License-Identifier: Apache-2.0

public import Cryptography
public import OrderModel
import ServiceRuntime

extension SigningIdentity {
    /// The files that an identity is read from.
    public struct Files: Sendable, Equatable {
        /// PKCS#12, or the certificate in PEM (with its key, or not) or DER.
        public var identity: String
        /// The private key in PEM or DER, where the identity file doesn't hold it.
        public var key: String?
        /// PEM or DER; empty where Apple's own is to be found by key identifier.
        public var intermediates: [String]
        /// Opens the PKCS#12 file or the key.
        public var passphrase: Secret?

        /// Files given one by one.
        public init(identity: String, key: String? = nil, intermediates: [String] = [], passphrase: [UInt8]? = nil) {
            self.identity = identity
            self.key = key
            self.intermediates = intermediates
            self.passphrase = passphrase.map(Secret.init)
        }

        /// Takes the passphrase from a file; the line break at its end doesn't count.
        ///
        /// - Throws: `unreadableFile`.
        public mutating func readPassphrase(_ path: String) throws(OrderPackageError) {
            passphrase = try Self.passphrase(in: path)
        }

        /// The passphrase in a file; the line break at its end doesn't count.
        ///
        /// - Throws: `unreadableFile`.
        public static func passphrase(in path: String) throws(OrderPackageError) -> Secret {
            var bytes = try SigningIdentity.readFile(path, "passphrase file")
            if bytes.last == 0x0A { bytes.removeLast() }
            if bytes.last == 0x0D { bytes.removeLast() }
            return Secret(bytes)
        }
    }

    /// Reads and checks an identity. Blocking: at start, or off the event loops.
    ///
    /// - Parameters:
    ///   - files: where it lies.
    ///   - type: whose identity is meant, where the file holds those of several order types.
    ///   - second: when the chain must be in date, in seconds since 1970; nil takes one out of date too, which still signs
    ///     what was made while it was valid.
    /// - Throws: `expired`, `notYetValid`, what ``init(certificate:key:intermediates:)`` throws, and `unreadableFile`, `unreadableIdentity`,
    ///   `noCertificate`, `noPrivateKey`, `wrongPassphrase`, `passphraseNeeded`, `legacyProviderMissing`,
    ///   `unsupportedAlgorithm`, `severalIdentities`, each naming the file.
    public static func load(
        _ files: Files,
        for type: OrderTypeIdentifier? = nil,
        validAt second: Int64? = nil
    ) throws(OrderPackageError) -> SigningIdentity {
        // Either file may hold a key that nothing protects.
        var bytes = try readFile(files.identity, "identity")
        defer { bytes.wipe() }
        var keyBytes: [UInt8]? = if let path = files.key { try readFile(path, "key") } else { nil }
        defer { keyBytes?.wipe() }
        var intermediates: [Certificate] = []
        for path in files.intermediates { intermediates += try readCertificates(path) }
        let contents = try contents(bytes, keyBytes, files.passphrase?.bytes, files)
        do throws(OrderPackageError) {
            var identity = try SigningIdentity(contents, for: type, given: intermediates, at: second)
            identity.source = files.identity
            if let second { try identity.checkValidity(at: second) }
            return identity
        } catch {
            // The file that was given for the key is at fault, where there is one.
            let path = error.code == .keyMismatch ? files.key ?? files.identity : files.identity
            throw OrderPackageError(error.code, path: error.path ?? path, error.message)
        }
    }

    /// What the files hold; what can't be read is told of the file that it stands in.
    private static func contents(
        _ identity: [UInt8],
        _ key: [UInt8]?,
        _ passphrase: [UInt8]?,
        _ files: Files?
    ) throws(OrderPackageError) -> IdentityContents {
        let given: PrivateKey?
        do throws(CryptographyError) {
            given = if let key { try IdentityContents.key(key, passphrase) } else { nil }
        } catch {
            throw OrderPackageError(error, path: files?.key)
        }
        do throws(CryptographyError) {
            return try IdentityContents(
                identity: identity,
                key: given,
                passphrase: passphrase,
                path: files?.identity ?? "identity"
            )
        } catch {
            throw OrderPackageError(error, path: files?.identity)
        }
    }

    private init(
        _ contents: IdentityContents,
        for type: OrderTypeIdentifier?,
        given: [Certificate],
        at second: Int64?
    ) throws(OrderPackageError) {
        let second = second ?? WallTime.now().seconds
        let (certificate, key) = try contents.pair(for: type, at: second)
        try self.init(
            certificate: certificate,
            key: key,
            given: given,
            found: contents.certificates.filter { $0 != certificate },
            findings: contents.findings,
            at: second
        )
    }

    /// Reads an identity out of file contents: PKCS#12, PEM or DER, told apart by content.
    ///
    /// - Parameters:
    ///   - identity: the file with the certificate.
    ///   - key: the private key in PEM or DER, where `identity` doesn't hold it.
    ///   - intermediates: where the issuer is looked for besides `identity` and Apple's own.
    ///   - passphrase: opens `identity` or `key` where they are encrypted.
    /// - Throws: as ``load(_:for:validAt:)``, without the names of files.
    public init(
        identity: [UInt8],
        key: [UInt8]?,
        intermediates: [Certificate],
        passphrase: [UInt8]?
    ) throws(OrderPackageError) {
        try self.init(try Self.contents(identity, key, passphrase, nil), for: nil, given: intermediates, at: nil)
    }

    static func readFile(_ path: String, _ kind: String) throws(OrderPackageError) -> [UInt8] {
        do throws(SystemError) {
            return try ServiceRuntime.Files.read(path, limit: 1 << 20)
        } catch {
            throw OrderPackageError(.unreadableFile, path: path, "the \(kind) can't be read: \(error)")
        }
    }

    /// The certificates of a file in PEM or DER.
    ///
    /// - Throws: `unreadableFile`, `unreadableIdentity`, `noCertificate`.
    public static func readCertificates(_ path: String) throws(OrderPackageError) -> [Certificate] {
        let bytes = try readFile(path, "certificate")
        do throws(CryptographyError) {
            return bytes.first == 0x30 ? [try Certificate(der: bytes)] : try Certificate.all(pem: bytes)
        } catch {
            throw OrderPackageError(error, path: path)
        }
    }
}

/// What an identity file, and a key file where there is one, turned out to hold.
private struct IdentityContents {
    let certificates: [Certificate]
    let keys: [PrivateKey]
    var findings: [Finding] = []

    /// - Parameters:
    ///   - given: the key that is taken, whatever keys the identity's own file holds.
    ///   - path: where the identity's file lies, for findings.
    init(
        identity: [UInt8],
        key given: PrivateKey?,
        passphrase: [UInt8]?,
        path: String
    ) throws(CryptographyError) {
        if identity.first != 0x30 {
            certificates = try Certificate.all(pem: identity)
            keys = if let given { [given] } else { try PrivateKey.all(pem: identity, passphrase: passphrase) }
        } else if let certificate = try? Certificate(der: identity) {
            guard let given else {
                throw CryptographyError(
                    .noPrivateKey,
                    "a DER certificate has no private key with it; give the key file too"
                )
            }
            certificates = [certificate]
            keys = [given]
        } else {
            let contents = try PKCS12.read(identity, passphrase: passphrase ?? [])
            certificates = contents.certificates
            keys = given.map { [$0] } ?? contents.keys
            if contents.usedLegacyAlgorithms { findings.append(SigningIdentity.legacyFinding(path)) }
        }
        guard !keys.isEmpty else {
            throw CryptographyError(
                .noPrivateKey,
                "no private key in file; give the key file too, or export the certificate together with its key"
            )
        }
        guard !certificates.isEmpty else { throw CryptographyError(.noCertificate, "no certificate in file") }
    }

    static func key(_ bytes: [UInt8], _ passphrase: [UInt8]?) throws(CryptographyError) -> PrivateKey {
        bytes.first == 0x30
            ? try PrivateKey(der: bytes, passphrase: passphrase)
            : try PrivateKey(pem: bytes, passphrase: passphrase)
    }

    /// The certificate that signs, with its key: an order type's before any other, and of an order type's several the one
    /// that is in date and ends last, so that a renewed one may stand beside the old.
    ///
    /// - Parameter second: when it is to be in date, in seconds since 1970.
    /// - Throws: `severalIdentities` where there are those of several order types, and none of them is asked for.
    func pair(
        for type: OrderTypeIdentifier?,
        at second: Int64
    ) throws(OrderPackageError) -> (Certificate, PrivateKey) {
        let own = certificates.filter { certificate in
            !certificate.isCA && keys.contains { certificate.matches($0) }
        }
        var types: [String: [Certificate]] = [:]
        for certificate in own {
            guard let text = certificate.extensionString(WalletPolicy.orderType) else { continue }
            types[text, default: []].append(certificate)
        }
        var leaves = types.first?.value ?? own
        if types.count > 1 {
            guard let asked = type.flatMap({ types[$0.text] }) else {
                throw OrderPackageError(
                    .severalIdentities,
                    "the file holds identities for \(types.keys.sorted().joined(separator: " and ")); export each by itself"
                )
            }
            leaves = asked
        }
        // One that no key belongs to is told of by its name.
        let others = certificates.filter { !$0.isCA } + certificates
        let leaf = leaves.max { $1.isBetter(than: $0, at: second) } ?? others[0]
        return (leaf, keys.first { leaf.matches($0) } ?? keys[0])
    }
}

extension SigningIdentity {
    /// The advice to convert an old PKCS#12 file.
    static func legacyFinding(_ path: String) -> Finding {
        Finding(
            severity: .warning,
            code: "identity-legacy-ciphers",
            path: path,
            message:
                "The PKCS#12 file uses outdated ciphers (RC2, RC4 or DES), which OpenSSL 3 reads only with its legacy provider.",
            fix:
                "Convert it once: openssl pkcs12 -legacy -in OLD.p12 -out all.pem, then openssl pkcs12 -export -in all.pem -out NEW.p12."
        )
    }
}
