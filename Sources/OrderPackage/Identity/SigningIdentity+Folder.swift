// SPDX-License-Identifier: Apache-2.0

import Cryptography
public import OrderModel
import ServiceRuntime

extension SigningIdentity {
    /// Reads the identities of a folder, one for each order type. Blocking: at start, or off the event loops.
    ///
    /// The folder holds PKCS#12 files, certificates and keys in PEM or DER, and intermediates, under any names: which
    /// key and issuer belong to which certificate is found by the keys themselves. The passphrase of `shop.p12` or
    /// `shop.key` stands in `shop.passphrase`. Hidden files, folders and certificate requests are passed over. So is whatever
    /// else is of no use, with a finding in the identities' ``findings``: files that hold nothing of the kind, files that
    /// can't be read, files under a passphrase that isn't there, and certificates that are no order type's. Of two certificates
    /// for one order type one that is in date is taken, and of several such the one that ends last, so that a renewed one
    /// is put beside the old.
    ///
    /// - Parameters:
    ///   - folder: its path.
    ///   - second: when each chain must be in date, in seconds since 1970; nil takes those out of date too.
    /// - Throws: as ``load(_:for:validAt:)``, naming the file: `noPrivateKey` and `unknownIssuer` for an order type's
    ///   certificate whose key or issuer isn't there, with the files that might have held it; `wrongPassphrase` for one that
    ///   doesn't open its file, `unreadableIdentity` for a damaged certificate or key in PEM; `noCertificate`, or why a
    ///   file was passed over, for a folder without any.
    public static func load(
        folder: String,
        validAt second: Int64? = nil
    ) throws(OrderPackageError) -> [OrderTypeIdentifier: SigningIdentity] {
        var material = IdentityMaterial()
        for name in try names(in: folder) where !name.hasPrefix(".") && !name.hasSuffix(".passphrase") {
            let path = "\(folder)/\(name)"
            if ServiceRuntime.Files.isDirectory(path) { continue }
            let passphrase = try passphrase(for: name, in: folder)
            try material.read(path, passphrase: passphrase, lookedForIn: passphrasePath(for: name, in: folder))
        }
        let now = second ?? WallTime.now().seconds
        var identities: [OrderTypeIdentifier: SigningIdentity] = [:]
        for (path, certificate) in material.leaves {
            guard certificate.extensionValue(WalletPolicy.orderType) != nil else {
                material.note(path, "\(certificate.subjectDescription) is no Order Type ID certificate")
                continue
            }
            let identity = try material.identity(path, certificate, at: now)
            let known = identities[identity.orderTypeIdentifier]
            if known.map({ identity.isBetter(than: $0, at: now) }) ?? true {
                identities[identity.orderTypeIdentifier] = identity
            }
        }
        for type in identities.keys { identities[type]?.findings += material.notes }
        guard !identities.isEmpty else {
            if let refusal = material.refusals.first { throw refusal }
            throw OrderPackageError(.noCertificate, path: folder, "the folder has no Order Type ID certificate")
        }
        if let second {
            for (_, identity) in identities.sorted(by: { $0.key.text < $1.key.text }) {
                try identity.checkValidity(at: second)
            }
        }
        return identities
    }

    private static func names(in folder: String) throws(OrderPackageError) -> [String] {
        do throws(SystemError) {
            return try ServiceRuntime.Files.list(folder)
        } catch {
            throw OrderPackageError(.unreadableFile, path: folder, "the folder can't be read: \(error)")
        }
    }

    private static func passphrase(for name: String, in folder: String) throws(OrderPackageError) -> Secret? {
        let path = passphrasePath(for: name, in: folder)
        guard ServiceRuntime.Files.exists(path) else { return nil }
        return try Files.passphrase(in: path)
    }

    private static func passphrasePath(for name: String, in folder: String) -> String {
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        return "\(folder)/\(stem).passphrase"
    }

    /// Whether it is the one to sign with, of two for one order type.
    private func isBetter(than other: SigningIdentity, at second: Int64) -> Bool {
        let own = TimeInDate(start: chainNotBefore, end: chainNotAfter)
        return own.isBetter(than: TimeInDate(start: other.chainNotBefore, end: other.chainNotAfter), at: second)
    }
}

extension Certificate {
    /// Whether it is the one to take at a second since 1970, of two for one key.
    func isBetter(than other: Certificate, at second: Int64) -> Bool {
        let own = TimeInDate(start: notBefore, end: notAfter)
        return own.isBetter(than: TimeInDate(start: other.notBefore, end: other.notAfter), at: second)
    }
}

/// From when to when something may be used, in seconds since 1970.
private struct TimeInDate {
    let start: Int64
    let end: Int64

    /// What is in date goes before what isn't, and then what ends last.
    func isBetter(than other: TimeInDate, at second: Int64) -> Bool {
        let isIn = start <= second && second <= end
        let isOtherIn = other.start <= second && second <= other.end
        return isIn == isOtherIn ? end > other.end : isIn
    }
}

/// The certificates and keys of a folder, before it is known what belongs together.
private struct IdentityMaterial {
    /// Certificates that issue nothing, with their files.
    var leaves: [(path: String, certificate: Certificate)] = []
    private var issuers: [Certificate] = []
    private var keys: [PrivateKey] = []
    private var findings: [String: [Finding]] = [:]
    /// What was passed over.
    private(set) var notes: [Finding] = []
    /// Why files couldn't be read that may have held something.
    private(set) var refusals: [OrderPackageError] = []
    /// All files that nothing was found in, with the reason.
    private var unread: [String] = []

    private static let marker = Array("-----BEGIN ".utf8)
    private static let requests = ["", "NEW "].map { Array("-----BEGIN \($0)CERTIFICATE REQUEST-----".utf8) }

    /// Remembers that a file is of no use, and why.
    mutating func note(_ path: String, _ reason: String, _ severity: Finding.Severity = .note) {
        notes.append(
            Finding(
                severity: severity,
                code: "identity-passed-over",
                path: path,
                message: "The file was passed over: \(reason).",
                fix: "Leave it out of the folder of identities."
            )
        )
    }

    /// Takes what a file holds.
    ///
    /// A foreign file must not keep a shop from its orders, so what can't be read is remembered, and told of where something
    /// turns out to be missing. What was meant to be read is at fault all the same: a certificate that is damaged, a
    /// passphrase that doesn't fit.
    mutating func read(_ path: String, passphrase: Secret?, lookedForIn place: String) throws(OrderPackageError) {
        do throws(OrderPackageError) {
            var bytes = try SigningIdentity.readFile(path, "identity")
            defer { bytes.wipe() }
            try read(bytes, path, passphrase)
        } catch {
            switch error.code {
            case .unreadableFile: refuse(error)
            case .passphraseNeeded where passphrase == nil:
                refuse(OrderPackageError(error.code, path: path, "\(error.message); it is looked for in \(place)"))
            default: throw error
            }
        }
    }

    private mutating func refuse(_ error: OrderPackageError) {
        refusals.append(error)
        passOver(error.path ?? "", error.message, .warning)
    }

    private mutating func passOver(_ path: String, _ reason: String, _ severity: Finding.Severity = .note) {
        note(path, reason, severity)
        unread.append("\(path) (\(reason))")
    }

    private mutating func read(_ bytes: [UInt8], _ path: String, _ passphrase: Secret?) throws(OrderPackageError) {
        do throws(CryptographyError) {
            if bytes.first == 0x30 {
                try readDER(bytes, path, passphrase)
            } else if bytes.firstRange(of: Self.marker) != nil {
                try readPEM(bytes, path, passphrase)
            } else {
                passOver(path, "it holds neither a certificate nor a key")
            }
        } catch {
            throw OrderPackageError(error, path: path)
        }
    }

    private mutating func readDER(_ bytes: [UInt8], _ path: String, _ passphrase: Secret?) throws(CryptographyError) {
        if let certificate = try? Certificate(der: bytes) { return add(certificate, path) }
        do throws(CryptographyError) {
            return keys.append(try PrivateKey(der: bytes, passphrase: passphrase?.bytes))
        } catch  where error.code == .notDER {}
        do throws(CryptographyError) {
            let contents = try PKCS12.read(bytes, passphrase: passphrase?.bytes ?? [])
            keys += contents.keys
            if contents.usedLegacyAlgorithms { findings[path] = [SigningIdentity.legacyFinding(path)] }
            for certificate in contents.certificates { add(certificate, path) }
        } catch  where error.code == .notPKCS12 {
            // A request, a public key, a text that begins with a 0, or something damaged.
            passOver(path, "it holds neither a certificate nor a key that can be read")
        }
    }

    private mutating func readPEM(_ bytes: [UInt8], _ path: String, _ passphrase: Secret?) throws(CryptographyError) {
        var fault: CryptographyError?
        do throws(CryptographyError) {
            for certificate in try Certificate.all(pem: bytes) { add(certificate, path) }
        } catch  where error.code == .noCertificate || error.code == .notPEM && !Self.hasBlocks(bytes) {
            fault = error
        }
        let found = try PrivateKey.all(pem: bytes, passphrase: passphrase?.bytes)
        keys += found
        guard let fault, found.isEmpty else { return }
        if Self.requests.contains(where: { bytes.firstRange(of: $0) != nil }) { return }
        passOver(path, fault.message)
    }

    /// Whether a line begins as a block of PEM does; text may speak of one.
    private static func hasBlocks(_ bytes: [UInt8]) -> Bool {
        bytes.split { $0 == 0x0A || $0 == 0x0D }.contains { $0.starts(with: marker) }
    }

    private mutating func add(_ certificate: Certificate, _ path: String) {
        if certificate.isCA {
            issuers.append(certificate)
        } else if !leaves.contains(where: { $0.certificate == certificate }) {
            leaves.append((path, certificate))
        }
    }

    func identity(
        _ path: String,
        _ certificate: Certificate,
        at second: Int64
    ) throws(OrderPackageError) -> SigningIdentity {
        guard let key = keys.first(where: { certificate.matches($0) }) else {
            throw OrderPackageError(
                .noPrivateKey,
                path: path,
                "the folder has no private key for \(certificate.subjectDescription); put its key file there too"
                    + passedOver
            )
        }
        do throws(OrderPackageError) {
            var identity = try SigningIdentity(
                certificate: certificate,
                key: key,
                given: [],
                found: issuers,
                findings: findings[path] ?? [],
                at: second
            )
            identity.source = path
            return identity
        } catch {
            let message = error.code == .unknownIssuer ? error.message + passedOver : error.message
            throw OrderPackageError(error.code, path: error.path ?? path, message)
        }
    }

    /// The files that may hold what is missing, for the end of a message.
    private var passedOver: String { unread.isEmpty ? "" : "; passed over were " + unread.joined(separator: ", ") }
}
