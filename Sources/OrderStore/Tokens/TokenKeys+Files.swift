// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ServiceRuntime

extension TokenKeys {
    /// Reads the ring from a directory of files `token-<kid>.key`, each 64 hexadecimal digits, readable by its owner
    /// alone. To change the key, put a file with the next number beside the others and restart.
    ///
    /// - Parameter createIfMissing: makes the directory (0700) and a first key (0600) when there is none. Two processes
    ///   that start at once end with the same key: the file is made under another name and linked into place.
    /// - Throws: ``StoreError`` with `badKeyFile`; the message names the file and the fault, never the key.
    package static func load(directory: String, createIfMissing: Bool) async throws -> TokenKeys {
        try await runBlocking {
            do {
                return try read(directory, createIfMissing)
            } catch let error as SystemError {
                throw StoreError(.badKeyFile, "The token keys can't be had: \(error).")
            }
        }
    }

    /// Whether a folder has no key, or is not there.
    package static func isEmpty(_ directory: String) async throws -> Bool {
        try await runBlocking {
            do { return try !Files.exists(directory) || numbers(in: directory).isEmpty } catch let error as SystemError
            {
                throw StoreError(.badKeyFile, "The token keys can't be had: \(error).")
            }
        }
    }

    /// Writes a ring of one key down. A key that is there already is never replaced.
    func writeFirst(in directory: String) async throws -> (path: String, isMade: Bool) {
        let path = "\(directory)/token-\(newest).key"
        let text = Hex.encode(keys[newest] ?? []) + "\n"
        return try await runBlocking {
            do {
                try Files.createDirectory(directory, mode: 0o700)
                return (path, try Files.create(Array(text.utf8), at: path, mode: 0o600))
            } catch let error as SystemError {
                throw StoreError(.badKeyFile, "The token keys can't be had: \(error).")
            }
        }
    }

    private static func read(_ directory: String, _ createIfMissing: Bool) throws -> TokenKeys {
        if createIfMissing { try Files.createDirectory(directory, mode: 0o700) }
        var kids = try numbers(in: directory)
        if kids.isEmpty, createIfMissing {
            try makeFirst(in: directory)
            kids = try numbers(in: directory)
        }
        guard !kids.isEmpty else { throw fault(directory, "holds no token-<number>.key file") }
        var keys: [Int: [UInt8]] = [:]
        for kid in kids { keys[kid] = try readKey("\(directory)/token-\(kid).key") }
        return try TokenKeys(keys: keys)
    }

    private static func numbers(in directory: String) throws -> [Int] {
        try Files.list(directory).compactMap { name in
            guard name.hasPrefix("token-"), name.hasSuffix(".key"), let kid = Int32(name.dropFirst(6).dropLast(4)),
                kid > 0, name == "token-\(kid).key"
            else { return nil }
            return Int(kid)
        }
    }

    private static func readKey(_ path: String) throws -> [UInt8] {
        guard let mode = Files.permissions(ofFile: path) else { throw fault(path, "is no file") }
        guard mode & 0o077 == 0 else { throw fault(path, "can be read by others; run chmod 600 on it") }
        let bytes = try Files.read(path, limit: 1_024)
        guard bytes.count >= 64, bytes[64...].allSatisfy({ $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }),
            let key = Hex.decode(String(decoding: bytes[..<64], as: UTF8.self))
        else { throw fault(path, "is no key: 64 hexadecimal digits and a line end") }
        return key
    }

    private static func makeFirst(in directory: String) throws {
        // A key that another process made just now is never replaced.
        let text = Hex.encode(SecureRandom.bytes(32)) + "\n"
        _ = try Files.create(Array(text.utf8), at: "\(directory)/token-1.key", mode: 0o600)
    }

    private static func fault(_ path: String, _ what: String) -> StoreError {
        StoreError(.badKeyFile, "\(path) \(what).")
    }
}
