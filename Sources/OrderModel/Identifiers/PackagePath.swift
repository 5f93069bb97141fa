// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Where a service keeps a file of an order package: a plain name, or a name inside one `<locale>.lproj` folder.
///
/// It stands in URLs of the merchant API, so it takes fewer names than a package: see ``FileName``.
///
/// Apple: WalletOrders, "Creating the source for an order" (localization folders).
public struct PackagePath: Hashable, Sendable, CustomStringConvertible, Comparable {
    /// The whole path, such as `logo.png` or `fr.lproj/logo.png`.
    public let text: String
    /// The language folder's locale, when the file lies in one.
    public let locale: LocaleIdentifier?
    /// The file's name without its folder.
    public let name: String

    /// Takes `[A-Za-z0-9._@-]{1,100}`, optionally under `<locale>.lproj/`; no name begins with a dot or
    /// ends in `.lproj`.
    ///
    /// - Throws: ``IdentifierError`` with `empty`, `tooLong`, `badCharacter` or `badForm`.
    public init(_ text: String) throws(IdentifierError) {
        let kind = "file path"
        let fix = "Use a name of letters, digits, '.', '_', '@', '-', or <locale>.lproj/ and such a name."
        // Counted first: a megabyte of slashes would make as many parts.
        let slashes = text.utf8.count { $0 == 0x2F }
        let parts = slashes <= 1 ? text.parts(by: "/") : []
        guard let last = parts.last else {
            throw IdentifierError(.badForm, kind, "The file path has more than one folder", fix: fix)
        }
        try IdentifierRules.checkLength(String(last), kind: kind, 1...100)
        for byte in last.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2E, 0x5F, 0x40, 0x2D: continue
            default:
                throw IdentifierError(
                    .badCharacter,
                    kind,
                    "The file name holds a character that is not allowed",
                    fix: fix
                )
            }
        }
        if last.utf8.first == 0x2E {
            throw IdentifierError(.badForm, kind, "The file name begins with a dot", fix: fix)
        }
        if Self.namesFolder(text) {
            throw IdentifierError(.badForm, kind, "The file name ends in .lproj, as a language's folder does", fix: fix)
        }
        if parts.count == 2 {
            guard parts[0].endsExactly(with: ".lproj") else {
                throw IdentifierError(.badForm, kind, "The folder is no <locale>.lproj folder", fix: fix)
            }
            self.locale = try LocaleIdentifier(String(Substring(parts[0].utf8.dropLast(6))))
        } else {
            self.locale = nil
        }
        self.text = text
        self.name = String(last)
    }

    /// Whether a path ends like a language's folder: where a file has that name, the folder can't be unpacked. In whatever
    /// case, since on a Mac's disk that is one name.
    package static func namesFolder(_ path: String) -> Bool { Substring(path.utf8.suffix(6)).isCaseless(".lproj") }

    /// Byte order, as manifests are sorted.
    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    /// The path.
    public var description: String { text }
}
