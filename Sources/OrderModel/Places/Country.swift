// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The two-letter country codes of ISO 3166-1, and XK, which everybody uses for Kosovo.
///
/// Apple: WalletOrders, `Address.countryCode`: an ISO 3166 code of two letters.
public enum Country {
    /// Whether the code is assigned, byte for byte. Codes are in capitals.
    public static func isKnown(_ code: String) -> Bool { code.utf8.count == 2 && codes.contains(code) }

    /// The year in which a code was withdrawn (ISO 3166-3), `2010`; nil for codes in use and for unknown ones.
    public static func withdrawal(of code: String) -> String? {
        code.utf8.count == 2 ? withdrawn[code] : nil
    }

    /// The code that another one means: the same letters in capitals, or what people write for it.
    public static func suggestion(for code: String) -> String? {
        // The longest is KOSOVO.
        guard code.utf8.count <= 6 else { return nil }
        let upper = code.uppercased()
        if let meant = customary[upper] { return meant }
        return !upper.isExactly(code) && isKnown(upper) ? upper : nil
    }

    /// Codes that ISO 3166 reserves, or that people take for one.
    private static let customary = ["UK": "GB", "EL": "GR", "ENG": "GB", "SCO": "GB", "USA": "US", "KOSOVO": "XK"]

    private static let codes: Set<String> = Set(
        CountryTable.current.split(whereSeparator: \.isWhitespace).map(String.init) + ["XK"]
    )

    private static let withdrawn: [String: String] = Dictionary(
        uniqueKeysWithValues: CountryTable.withdrawn.split(whereSeparator: \.isWhitespace)
            .map { (String($0.prefix(2)), String($0.dropFirst(3))) }
    )
}
