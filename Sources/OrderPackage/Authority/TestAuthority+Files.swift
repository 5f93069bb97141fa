// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Glibc
import ServiceRuntime

extension TestAuthority {
    /// The passphrase of `identity.p12`, unless another is given: the file holds nothing that is trusted.
    public static let defaultPassphrase = "walletorders"

    /// Writes the authority into a folder that is new or empty; keys are only their owner's to read, and a new folder is only
    /// theirs to enter.
    ///
    /// Nothing is ever overwritten. A new folder appears with all files at once or not at all; in one that was there, which may
    /// be the present folder, a link's or a volume's, none is left when one can't be written.
    /// - Throws: `alreadyExists` when something else stands there, `unwritable`, `badRequest` for an unusable passphrase.
    public func write(to folder: String, passphrase: String = defaultPassphrase) throws(OrderPackageError) {
        var path = folder[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        let isThere = Files.kind(String(path)) != nil
        guard !isThere || isEmptyFolder(String(path)) else {
            throw OrderPackageError(
                .alreadyExists,
                path: folder,
                "something stands there already; choose a new folder, or an empty one"
            )
        }
        let files = try files(passphrase)
        Self.removeLeftovers(of: String(path))
        var isOurs = true
        do throws(SystemError) {
            if isThere {
                isOurs = try Self.create(files, in: String(path))
            } else {
                try Self.create(files, asNew: String(path))
            }
        } catch {
            throw OrderPackageError(.unwritable, path: folder, "the test authority can't be written: \(error)")
        }
        if !isOurs { throw OrderPackageError(.alreadyExists, path: folder, "something was put there meanwhile") }
    }

    private typealias File = (name: String, bytes: [UInt8], mode: UInt32)

    private func files(_ passphrase: String) throws(OrderPackageError) -> [File] {
        [
            ("root.pem", root.pem(), 0o644), ("root.key", rootKey.pem(), 0o600),
            ("intermediate.pem", intermediate.pem(), 0o644), ("intermediate.key", intermediateKey.pem(), 0o600),
            ("identity.pem", identity.certificate.pem(), 0o644), ("identity.key", identity.key.pem(), 0o600),
            ("identity.p12", try pkcs12(passphrase), 0o600), ("server.pem", server.certificate.pem(), 0o644),
            ("server.key", server.key.pem(), 0o600),
        ]
    }

    private static func create(_ files: [File], asNew folder: String) throws(SystemError) {
        let draft = "\(folder).\(getpid()).\(SecureRandom.uuid()).tmp"
        do throws(SystemError) {
            try Files.createDirectory(draft, mode: 0o700)
            for file in files { try Files.write(file.bytes, to: "\(draft)/\(file.name)", mode: file.mode) }
            // Takes the place of nothing or of an empty folder, never of one with contents.
            try Files.move(draft, to: folder)
        } catch {
            try? Files.removeTree(draft)
            throw error
        }
    }

    /// False where a file of the name is there by now.
    private static func create(_ files: [File], in folder: String) throws(SystemError) -> Bool {
        var made: [String] = []
        do throws(SystemError) {
            for file in files {
                let path = "\(folder)/\(file.name)"
                guard try Files.create(file.bytes, at: path, mode: file.mode) else {
                    for path in made { try Files.removeTree(path) }
                    return false
                }
                made.append(path)
            }
            return true
        } catch {
            for path in made { try? Files.removeTree(path) }
            throw error
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
            throw OrderPackageError(error.code == .invalidInput ? .badRequest : .signing, error.message)
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
