// SPDX-License-Identifier: Apache-2.0

/// A set of Unicode scalars, as a regular expression's character class names it.
///
/// Code points are held as ranges. General categories and a few binary properties are asked of the standard library
/// for a character outside ASCII only; ASCII is answered from two words of bits.
struct ScalarSet: Sendable {
    /// A property of the standard library that is no general category.
    enum Property: String, Sendable, CaseIterable {
        case alphabetic = "Alphabetic"
        case uppercase = "Uppercase"
        case lowercase = "Lowercase"
        case whiteSpace = "White_Space"
        case emoji = "Emoji"
        case identifierStart = "ID_Start"
        case identifierContinue = "ID_Continue"

        func holds(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .alphabetic: scalar.properties.isAlphabetic
            case .uppercase: scalar.properties.isUppercase
            case .lowercase: scalar.properties.isLowercase
            case .whiteSpace: scalar.properties.isWhitespace
            case .emoji: scalar.properties.isEmoji
            case .identifierStart: scalar.properties.isIDStart
            case .identifierContinue: scalar.properties.isIDContinue
            }
        }
    }

    /// A part of the union that is not spelled out in ranges.
    private indirect enum Part: Sendable {
        case categories(UInt32)
        case property(Property)
        case inverted(ScalarSet)
    }

    private var ranges: [ClosedRange<UInt32>] = []
    private var parts: [Part] = []
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The empty set.
    init() {}

    init(_ scalar: Unicode.Scalar) { self.init(scalar.value...scalar.value) }

    init(_ range: ClosedRange<UInt32>) {
        ranges = [range]
        if range.lowerBound < 128 {
            for value in range.lowerBound...min(range.upperBound, 127) { setASCII(value) }
        }
    }

    private init(_ part: Part) {
        parts = [part]
        for value in 0..<128 as Range<UInt32> where holds(part, value) { setASCII(value) }
    }

    static let digits = ScalarSet(0x30...0x39)
    static let lineBreaks = union([ScalarSet("\n"), ScalarSet("\r"), ScalarSet(0x2028...0x2029)])
    static let wordCharacters = union([digits, ScalarSet(0x41...0x5A), ScalarSet("_"), ScalarSet(0x61...0x7A)])
    /// ECMA-262 WhiteSpace and LineTerminator.
    static let whiteSpace = union([
        ScalarSet(0x09...0x0D), ScalarSet(" "), ScalarSet("\u{A0}"), ScalarSet("\u{1680}"),
        ScalarSet(0x2000...0x200A), ScalarSet(0x2028...0x2029), ScalarSet("\u{202F}"), ScalarSet("\u{205F}"),
        ScalarSet("\u{3000}"), ScalarSet("\u{FEFF}"),
    ])

    private static func union(_ sets: [ScalarSet]) -> ScalarSet {
        var result = ScalarSet()
        for set in sets { result.formUnion(set) }
        return result
    }

    /// Everything that is not in the set.
    var inverted: ScalarSet {
        guard parts.isEmpty else { return ScalarSet(Part.inverted(self)) }
        var result = ScalarSet()
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { result.ranges.append(next...(range.lowerBound - 1)) }
            next = max(next, range.upperBound + 1)
        }
        if next <= 0x10FFFF { result.ranges.append(next...0x10FFFF) }
        result.low = ~low
        result.high = ~high
        return result
    }

    mutating func formUnion(_ other: ScalarSet) {
        ranges.append(contentsOf: other.ranges)
        parts.append(contentsOf: other.parts)
        low |= other.low
        high |= other.high
    }

    /// The one code point of the set, if it was made from one.
    var only: UInt32? {
        guard parts.isEmpty, ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }

    func contains(_ value: UInt32) -> Bool {
        if value < 64 { return low >> UInt64(value) & 1 == 1 }
        if value < 128 { return high >> UInt64(value - 64) & 1 == 1 }
        for range in ranges where range.contains(value) { return true }
        for part in parts where holds(part, value) { return true }
        return false
    }

    private mutating func setASCII(_ value: UInt32) {
        if value < 64 { low |= 1 << UInt64(value) } else { high |= 1 << UInt64(value - 64) }
    }

    private func holds(_ part: Part, _ value: UInt32) -> Bool {
        switch part {
        case .inverted(let set):
            return !set.contains(value)
        case .categories(let mask):
            guard let scalar = Unicode.Scalar(value) else { return false }
            return mask & Self.bit(scalar.properties.generalCategory) != 0
        case .property(let property):
            guard let scalar = Unicode.Scalar(value) else { return false }
            return property.holds(scalar)
        }
    }

    /// A set from a property's name as ECMA-262 spells it; nil when not known.
    init?(property name: String) {
        if let property = Property(rawValue: name) {
            self.init(Part.property(property))
        } else if name == "Any" {
            self.init(0...0x10FFFF)
        } else if name == "ASCII" {
            self.init(0...0x7F)
        } else if let mask = Self.categories(name) {
            self.init(Part.categories(mask))
        } else {
            return nil
        }
    }

    /// The general categories that a name or its alias stands for (Unicode PropertyValueAliases, gc).
    private static func categories(_ name: String) -> UInt32? {
        func bits(_ categories: Unicode.GeneralCategory...) -> UInt32 { categories.reduce(0) { $0 | bit($1) } }
        switch name {
        case "Lu", "Uppercase_Letter": return bits(.uppercaseLetter)
        case "Ll", "Lowercase_Letter": return bits(.lowercaseLetter)
        case "Lt", "Titlecase_Letter": return bits(.titlecaseLetter)
        case "LC", "Cased_Letter": return bits(.uppercaseLetter, .lowercaseLetter, .titlecaseLetter)
        case "Lm", "Modifier_Letter": return bits(.modifierLetter)
        case "Lo", "Other_Letter": return bits(.otherLetter)
        case "L", "Letter":
            return bits(.uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter)
        case "Mn", "Nonspacing_Mark": return bits(.nonspacingMark)
        case "Mc", "Spacing_Mark": return bits(.spacingMark)
        case "Me", "Enclosing_Mark": return bits(.enclosingMark)
        case "M", "Mark", "Combining_Mark": return bits(.nonspacingMark, .spacingMark, .enclosingMark)
        case "Nd", "Decimal_Number", "digit": return bits(.decimalNumber)
        case "Nl", "Letter_Number": return bits(.letterNumber)
        case "No", "Other_Number": return bits(.otherNumber)
        case "N", "Number": return bits(.decimalNumber, .letterNumber, .otherNumber)
        case "Pc", "Connector_Punctuation": return bits(.connectorPunctuation)
        case "Pd", "Dash_Punctuation": return bits(.dashPunctuation)
        case "Ps", "Open_Punctuation": return bits(.openPunctuation)
        case "Pe", "Close_Punctuation": return bits(.closePunctuation)
        case "Pi", "Initial_Punctuation": return bits(.initialPunctuation)
        case "Pf", "Final_Punctuation": return bits(.finalPunctuation)
        case "Po", "Other_Punctuation": return bits(.otherPunctuation)
        case "P", "Punctuation", "punct":
            return bits(
                .connectorPunctuation,
                .dashPunctuation,
                .openPunctuation,
                .closePunctuation,
                .initialPunctuation,
                .finalPunctuation,
                .otherPunctuation
            )
        case "Sm", "Math_Symbol": return bits(.mathSymbol)
        case "Sc", "Currency_Symbol": return bits(.currencySymbol)
        case "Sk", "Modifier_Symbol": return bits(.modifierSymbol)
        case "So", "Other_Symbol": return bits(.otherSymbol)
        case "S", "Symbol": return bits(.mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol)
        case "Zs", "Space_Separator": return bits(.spaceSeparator)
        case "Zl", "Line_Separator": return bits(.lineSeparator)
        case "Zp", "Paragraph_Separator": return bits(.paragraphSeparator)
        case "Z", "Separator": return bits(.spaceSeparator, .lineSeparator, .paragraphSeparator)
        case "Cc", "Control", "cntrl": return bits(.control)
        case "Cf", "Format": return bits(.format)
        case "Co", "Private_Use": return bits(.privateUse)
        case "Cn", "Unassigned": return bits(.unassigned)
        case "C", "Other": return bits(.control, .format, .surrogate, .privateUse, .unassigned)
        default: return nil
        }
    }

    private static func bit(_ category: Unicode.GeneralCategory) -> UInt32 {
        let position: UInt32 =
            switch category {
            case .uppercaseLetter: 0
            case .lowercaseLetter: 1
            case .titlecaseLetter: 2
            case .modifierLetter: 3
            case .otherLetter: 4
            case .nonspacingMark: 5
            case .spacingMark: 6
            case .enclosingMark: 7
            case .decimalNumber: 8
            case .letterNumber: 9
            case .otherNumber: 10
            case .connectorPunctuation: 11
            case .dashPunctuation: 12
            case .openPunctuation: 13
            case .closePunctuation: 14
            case .initialPunctuation: 15
            case .finalPunctuation: 16
            case .otherPunctuation: 17
            case .mathSymbol: 18
            case .currencySymbol: 19
            case .modifierSymbol: 20
            case .otherSymbol: 21
            case .spaceSeparator: 22
            case .lineSeparator: 23
            case .paragraphSeparator: 24
            case .control: 25
            case .format: 26
            case .surrogate: 27
            case .privateUse: 28
            case .unassigned: 29
            @unknown default: 30
            }
        return 1 << position
    }
}
