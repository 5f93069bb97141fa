// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ZipFiles

/// A file at its path in a package, with everything that doesn't depend on the package computed already.
public struct PackageFile: Sendable, Hashable {
    /// The path, such as `logo.png` or `fr.lproj/order.strings`.
    public let path: String
    /// SHA-256 of the contents in lower-case hexadecimal digits.
    let digestText: String
    /// The archive entry.
    let entry: StoredEntry

    /// An asset at a path.
    ///
    /// - Throws: `badPath` for a path that leaves the package, is hidden, or is one of the package's own files.
    public init(path: String, asset: Asset) throws(OrderPackageError) {
        try self.init(path: path, contents: asset.contents, digestText: asset.digestText, crc32: asset.crc32)
    }

    /// Any other file, such as localized strings.
    ///
    /// - Throws: `badPath`, and `emptyFile`: devices pass over files without contents.
    public init(path: String, contents: [UInt8]) throws(OrderPackageError) {
        guard !contents.isEmpty else {
            throw OrderPackageError(.emptyFile, path: path, "the file is empty; devices pass over it, so leave it out")
        }
        try self.init(
            path: path,
            contents: contents,
            digestText: SHA256.hash(contents).hex,
            crc32: CRC32.checksum(contents)
        )
    }

    private init(path: String, contents: [UInt8], digestText: String, crc32: UInt32) throws(OrderPackageError) {
        if let fault = Self.fault(path) { throw OrderPackageError(.badPath, path: path, fault) }
        do throws(ZipError) {
            entry = try StoredEntry(name: path, contents: contents, crc32: crc32)
        } catch {
            throw OrderPackageError(.badPath, path: path, error.message)
        }
        self.path = path
        self.digestText = digestText
    }

    /// The file's bytes.
    public var contents: [UInt8] { entry.contents }

    /// The names that a package gives its own files.
    static let reserved: Set<String> = ["order.json", "manifest.json", "signature"]

    private static func fault(_ path: String) -> String? {
        if reserved.contains(path) { return "the package writes this file itself" }
        if StrayFile.matches(path) { return "hidden and temporary files don't belong into a package" }
        return nil
    }
}

/// Files that systems and editors leave behind and that travel to customers by mistake.
enum StrayFile {
    /// Whether a path is one: hidden files, Finder's and editors' leftovers.
    static func matches(_ path: String) -> Bool {
        path.split(separator: "/").contains { part in
            part.hasPrefix(".") || names.contains(String(part)) || endings.contains { part.hasSuffix($0) }
                || part.hasPrefix("#") && part.hasSuffix("#")
        }
    }

    private static let names: Set<String> = ["__MACOSX", "Thumbs.db", "desktop.ini"]
    private static let endings = [".swp", ".swo", ".bak", ".tmp", "~"]
}
