// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The language of a localization folder: `fr`, `zh-Hans`, `pt-BR`, `zh-Hans-CN`.
///
/// Apple: WalletOrders, "Creating the source for an order": a language identifier, optionally a region.
public struct LocaleIdentifier: Hashable, Sendable, CustomStringConvertible, Comparable {
    /// The identifier without `.lproj`.
    public let text: String

    /// Takes a language of two or three letters, then optionally a script of four letters and a region of two letters or
    /// three digits, parted by hyphens.
    ///
    /// - Throws: ``IdentifierError`` with `empty` or `badForm`.
    public init(_ text: String) throws(IdentifierError) {
        let kind = "locale"
        let fix = "Use a language with an optional script and region, such as de, pt-BR or zh-Hans."
        if text.isEmpty { throw IdentifierError(.empty, kind, "The locale is empty", fix: fix) }
        guard Self.isFormed(text) else {
            let shown = DocumentWalk.shown(text)
            throw IdentifierError(
                .badForm,
                kind,
                "\"\(shown)\" is not of the form language[-Script][-REGION]",
                fix: (Self.suggestion(for: text).map { "Did you mean \"\($0)\"? " } ?? "") + fix
            )
        }
        self.text = text
    }

    /// Whether a text has the form of a locale.
    static func isFormed(_ text: String) -> Bool {
        let parts = text.parts(by: "-")
        func letters(_ part: Substring, _ count: ClosedRange<Int>) -> Bool {
            count.contains(part.utf8.count)
                && part.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
        }
        func digits(_ part: Substring) -> Bool {
            part.utf8.count == 3 && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        var rest = parts[...]
        guard let language = rest.popFirst(), letters(language, 2...3) else { return false }
        if let script = rest.first, letters(script, 4...4) { rest = rest.dropFirst() }
        if let region = rest.first, letters(region, 2...2) || digits(region) { rest = rest.dropFirst() }
        return rest.isEmpty
    }

    /// The folder's name inside the package.
    public var folder: String { text + ".lproj" }

    /// Byte order.
    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    /// The locale.
    public var description: String { text }
}
