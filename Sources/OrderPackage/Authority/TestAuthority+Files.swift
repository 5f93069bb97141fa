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
        if isThere, try !isEmptyFolder(String(path)) {
            throw OrderPackageError(
                .alreadyExists,
                path: folder,
                "something stands there already; choose a new folder, or an empty one"
            )
        }
        let files = try files(passphrase)
        Self.removeLeftovers(of: String(path))
        if isThere {
            try Self.create(files, in: String(path))
        } else {
            do throws(SystemError) {
                try Self.create(files, asNew: String(path))
            } catch {
                throw Self.unwritable(folder, error)
            }
        }
    }

    private static func unwritable(_ folder: String, _ error: SystemError) -> OrderPackageError {
        OrderPackageError(.unwritable, path: folder, "the test authority can't be written: \(error)")
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
            // Held until it has its name: who finds it locked leaves it alone, in whatever container they are.
            guard let hold = try FolderLock(draft) else {
                throw SystemError(operation: "lock \(draft)", errno: EWOULDBLOCK)
            }
            for file in files { try Files.write(file.bytes, to: "\(draft)/\(file.name)", mode: file.mode) }
            // Takes the place of nothing or of an empty folder, never of one with contents.
            try Files.move(draft, to: folder)
            _ = consume hold
        } catch {
            // Where that fails, too, the next that writes the folder removes it.
            try? Files.removeTree(draft)
            throw error
        }
    }

    /// Makes the files in a folder, or takes those away that it made before one can't be.
    private static func create(_ files: [File], in folder: String) throws(OrderPackageError) {
        var made: [String] = []
        for file in files {
            let path = "\(folder)/\(file.name)"
            var fault = OrderPackageError(.alreadyExists, path: folder, "something was put there meanwhile")
            do throws(SystemError) {
                if try Files.create(file.bytes, at: path, mode: file.mode) {
                    made.append(path)
                    continue
                }
            } catch {
                fault = unwritable(folder, error)
            }
            // Private keys that nothing looks after: where they can't be taken away, somebody has to know of them.
            let left = takeAway(made)
            if left.isEmpty { throw fault }
            let message = "\(fault.message); left there: \(left.joined(separator: ", "))"
            throw OrderPackageError(fault.code, path: folder, message)
        }
    }

    /// Removes files, and gives those that can't be removed.
    static func takeAway(_ paths: [String]) -> [String] {
        paths.filter { path in
            do throws(SystemError) {
                try Files.removeTree(path)
                return false
            } catch {
                return true
            }
        }
    }

    /// Reads an authority that ``write(to:passphrase:)`` wrote.
    ///
    /// - Throws: `unreadableFile`, `unreadableIdentity`, `keyMismatch`, and what ``SigningIdentity`` finds wrong.
    public static func read(from folder: String) throws(OrderPackageError) -> TestAuthority {
        let issuers = try Issuers(folder)
        let identity: SigningIdentity
        do throws(OrderPackageError) {
            identity = try SigningIdentity(
                certificate: certificate(folder, "identity.pem"),
                key: key(folder, "identity.key"),
                intermediates: [issuers.intermediate]
            )
        } catch {
            throw OrderPackageError(error.code, path: error.path ?? "\(folder)/identity.pem", error.message)
        }
        let (server, serverKey) = try pair(folder, "server")
        guard server.isSigned(by: issuers.root) else {
            throw OrderPackageError(.brokenChain, path: "\(folder)/server.pem", "root.pem did not sign it")
        }
        return TestAuthority(
            issuers: issuers,
            identity: identity,
            server: ServerIdentity(certificate: server, chain: [], key: serverKey)
        )
    }

    /// A certificate with its key.
    static func pair(_ folder: String, _ name: String) throws(OrderPackageError) -> (Certificate, PrivateKey) {
        let certificate = try certificate(folder, "\(name).pem")
        let key = try key(folder, "\(name).key")
        guard certificate.matches(key) else {
            throw OrderPackageError(.keyMismatch, path: "\(folder)/\(name).key", "this is not the key of \(name).pem")
        }
        return (certificate, key)
    }

    /// The names of all files of an authority.
    private static let names = [
        "root.pem", "root.key", "intermediate.pem", "intermediate.key", "identity.pem", "identity.key", "identity.p12",
        "server.pem", "server.key",
    ]

    /// Takes away what a process left that was killed while it wrote: private keys that nobody looks after.
    ///
    /// Only what can be nothing else: a folder of the name that a draft gets, ours alone, with an authority's files in it and
    /// nothing more, which no process holds. What lies beside it is somebody's.
    private static func removeLeftovers(of folder: String) {
        let parts = folder.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "./"
        for name in (try? Files.list(parent)) ?? [] {
            guard let process = process(ofDraft: name, of: parts.last ?? ""), !Files.exists("/proc/\(process)"),
                isDraft(parent + name), let hold = (try? FolderLock(parent + name)) ?? nil
            else { continue }
            // What can't be looked at or removed now is there for the next time.
            try? Files.removeTree(parent + name)
            _ = consume hold
        }
    }

    /// The process that gave a draft of a folder its name, `FOLDER.PROCESS.UUID.tmp`; nil for any other name.
    private static func process(ofDraft name: String, of folder: Substring) -> Int32? {
        let start = Array(folder.utf8) + [UInt8(ascii: ".")]
        guard name.utf8.starts(with: start) else { return nil }
        let parts = name.utf8.dropFirst(start.count).split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        )
        guard parts.count == 3, parts[2].elementsEqual("tmp".utf8), let process = Int32(String(parts[0]) ?? ""),
            process > 0, "\(process)".utf8.elementsEqual(parts[0])
        else { return nil }
        let groups = parts[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isIdentifier =
            groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isIdentifier ? process : nil
    }

    /// Whether a folder is as a draft is made, and holds only what is put into one.
    private static func isDraft(_ folder: String) -> Bool {
        guard Files.isPrivateFolder(folder), let found = try? Files.list(folder) else { return false }
        return found.allSatisfy { file in
            // A file that was being written has more behind its name.
            let isOwn = names.contains { file == $0 || file.hasPrefix($0 + ".") && file.hasSuffix(".tmp") }
            return isOwn && Files.permissions(ofFile: "\(folder)/\(file)") != nil
        }
    }

    private func isEmptyFolder(_ folder: String) throws(OrderPackageError) -> Bool {
        guard Files.isDirectory(folder) else { return false }
        do throws(SystemError) {
            return try Files.list(folder).isEmpty
        } catch {
            throw OrderPackageError(.unwritable, path: folder, "it can't be seen whether the folder is empty: \(error)")
        }
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

    static func certificate(_ folder: String, _ name: String) throws(OrderPackageError) -> Certificate {
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
