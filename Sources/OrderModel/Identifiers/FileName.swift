// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The name that an order gives a file of its package: an image, a receipt or a label.
///
/// Apple: WalletOrders, "Creating the source for an order": any name. So it is what an archive can hold safely, with
/// blanks, accents and folders. A service that stores the files itself takes fewer names: see ``PackagePath``.
public struct FileName: ByteExactIdentifier, CustomStringConvertible {
    /// The name, such as `Logo 2.png`, or a path from the package's top level.
    public let text: String

    /// The longest name, in bytes of UTF-8: what common file systems take.
    static let byteLimit = 255

    /// Takes a relative path of 1 to 255 bytes without empty parts, `.`, `..`, backslashes, control characters and drive
    /// letters: with these a package leaves its folder, or is unpacked differently from one system to the next.
    ///
    /// - Throws: ``IdentifierError`` with `empty`, `tooLong`, `badCharacter` or `badForm`.
    public init(_ text: String) throws(IdentifierError) {
        let kind = "file name"
        // Far beyond any name, nothing else is looked at.
        if text.isEmpty || text.utf8.count > 4 * Self.byteLimit {
            try IdentifierRules.checkLength(text, kind: kind, 1...Self.byteLimit)
        }
        for scalar in text.unicodeScalars where scalar == "\\" || IdentifierRules.isControl(scalar) {
            throw IdentifierError(
                .badCharacter,
                kind,
                scalar == "\\"
                    ? "The file name has a backslash, which some systems take for a path separator"
                    : "The file name has a control character",
                fix: "Write the name of a file in the package, like logo.png; folders end with a slash."
            )
        }
        if let colon = text.utf8.firstIndex(of: 0x3A), text.utf8[colon...].starts(with: "://".utf8) {
            throw IdentifierError(
                .badForm,
                kind,
                "The file name is a URL, but Wallet loads no file from the web",
                fix: "Put the file into the package, and name it like logo.png."
            )
        }
        let bytes = text.utf8.span
        // Of the part between two slashes: how long it is so far, and how many dots it has.
        var length = 0
        var dots = 0
        for index in 0...bytes.count {
            if index < bytes.count, bytes[index] != 0x2F {
                length += 1
                if bytes[index] == 0x2E { dots += 1 }
                continue
            }
            if length <= 2, dots == length {
                throw IdentifierError(
                    .badForm,
                    kind,
                    length == 0
                        ? "The file name begins or ends with a slash, or has two of them in a row"
                        : "The file name has a part that is \"\(length == 1 ? "." : "..")\"",
                    fix: "Write the path from the package's top level, like logo.png."
                )
            }
            length = 0
            dots = 0
        }
        if text.utf8.dropFirst().first == 0x3A {
            throw IdentifierError(
                .badForm,
                kind,
                "The file name begins with a drive letter",
                fix: "Write the path from the package's top level, like logo.png."
            )
        }
        // Last: what is only too long in bytes is well-formed.
        try IdentifierRules.checkLength(text, kind: kind, 1...Self.byteLimit)
        self.text = text
    }

    /// The name.
    public var description: String { text }

    /// The names that a package gives its own files.
    package static let reserved = ["order.json", "manifest.json", "signature"]

    /// The package's own file that a name means, in whatever case: on a Mac's disk one would take the other's place.
    static func ownFile(_ text: String) -> String? { reserved.first { text.isCaseless($0) } }

    /// Whether it is the file itself, written as a URL (RFC 2397).
    static func isDataURL(_ text: String) -> Bool { text.beginsCaseless(with: "data:") && text.utf8.contains(0x2C) }

    /// Whether a part of the path begins with a dot.
    private static func hidesPart(_ text: String) -> Bool {
        var isFirst = true
        for byte in text.utf8 {
            if isFirst, byte == 0x2E { return true }
            isFirst = byte == 0x2F
        }
        return false
    }

    /// What about a name is so unusual that it may not work everywhere, in words; nil when nothing is.
    static func oddity(_ text: String) -> (message: String, fix: String)? {
        if hidesPart(text) {
            return (
                "\"\(DocumentWalk.shown(text))\" is hidden by its dot, and many tools leave hidden files out",
                "Give the file a name that begins with a letter or a digit."
            )
        }
        if text.utf8.contains(where: { $0 > 0x7E }) {
            return (
                "\"\(DocumentWalk.shown(text))\" has characters beyond ASCII, which not every system writes in the same"
                    + " bytes; Apple's pages don't say how Wallet compares them",
                "Use letters from A to Z, digits, '.', '_' and '-'."
            )
        }
        return nil
    }
}
