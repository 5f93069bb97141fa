// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension LocaleIdentifier {
    private var parts: [Substring] { text.split(separator: "-") }

    /// The language without script and region.
    public var language: String { parts.first.map(String.init) ?? text }

    /// The identifier as BCP 47 recommends to write it: `zh-Hans-CN`. Folder names tell upper and lower case apart.
    public var canonicalText: String {
        var parts = parts.map { $0.lowercased() }
        for index in parts.indices.dropFirst() {
            parts[index] = parts[index].utf8.count == 4 ? parts[index].capitalizedASCII : parts[index].uppercased()
        }
        return parts.joined(separator: "-")
    }

    /// What there is to say about a localization folder of this name.
    package var findings: [Finding] {
        let canonical = canonicalText
        var findings: [Finding] = []
        let lower = language.lowercased()
        if let present = Language.shortForm(of: lower) ?? Language.successor(of: lower) {
            let asked = Self.parts([present] + canonical.split(separator: "-").dropFirst().map(String.init))
            let reason =
                lower.utf8.count == 2
                ? "\"\(language)\" was withdrawn from ISO 639"
                : "the language has a code of two letters"
            findings.append(
                Finding(
                    severity: .warning,
                    code: "unknown-locale",
                    path: folder,
                    message: "Devices ask for \"\(asked).lproj\": \(reason).",
                    fix: "Rename the folder to \(asked).lproj."
                )
            )
        } else if canonical != text {
            findings.append(
                Finding(
                    severity: .warning,
                    code: "locale-case",
                    path: folder,
                    message: "Wallet looks for \"\(canonical).lproj\"; upper and lower case count.",
                    fix: "Rename the folder to \(canonical).lproj."
                )
            )
        }
        if let unknown = unknownPart {
            findings.append(
                Finding(
                    severity: .warning,
                    code: "unknown-locale",
                    path: folder,
                    message: "\"\(unknown.part)\" is no \(unknown.kind), so no device asks for the folder.",
                    fix: Self.advice(for: text)
                )
            )
        }
        return findings
    }

    /// What to name a folder that is named by no locale that devices ask for.
    package static func advice(for text: String) -> String {
        (suggestion(for: text).map { "Did you mean \($0).lproj? " } ?? "")
            + "Name the folder as in fr.lproj, pt-BR.lproj or zh-Hans.lproj."
    }

    /// The locale that a text most likely means: `zh-CN` for `zh_CN`, `en-GB` for `en-UK`, `he` for `iw`, `ja` for `jp`,
    /// and `de` for Xcode's former `German`. nil where it is one already, or nothing is known that it may mean.
    static func suggestion(for text: String) -> String? {
        // The longest forms are those of POSIX, `zh_Hans_CN.UTF-8`.
        guard text.utf8.count <= 24 else { return nil }
        let bare = text.utf8.prefix { $0 != 0x2E && $0 != 0x40 }.map { $0 == 0x5F ? 0x2D : $0 }
        let plain = String(decoding: bare, as: UTF8.self)
        guard isFormed(plain), let locale = try? LocaleIdentifier(plain) else { return formerNames[text.lowercased()] }
        var parts = locale.canonicalText.split(separator: "-").map(String.init)
        if let first = parts.first {
            parts[0] =
                Language.shortForm(of: first) ?? Language.successor(of: first) ?? Language.meant(by: first) ?? first
        }
        for index in parts.indices.dropFirst() where parts[index].utf8.count == 2 && !Country.isKnown(parts[index]) {
            parts[index] = Country.suggestion(for: parts[index]) ?? parts[index]
        }
        let meant = Self.parts(parts)
        guard !meant.isExactly(text), (try? LocaleIdentifier(meant))?.unknownPart == nil else { return nil }
        return meant
    }

    private static func parts(_ parts: [String]) -> String { parts.joined(separator: "-") }

    /// The folders of the first languages that Xcode knew.
    private static let formerNames = [
        "english": "en", "french": "fr", "german": "de", "italian": "it", "japanese": "ja", "spanish": "es",
        "dutch": "nl",
    ]

    private var unknownPart: (part: String, kind: String)? {
        let parts = canonicalText.split(separator: "-").map(String.init)
        if let language = parts.first, !Language.isKnown(language), Language.shortForm(of: language) == nil,
            Language.successor(of: language) == nil
        {
            return (language, "language code of ISO 639")
        }
        for part in parts.dropFirst() {
            if part.utf8.count == 4, !Language.isScript(part) { return (part, "script code of ISO 15924") }
            if part.utf8.count == 2, !Country.isKnown(part) { return (part, "country code of ISO 3166") }
        }
        return nil
    }
}

extension String {
    fileprivate var capitalizedASCII: String { prefix(1).uppercased() + dropFirst() }
}
