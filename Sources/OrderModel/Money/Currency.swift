// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The currency codes of ISO 4217 and how many digits each has after the decimal point.
///
/// Apple: WalletOrders, `CurrencyAmount.currency`: an ISO 4217 code of three letters.
public enum Currency {
    /// Digits after the point; nil for unknown and withdrawn codes and for those without minor unit (metals, test codes).
    public static func minorUnits(of code: String) -> Int? {
        guard case .current(let digits) = row(code), digits >= 0 else { return nil }
        return digits
    }

    /// Whether the code is or was one of ISO 4217, byte for byte.
    public static func isKnown(_ code: String) -> Bool { row(code) != nil }

    /// All codes, sorted.
    static var codes: [String] { table.keys.sorted() }

    /// The codes that a document's amounts have, the first few of them.
    static func codes(in document: JSONValue) -> [String] {
        var found: [String] = []
        func visit(_ value: JSONValue) {
            if found.count == 8 { return }
            switch value {
            case .array(let elements): for element in elements { visit(element) }
            case .object(let object):
                for (name, member) in object {
                    if name.isExactly("currency"), let code = member.stringValue {
                        if isKnown(code), !found.contains(code) { found.append(code) }
                    } else {
                        visit(member)
                    }
                }
            default: break
            }
        }
        visit(document)
        return found
    }

    /// The month in which a code was withdrawn, `2023-01`; nil for codes in use and for unknown ones.
    public static func withdrawal(of code: String) -> String? {
        if case .withdrawn(let month) = row(code) { month } else { nil }
    }

    /// The code that another one means: the same letters in capitals, what people write for it, or one letter off.
    ///
    /// With some hundred and fifty codes one letter off means nothing by itself, and whoever copies a wrong suggestion asks
    /// for the wrong money. So only codes in `used` and common ones are looked at, and of two that are as near none is told.
    ///
    /// - Parameters:
    ///   - code: a code that ISO 4217 does not have.
    ///   - used: what else the order is in.
    public static func suggestion(for code: String, besides used: [String] = []) -> String? {
        guard code.utf8.count <= 8 else { return nil }
        let upper = code.uppercased()
        if !upper.isExactly(code), isKnown(upper) { return upper }
        if let meant = customary[upper] { return meant }
        // A further letter makes another thing of it: USDT and USDC are none that banks know.
        guard upper.utf8.count <= 3, !fractions.contains(upper) else { return nil }
        let letters = Array(upper.utf8)
        for codes in [used, common] {
            let near = Set(codes).filter { NearMiss.distance(letters, Array($0.utf8), limit: 1) == 1 }
            if let first = near.first { return near.count == 1 ? first : nil }
        }
        return nil
    }

    /// What people write for a currency. Signs that several have ("$", "kr") are not here.
    private static let customary = [
        "RMB": "CNY", "CNH": "CNY", "YUAN": "CNY", "NTD": "TWD", "NT$": "TWD", "UKP": "GBP", "UKL": "GBP", "STG": "GBP",
        "YEN": "JPY", "EURO": "EUR", "EUROS": "EUR", "€": "EUR", "US$": "USD", "CDN": "CAD", "SFR": "CHF", "NIS": "ILS",
        "TL": "TRY", "YTL": "TRY", "SKR": "SEK", "NKR": "NOK", "DKR": "DKK", "HK$": "HKD", "NZ$": "NZD", "R$": "BRL",
    ]

    /// Pence and cents as markets write them: who takes the pound for them asks for a hundred times as much.
    private static let fractions: Set<String> = ["GBX", "USX", "USC", "EUX"]

    private static let common = [
        "USD", "EUR", "GBP", "JPY", "CAD", "AUD", "CHF", "CNY", "SEK", "NOK", "DKK", "PLN", "CZK",
    ]

    private enum Row {
        case current(digits: Int)
        case withdrawn(month: String)
    }

    private static func row(_ code: String) -> Row? {
        guard let index = index(of: code), case let position = positions[index], position > 0 else { return nil }
        return rows[Int(position) - 1]
    }

    /// The number that three capital letters make; nil for anything else.
    private static func index(of code: String) -> Int? {
        let bytes = code.utf8.span
        guard bytes.count == 3 else { return nil }
        var index = 0
        for position in bytes.indices {
            let letter = bytes[position] &- 0x41
            guard letter < 26 else { return nil }
            index = index * 26 + Int(letter)
        }
        return index
    }

    private static let rows = Array(table.values)

    /// Where each code stands in the rows, from 1; 0 for those that don't. Every amount of every order asks several times,
    /// and a dictionary of texts takes ten times as long.
    private static let positions: [UInt16] = {
        var positions = [UInt16](repeating: 0, count: 26 * 26 * 26)
        for (position, code) in table.keys.enumerated() {
            if let index = index(of: code) { positions[index] = UInt16(position + 1) }
        }
        return positions
    }()

    private static let table: [String: Row] = {
        var table: [String: Row] = [:]
        for (digits, codes) in [
            (2, CurrencyTable.twoDigits), (0, CurrencyTable.noDigits), (3, CurrencyTable.threeDigits),
            (4, CurrencyTable.fourDigits), (-1, CurrencyTable.noMinorUnit),
        ] {
            for code in codes.split(whereSeparator: \.isWhitespace) { table[String(code)] = .current(digits: digits) }
        }
        for entry in CurrencyTable.withdrawn.split(whereSeparator: \.isWhitespace) {
            table[String(entry.prefix(3))] = .withdrawn(month: String(entry.dropFirst(4)))
        }
        return table
    }()
}
