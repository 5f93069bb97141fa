// SPDX-License-Identifier: Apache-2.0

package import Cryptography
import OrderModel

/// One file of an order's package, pinned by content.
package struct OrderPart: Sendable, Hashable {
    /// Who put the file there.
    package enum Origin: String, Sendable, Hashable {
        /// Sent for this order.
        case order
        /// A file of the type, pinned when the revision was made.
        case type
        /// A strings table, made from the type's and the order's own.
        case strings
    }

    /// Path inside the package.
    package let name: String
    /// SHA-256 of the contents, which ``OrderStore/asset(_:_:)`` reads.
    package let digest: SHA256Digest
    /// Who put it there.
    package let origin: Origin

    /// Names a pinned file.
    package init(name: String, digest: SHA256Digest, origin: Origin) {
        self.name = name
        self.digest = digest
        self.origin = origin
    }

    /// One digest over a set of files, whatever order they come in.
    static func digest(of parts: [OrderPart]) -> SHA256Digest {
        var hasher = SHA256Hasher()
        for part in parts.sorted(by: { $0.name.precedesInBytes($1.name) }) {
            hasher.update(Array(part.name.utf8) + [0])
            hasher.update(part.digest.bytes)
        }
        return hasher.finish()
    }
}

/// A file that comes in: its path, its contents and their digest.
package struct OrderFile: Sendable {
    /// Path inside the package, such as `logo.png` or `en.lproj/logo.png`.
    package let name: String
    /// The bytes as sent.
    package let contents: [UInt8]
    /// SHA-256 of the bytes.
    package let digest: SHA256Digest

    /// A file whose digest is computed here.
    package init(name: String, contents: [UInt8]) {
        self.init(name: name, contents: contents, digest: SHA256.hash(contents))
    }

    /// A file whose digest is known already.
    package init(name: String, contents: [UInt8], digest: SHA256Digest) {
        self.name = name
        self.contents = contents
        self.digest = digest
    }
}

extension OrderFile {
    /// A path that has no place in a package must not come near one; the doors check before, this is the last line.
    ///
    /// - Throws: ``StoreError`` with `invalidDocument` and a finding about the file.
    static func check(path: String) throws(StoreError) {
        do {
            _ = try PackagePath(path)
        } catch {
            throw StoreError(
                .invalidDocument,
                "A file has a path that can't be in a package.",
                findings: [
                    Finding(severity: .error, code: "bad-path", path: path, message: error.message, fix: error.fix)
                ]
            )
        }
    }

    /// The same for the locale of a strings table.
    ///
    /// - Throws: ``StoreError`` with `invalidDocument`.
    static func check(locale: String) throws(StoreError) { try check(path: locale + ".lproj/order.strings") }
}
