// SPDX-License-Identifier: Apache-2.0

/// The languages and scripts that name localization folders.
///
/// Apple: WalletOrders, "Creating the source for an order": a language identifier, optionally a region.
public enum Language {
    /// Whether it is a language of ISO 639, in its code of two letters, or of three when it has no other.
    public static func isKnown(_ code: String) -> Bool { code.utf8.count <= 3 && codes.contains(code) }

    /// The code of two letters by which devices ask for a language of which this is the code of three: `de` for `deu` and for
    /// `ger`; nil for other codes.
    static func shortForm(of code: String) -> String? { code.utf8.count == 3 ? shortForms[code] : nil }

    /// The present code of a language whose code was withdrawn from ISO 639: `he` for `iw`; nil for other codes.
    static func successor(of code: String) -> String? { code.utf8.count == 2 ? successors[code] : nil }

    /// The language of a country whose code people take for it, where no language has that code: `ja` for `jp`.
    static func meant(by country: String) -> String? { country.utf8.count == 2 ? countries[country] : nil }

    private static let successors = ["iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"]

    private static let countries = [
        "jp": "ja", "cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "ua": "uk", "vn": "vi", "us": "en", "at": "de",
    ]

    /// Whether it is a script of ISO 15924, written like `Hans`.
    public static func isScript(_ code: String) -> Bool { code.utf8.count == 4 && scripts.contains(code) }

    private static let codes: Set<String> = Set(
        (LanguageTable.twoLetters + " " + LanguageTable.threeLetters).split(whereSeparator: \.isWhitespace)
            .map(String.init)
    )

    private static let shortForms: [String: String] = Dictionary(
        LanguageTable.longForms.split(whereSeparator: \.isWhitespace)
            .map { (String($0.prefix(3)), String($0.suffix(2))) },
        uniquingKeysWith: { first, _ in first }
    )

    private static let scripts: Set<String> = Set(
        LanguageTable.scripts.split(whereSeparator: \.isWhitespace).map(String.init)
    )
}
