// SPDX-License-Identifier: Apache-2.0

/// The currency codes of ISO 4217 and how many digits each has after the decimal point.
///
/// Apple: WalletOrders, `CurrencyAmount.currency`: an ISO 4217 code of three letters.
public enum Currency {
    /// Digits after the point; nil for unknown codes and for those without minor unit (metals, test codes).
    public static func minorUnits(of code: String) -> Int? {
        guard let digits = table[code], digits >= 0 else { return nil }
        return digits
    }

    /// Whether the code is one of ISO 4217.
    public static func isKnown(_ code: String) -> Bool { table[code] != nil }

    /// The code that a misspelt one most likely meant: the same letters in capitals, or one letter off, common ones first.
    public static func suggestion(for code: String) -> String? {
        let upper = code.uppercased()
        if upper != code, isKnown(upper) { return upper }
        let letters = Array(upper.utf8)
        guard letters.count <= 8 else { return nil }
        return (common + table.keys.sorted()).first { NearMiss.distance(letters, Array($0.utf8)) == 1 }
    }

    private static let common = [
        "USD", "EUR", "GBP", "JPY", "CAD", "AUD", "CHF", "CNY", "SEK", "NOK", "DKK", "PLN", "CZK",
    ]

    private static let table: [String: Int] = {
        var table: [String: Int] = [:]
        for (digits, codes) in [(2, twoDigits), (0, noDigits), (3, threeDigits), (4, fourDigits), (-1, noMinorUnit)] {
            for code in codes.split(whereSeparator: \.isWhitespace) { table[String(code)] = digits }
        }
        return table
    }()

    private static let noDigits = """
        BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF
        """
    private static let threeDigits = "BHD IQD JOD KWD LYD OMR TND"
    private static let fourDigits = "CLF UYW"
    /// Metals, bond units, the test code and "no currency".
    private static let noMinorUnit = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX"
    private static let twoDigits = """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
        CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
        GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD
        MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR
        PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP
        TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG ZWL
        """
}
