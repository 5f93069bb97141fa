// SPDX-License-Identifier: Apache-2.0

/// The value of a number in one form only: sign, digits without zeros at either end, and a power of ten.
///
/// `1.10`, `11e-1` and `0.110e1` are all `+ [1,1] × 10⁻¹`. Zero has no digits, no sign and exponent 0. The
/// exponent is never spelled out into digits.
struct DecimalForm: Hashable, Sendable {
    var isNegative = false
    /// The digits as values 0...9, most significant first.
    var digits: [UInt8] = []
    var exponent = 0

    /// Reads a number whose text is known to be well formed.
    init(_ number: JSONNumber) {
        let bytes = number.text.utf8.span
        var index = 0
        if bytes[0] == UInt8(ascii: "-") {
            isNegative = true
            index = 1
        }
        digits.reserveCapacity(bytes.count)
        var afterPoint = false
        scan: while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "."):
                afterPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponent += Self.exponent(bytes, from: index + 1)
                break scan
            default:
                if afterPoint { exponent -= 1 }
                // Zeros before the first other digit carry no value.
                if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte - UInt8(ascii: "0")) }
            }
            index += 1
        }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty {
            isNegative = false
            exponent = 0
        }
    }

    private static func exponent(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var value = 0
        var negative = false
        for index in start..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "-"): negative = true
            case UInt8(ascii: "+"): break
            default: value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
            }
        }
        return negative ? -value : value
    }

    /// Exact comparison: sign, then magnitude, then digits.
    static func < (left: DecimalForm, right: DecimalForm) -> Bool {
        if left.sign != right.sign { return left.sign < right.sign }
        return left.isNegative ? right.isCloserToZero(than: left) : left.isCloserToZero(than: right)
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    private func isCloserToZero(than other: DecimalForm) -> Bool {
        let magnitude = digits.count + exponent
        let otherMagnitude = other.digits.count + other.exponent
        if magnitude != otherMagnitude { return magnitude < otherMagnitude }
        return digits.lexicographicallyPrecedes(other.digits)
    }

    /// Whether the value is a whole multiple of the divisor.
    func isMultiple(of divisor: DecimalForm) -> Bool {
        guard !digits.isEmpty else { return true }
        guard !divisor.digits.isEmpty else { return false }
        // With m × 10^a and n × 10^b the question is whether n divides m × 10^(a - b). When a < b, n × 10^(b - a)
        // would have to divide m, which ends in no zero.
        let shift = exponent - divisor.exponent
        guard shift >= 0 else { return false }
        // Powers of ten supply only twos and fives, and n has fewer than 4 of either a digit: further zeros change
        // nothing.
        let zeros = min(shift, 4 * divisor.digits.count)
        return Self.remainderIsZero(digits, zeros: zeros, divisor: divisor.digits)
    }

    /// Long division of digits followed by zeros, keeping only the remainder.
    private static func remainderIsZero(_ digits: [UInt8], zeros: Int, divisor: [UInt8]) -> Bool {
        if divisor.count <= 18 {
            let divisor = divisor.reduce(0 as UInt64) { $0 * 10 + UInt64($1) }
            var remainder: UInt64 = 0
            for digit in digits { remainder = (remainder * 10 + UInt64(digit)) % divisor }
            for _ in 0..<zeros { remainder = remainder * 10 % divisor }
            return remainder == 0
        }
        let divisor = Limbs(divisor)
        var remainder = Limbs([])
        for position in 0..<(digits.count + zeros) {
            remainder.appendDigit(position < digits.count ? digits[position] : 0)
            while !(remainder < divisor) { remainder.subtract(divisor) }
        }
        return remainder.isZero
    }

    /// The value without an exponent; nil when longer than wanted.
    func plainText(maximumLength: Int) -> String? {
        guard !digits.isEmpty else { return "0" }
        let point = digits.count + exponent
        let length: Int
        if exponent >= 0 {
            length = point
        } else if point > 0 {
            length = digits.count + 1
        } else {
            length = digits.count + 2 - point
        }
        guard length + (isNegative ? 1 : 0) <= maximumLength else { return nil }
        var text = isNegative ? "-" : ""
        if point <= 0 { text += "0." + String(repeating: "0", count: -point) }
        for (index, digit) in digits.enumerated() {
            if index == point, point > 0 { text += "." }
            text += String(digit)
        }
        if exponent > 0 { text += String(repeating: "0", count: exponent) }
        return text
    }
}

/// A natural number in base 10⁹, least significant limb first, without zero limbs at the top.
private struct Limbs {
    private static let base: UInt64 = 1_000_000_000
    private var limbs: [UInt64] = []

    init(_ digits: [UInt8]) {
        for digit in digits { appendDigit(digit) }
    }

    var isZero: Bool { limbs.isEmpty }

    mutating func appendDigit(_ digit: UInt8) {
        var carry = UInt64(digit)
        for index in limbs.indices {
            let sum = limbs[index] * 10 + carry
            limbs[index] = sum % Self.base
            carry = sum / Self.base
        }
        if carry > 0 { limbs.append(carry) }
    }

    static func < (left: Limbs, right: Limbs) -> Bool {
        if left.limbs.count != right.limbs.count { return left.limbs.count < right.limbs.count }
        for index in left.limbs.indices.reversed() where left.limbs[index] != right.limbs[index] {
            return left.limbs[index] < right.limbs[index]
        }
        return false
    }

    /// Subtracts a number that is not larger.
    mutating func subtract(_ other: Limbs) {
        var borrow: UInt64 = 0
        for index in limbs.indices {
            let subtrahend = (index < other.limbs.count ? other.limbs[index] : 0) + borrow
            if limbs[index] >= subtrahend {
                limbs[index] -= subtrahend
                borrow = 0
            } else {
                limbs[index] += Self.base - subtrahend
                borrow = 1
            }
        }
        while limbs.last == 0 { limbs.removeLast() }
    }
}
