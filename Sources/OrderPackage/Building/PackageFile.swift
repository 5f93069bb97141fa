// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import ZipFiles

/// A file at its path in a package, with everything that doesn't depend on the package computed already.
public struct PackageFile: Sendable, Hashable {
    /// Shared by every copy.
    private final class Parts: Sendable {
        let path: String
        let digestText: String
        let manifestLine: [UInt8]
        let entry: StoredEntry

        init(path: String, digestText: String, entry: StoredEntry) {
            self.path = path
            self.digestText = digestText
            self.entry = entry
            manifestLine = Manifest.line(path: path, digestText: digestText)
        }
    }

    /// The most files that a package has beside its own three: with more, a verifier doesn't read it.
    package static let mostFiles = ArchiveCheck.limits.entries - reserved.count

    private let parts: Parts
    /// The path, such as `logo.png` or `fr.lproj/order.strings`.
    public var path: String { parts.path }
    /// SHA-256 of the contents in lower-case hexadecimal digits.
    var digestText: String { parts.digestText }
    /// Its member of the manifest.
    var manifestLine: [UInt8] { parts.manifestLine }
    /// The archive entry.
    var entry: StoredEntry { parts.entry }

    /// Equal means: the same path, byte for byte, and the same contents.
    public static func == (left: PackageFile, right: PackageFile) -> Bool {
        left.parts === right.parts || left.manifestLine == right.manifestLine
    }

    /// Hashes path and digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(manifestLine) }

    /// An asset at a path.
    ///
    /// - Throws: `badPath` for a path that leaves the package, is hidden, or is one of the package's own files.
    public init(path: String, asset: Asset) throws(OrderPackageError) {
        if let made = asset.files.file(path) {
            self = made
            return
        }
        // An image is no editor's leftover, whatever its name ends in.
        if StrayFile.isHidden(path) { throw OrderPackageError(.badPath, path: path, Self.strayFault) }
        try self.init(path: path, contents: asset.contents, digestText: asset.digestText, crc32: asset.crc32)
        asset.files.insert(self)
    }

    /// Any other file, such as localized strings.
    ///
    /// - Throws: `badPath`, and `emptyFile`: devices pass over files without contents.
    public init(path: String, contents: [UInt8]) throws(OrderPackageError) {
        if StrayFile.matches(path) { throw OrderPackageError(.badPath, path: path, Self.strayFault) }
        try self.init(path: path, named: contents)
    }

    /// A file of a source folder, which the order may name although its name is a leftover's.
    init(path: String, named contents: [UInt8]) throws(OrderPackageError) {
        guard !contents.isEmpty else {
            let message = "the file is empty, and devices pass over it; \(EmptyFile.cure(path))"
            throw OrderPackageError(.emptyFile, path: path, message)
        }
        try self.init(
            path: path,
            contents: contents,
            digestText: SHA256.hash(contents).hex,
            crc32: CRC32.checksum(contents)
        )
    }

    private init(path: String, contents: [UInt8], digestText: String, crc32: UInt32) throws(OrderPackageError) {
        guard !path.isExactly(oneOf: Self.reserved) else {
            throw OrderPackageError(.badPath, path: path, "the package writes this file itself")
        }
        if let own = ReservedName.resembled(by: path) {
            throw OrderPackageError(.badPath, path: path, "the name differs from \(own) in upper and lower case only")
        }
        if PackagePath.namesFolder(path) { throw OrderPackageError(.badPath, path: path, Self.folderFault) }
        let entry: StoredEntry
        do throws(ZipError) {
            entry = try StoredEntry(name: path, contents: contents, crc32: crc32)
        } catch {
            throw OrderPackageError(.badPath, path: path, error.message)
        }
        parts = Parts(path: path, digestText: digestText, entry: entry)
    }

    /// The file's bytes.
    public var contents: [UInt8] { entry.contents }

    /// The names that a package gives its own files.
    static let reserved = FileName.reserved

    /// What is wrong with a file that ``PackagePath/namesFolder(_:)``.
    static let folderFault =
        "this is a file with the name of a language's folder, which could not be unpacked beside it"

    private static let strayFault = "hidden and temporary files don't belong into a package"
}
