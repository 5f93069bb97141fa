// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
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
        // An image is no editor's leftover, whatever its name ends in.
        if StrayFile.isHidden(path) { throw OrderPackageError(.badPath, path: path, Self.strayFault) }
        try self.init(path: path, contents: asset.contents, digestText: asset.digestText, crc32: asset.crc32)
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
        guard !Self.reserved.contains(path) else {
            throw OrderPackageError(.badPath, path: path, "the package writes this file itself")
        }
        if let own = ReservedName.resembled(by: path) {
            throw OrderPackageError(.badPath, path: path, "the name differs from \(own) in upper and lower case only")
        }
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

    private static let strayFault = "hidden and temporary files don't belong into a package"
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

    /// Whether a path, or a folder in it, is hidden.
    static func isHidden(_ path: String) -> Bool { path.split(separator: "/").contains { $0.hasPrefix(".") } }

    /// The paths that an order names all the same, as it names them or localized, as they are or in another resolution: they
    /// are files like any other. `.DS_Store` never is: devices don't unpack it.
    static func named(by order: JSONValue, among paths: some Sequence<String>) -> Set<String> {
        let strays = paths.filter(matches)
        guard !strays.isEmpty else { return [] }
        let names = Set(FileReference.all(in: order).map(\.name))
        return Set(
            strays.filter { path in
                let parts = path.split(separator: "/")
                guard let name = parts.last, name != ".DS_Store" else { return false }
                var places = [path]
                if parts.count > 1, parts[0].hasSuffix(".lproj"), !matches(String(parts[0])) {
                    places.append(parts.dropFirst().joined(separator: "/"))
                }
                return places.contains { place in
                    let plain = place.replacing("@2x.", with: ".").replacing("@3x.", with: ".")
                    return names.contains(place) || names.contains(plain)
                }
            }
        )
    }

    private static let names: Set<String> = ["__MACOSX", "Thumbs.db", "desktop.ini"]
    private static let endings = [".swp", ".swo", ".bak", ".tmp", "~"]
}
