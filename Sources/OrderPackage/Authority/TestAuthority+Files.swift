// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Glibc
import ServiceRuntime

extension TestAuthority {
    /// The passphrase of `identity.p12`, unless another is given: the file holds nothing that is trusted.
    public static let defaultPassphrase = "walletorders"

    /// Writes the authority into a new folder that only its owner may enter; keys are only theirs to read.
    ///
    /// All files appear at once or not at all, and nothing is ever overwritten.
    /// - Throws: `alreadyExists` when something with contents stands there, `unwritable`.
    public func write(to folder: String, passphrase: String = defaultPassphrase) throws(OrderPackageError) {
        guard !Files.exists(folder) || isEmptyFolder(folder) else {
            throw OrderPackageError(.alreadyExists, path: folder, "something stands there already; choose a new folder")
        }
        let archive = try pkcs12(passphrase)
        let files: [(name: String, bytes: [UInt8], isPrivate: Bool)] = [
            ("root.pem", root.pem(), false), ("root.key", rootKey.pem(), true),
            ("intermediate.pem", intermediate.pem(), false), ("intermediate.key", intermediateKey.pem(), true),
            ("identity.pem", identity.certificate.pem(), false), ("identity.key", identity.key.pem(), true),
            ("identity.p12", archive, true), ("server.pem", server.certificate.pem(), false),
            ("server.key", server.key.pem(), true),
        ]
        let trimmed = folder.count > 1 && folder.last == "/" ? String(folder.dropLast()) : folder
        Self.removeLeftovers(of: trimmed)
        let temporary = "\(trimmed).\(getpid()).\(SecureRandom.uuid()).tmp"
        do throws(SystemError) {
            try Files.createDirectory(temporary, mode: 0o700)
            for file in files {
                try Files.write(file.bytes, to: "\(temporary)/\(file.name)", mode: file.isPrivate ? 0o600 : 0o644)
            }
            // Takes the place of nothing or of an empty folder, never of one with contents.
            try Files.move(temporary, to: trimmed)
        } catch {
            try? Files.removeTree(temporary)
            throw OrderPackageError(.unwritable, path: folder, "the test authority can't be written: \(error)")
        }
    }

    /// Reads an authority that ``write(to:passphrase:)`` wrote.
    ///
    /// - Throws: `unreadableFile`, `unreadableIdentity`, and what ``SigningIdentity`` finds wrong.
    public static func read(from folder: String) throws(OrderPackageError) -> TestAuthority {
        let root = try certificate(folder, "root.pem")
        let intermediate = try certificate(folder, "intermediate.pem")
        let identity = try SigningIdentity(
            certificate: certificate(folder, "identity.pem"),
            key: key(folder, "identity.key"),
            intermediates: [intermediate]
        )
        return TestAuthority(
            root: root,
            rootKey: try key(folder, "root.key"),
            intermediate: intermediate,
            intermediateKey: try key(folder, "intermediate.key"),
            identity: identity,
            server: ServerIdentity(
                certificate: try certificate(folder, "server.pem"),
                chain: [],
                key: try key(folder, "server.key")
            )
        )
    }

    /// Takes away what a process left that was killed while it wrote: private keys that nobody looks after.
    private static func removeLeftovers(of folder: String) {
        let parts = folder.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "./"
        let prefix = (parts.last ?? "") + "."
        for name in (try? Files.list(parent)) ?? [] where name.hasPrefix(prefix) && name.hasSuffix(".tmp") {
            let number = name.dropFirst(prefix.count).prefix { $0 != "." }
            guard let process = Int32(number), process > 0, !Files.exists("/proc/\(process)") else { continue }
            try? Files.removeTree(parent + name)
        }
    }

    private func isEmptyFolder(_ folder: String) -> Bool {
        Files.isDirectory(folder) && (try? Files.list(folder))?.isEmpty == true
    }

    func pkcs12(_ passphrase: String) throws(OrderPackageError) -> [UInt8] {
        do throws(CryptographyError) {
            return try PKCS12.write(
                certificate: identity.certificate,
                key: identity.key,
                others: [intermediate],
                passphrase: Array(passphrase.utf8),
                friendlyName: "Order Type ID: \(identity.orderTypeIdentifier)"
            )
        } catch {
            throw OrderPackageError(error)
        }
    }

    private static func certificate(_ folder: String, _ name: String) throws(OrderPackageError) -> Certificate {
        let path = "\(folder)/\(name)"
        guard let first = try SigningIdentity.readCertificates(path).first else {
            throw OrderPackageError(.noCertificate, path: path, "the file has no certificate")
        }
        return first
    }

    private static func key(_ folder: String, _ name: String) throws(OrderPackageError) -> PrivateKey {
        let path = "\(folder)/\(name)"
        let bytes = try SigningIdentity.readFile(path, "key")
        do throws(CryptographyError) {
            return try PrivateKey(pem: bytes, passphrase: nil)
        } catch {
            throw OrderPackageError(error, path: path)
        }
    }
}
