// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// An exact decimal number, for sums of money and quantities. Never a binary fraction: 0.1 + 0.2 is 0.3 here.
public struct DecimalAmount: Sendable, Hashable, Comparable {
    /// The digits as a whole number, without trailing zeros after the point.
    let coefficient: Int128
    /// How many of the digits stand after the point.
    let scale: Int

    /// Zero.
    public static let zero = DecimalAmount(coefficient: 0, scale: 0)

    /// The longest amount that is read, in characters.
    public static let maximumLength = 32

    private init(coefficient: Int128, scale: Int) {
        var coefficient = coefficient
        var scale = scale
        while scale > 0, coefficient % 10 == 0 {
            coefficient /= 10
            scale -= 1
        }
        self.coefficient = coefficient
        self.scale = scale
    }

    /// Reads `-?digits[.digits]`: a point as separator, no grouping, no plus sign, no exponent, at most
    /// ``maximumLength`` characters. nil for anything else.
    public init?(_ text: String) {
        let bytes = text.utf8.span
        guard bytes.count <= Self.maximumLength else { return nil }
        var coefficient: Int128 = 0
        var scale = 0
        var digits = 0
        var afterPoint = false
        var negative = false
        for index in bytes.indices {
            switch bytes[index] {
            case 0x30...0x39:
                coefficient = coefficient * 10 + Int128(bytes[index] - 0x30)
                digits += 1
                if afterPoint { scale += 1 }
            case 0x2D where index == 0: negative = true
            case 0x2E where !afterPoint && digits > 0: afterPoint = true
            default: return nil
            }
        }
        guard digits > 0, !afterPoint || scale > 0 else { return nil }
        self.init(coefficient: negative ? -coefficient : coefficient, scale: scale)
    }

    /// Reads an amount as documents hold it: a decimal text, or a JSON number in any spelling that comes to
    /// ``maximumLength`` characters or fewer without an exponent.
    public init?(_ value: JSONValue) {
        switch value {
        case .string(let text): self.init(text)
        case .number(let number):
            guard let text = number.plainText(maximumLength: Self.maximumLength) else { return nil }
            self.init(text)
        default: return nil
        }
    }

    /// What an amount most likely meant that was written for people: `1.299,00 €`, `$5`, `12,50`. nil when it could mean two
    /// amounts, or none that people write.
    static func suggestion(for text: String) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        guard let start = text.firstIndex(where: \.isNumber), let stop = text.lastIndex(where: \.isNumber) else {
            return nil
        }
        // Between the digits there is nothing but what parts them.
        var groups = [""]
        var separators: [Character] = []
        for character in text[start...stop] {
            if ("0"..."9").contains(character) {
                groups[groups.count - 1].append(character)
            } else if ",. '’\u{A0}\u{202F}".contains(character) {
                separators.append(character)
                groups.append("")
            } else {
                return nil
            }
        }
        let front = text[..<start]
        let signs = front.indices.filter { "-−–".contains(front[$0]) }
        // In `US-$ 5` it belongs to the currency.
        let isJoint = signs.contains { sign in
            sign > front.startIndex && front[front.index(before: sign)].isLetter
                && text[text.index(after: sign)...].first { $0 != " " }?.isNumber != true
        }
        guard signs.count <= 1, !isJoint, !text[stop...].contains("-"),
            let plain = plainText(groups, separators, hasPointInFront: endsInPoint(front))
        else { return nil }
        let amount = (signs.isEmpty ? "" : "-") + plain
        return DecimalAmount(amount) == nil ? nil : amount
    }

    /// `.5` is 0.5, but the point of `Rs.500` belongs to the currency.
    private static func endsInPoint(_ text: Substring) -> Bool {
        guard let point = text.last, point == "." || point == "," else { return false }
        return text.dropLast().last?.isLetter != true
    }

    /// Digits as programs write them; nil where their groups are none that people make, who part thousands.
    private static func plainText(_ groups: [String], _ separators: [Character], hasPointInFront: Bool) -> String? {
        guard let last = separators.last else { return (hasPointInFront ? "0." : "") + groups[0] }
        if hasPointInFront { return nil }
        let isPoint = (last == "." || last == ",") && !separators.dropLast().contains(last)
        // 1,299 is a thousand to some and one and a bit to others.
        if isPoint, separators.count == 1, groups[1].utf8.count == 3 { return nil }
        let whole = isPoint ? groups.dropLast() : groups[...]
        let parting = isPoint ? separators.dropLast() : separators[...]
        guard parting.allSatisfy({ $0 == parting.first }), whole.dropFirst().allSatisfy({ $0.utf8.count == 3 }),
            parting.isEmpty || (1...3).contains(groups[0].utf8.count)
        else { return nil }
        return whole.joined() + (isPoint ? "." + groups[groups.count - 1] : "")
    }

    /// Digits after the point, without trailing zeros.
    public var fractionDigits: Int { scale }

    /// Whether it is less than zero.
    public var isNegative: Bool { coefficient < 0 }

    /// The same amount below zero, or above. At most 38 digits are kept, so the smallest `Int128` can't come.
    var negated: DecimalAmount { DecimalAmount(coefficient: 0 &- coefficient, scale: scale) }

    /// The sum, or nil when it has more digits than are kept.
    public func adding(_ other: DecimalAmount) -> DecimalAmount? {
        guard let (left, right, scale) = Self.aligned(self, other) else { return nil }
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : DecimalAmount(coefficient: sum, scale: scale)
    }

    /// So many units of the given digit after the point: 3 cents are `DecimalAmount(unit: 2, count: 3)`.
    init(unit digits: Int, count: Int) {
        self.init(coefficient: Int128(count), scale: digits)
    }

    /// Whether it differs from another amount by no more than `slack`.
    func isWithin(_ slack: DecimalAmount, of other: DecimalAmount) -> Bool {
        if self == other { return true }
        let (smaller, larger) = self < other ? (self, other) : (other, self)
        return smaller.adding(slack).map { $0 >= larger } ?? false
    }

    /// The product, or nil when it has more digits than are kept.
    public func multiplied(by other: DecimalAmount) -> DecimalAmount? {
        let (product, overflow) = coefficient.multipliedReportingOverflow(by: other.coefficient)
        // Powers of ten are only kept up to the 38th.
        return overflow || scale + other.scale > 38
            ? nil : DecimalAmount(coefficient: product, scale: scale + other.scale)
    }

    /// Smaller before larger.
    public static func < (left: DecimalAmount, right: DecimalAmount) -> Bool {
        guard let (left, right, _) = aligned(left, right) else {
            // Too far apart to be aligned: the one with more digits before the point decides.
            return left.coefficient / power(left.scale) < right.coefficient / power(right.scale)
        }
        return left < right
    }

    private static func aligned(_ left: Self, _ right: Self) -> (Int128, Int128, Int)? {
        let scale = max(left.scale, right.scale)
        let (first, overflow) = left.coefficient.multipliedReportingOverflow(by: power(scale - left.scale))
        let (second, overflow2) = right.coefficient.multipliedReportingOverflow(by: power(scale - right.scale))
        return overflow || overflow2 ? nil : (first, second, scale)
    }

    private static func power(_ exponent: Int) -> Int128 {
        (0..<min(exponent, 38)).reduce(1) { value, _ in value * 10 }
    }
}

extension DecimalAmount: CustomStringConvertible {
    /// Plain decimal text with `.` as separator.
    public var description: String {
        var digits = String(coefficient.magnitude)
        if scale > 0 {
            if digits.utf8.count <= scale {
                digits = String(repeating: "0", count: scale - digits.utf8.count + 1) + digits
            }
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -scale))
        }
        return coefficient < 0 ? "-" + digits : digits
    }
}
