// SPDX-License-Identifier: Apache-2.0

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
        if let short = Language.shortForm(of: language.lowercased()) {
            let asked = ([short] + canonical.split(separator: "-").dropFirst().map(String.init)).joined(separator: "-")
            findings.append(
                Finding(
                    severity: .warning,
                    code: "unknown-locale",
                    path: folder,
                    message: "Devices ask for \"\(asked).lproj\": the language has a code of two letters.",
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
                    fix: "Name the folder as in fr.lproj, pt-BR.lproj or zh-Hans.lproj."
                )
            )
        }
        return findings
    }

    private var unknownPart: (part: String, kind: String)? {
        let parts = canonicalText.split(separator: "-").map(String.init)
        if let language = parts.first, !Language.isKnown(language), Language.shortForm(of: language) == nil {
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
