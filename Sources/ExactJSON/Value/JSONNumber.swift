// SPDX-License-Identifier: Apache-2.0

/// A JSON number: its text, and exact decimal questions about it.
///
/// No operation goes through Double or Decimal, and none takes time in proportion to the exponent: `1e1000000000`
/// is as cheap as `1`. Two numbers are equal when their values are, whatever the spelling (`1.10` and `1.1`).
public struct JSONNumber: Sendable {
    /// The longest text of a number, in bytes. RFC 8259 section 6 leaves limits to the reader; arithmetic on the
    /// digits takes up to the square of their number.
    public static let maximumLength = 1_000
    /// The largest magnitude of an exponent, so that exponents add without overflow.
    public static let maximumExponent = 999_999_999_999_999

    /// The number as it was written, for instance `19.90` or `1e3`.
    public let text: String

    /// A number from its JSON text; nil when the text is not a number by RFC 8259 section 6, or exceeds
    /// ``maximumLength`` or ``maximumExponent``.
    public init?(_ text: String) {
        let bytes = text.utf8.span
        guard case .number(let end) = JSONNumberGrammar.scan(bytes, from: 0), end == bytes.count else { return nil }
        self.text = text
    }

    /// A whole number.
    public init(_ value: Int64) { self.text = String(value) }

    /// A number whose text the parser has checked.
    init(checked text: String) { self.text = text }

    /// Whether the value is below zero (`-0` is not).
    public var isNegative: Bool { plainInteger.map { $0 < 0 } ?? DecimalForm(self).isNegative }

    /// Whether the value is zero, in any spelling.
    public var isZero: Bool { plainInteger.map { $0 == 0 } ?? DecimalForm(self).digits.isEmpty }

    /// Whether the value is whole: `1`, `1.0`, `10e-1`, `1e400`.
    public var isInteger: Bool { plainInteger != nil || DecimalForm(self).exponent >= 0 }

    /// The value when it is whole and fits 64 bits.
    public var int64Value: Int64? {
        if let plainInteger { return plainInteger }
        let form = DecimalForm(self)
        guard form.exponent >= 0, form.exponent <= 19, form.digits.count + form.exponent <= 19 else { return nil }
        // Summed on the negative side, which reaches one further.
        var value: Int64 = 0
        for position in 0..<(form.digits.count + form.exponent) {
            let digit = position < form.digits.count ? Int64(form.digits[position]) : 0
            let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
            let (next, overflow2) = shifted.subtractingReportingOverflow(digit)
            if overflow || overflow2 { return nil }
            value = next
        }
        if form.isNegative { return value }
        return value == .min ? nil : -value
    }

    /// How many digits stand after the decimal point when the value is written without an exponent and without
    /// trailing zeros: 2 for `19.99`, 1 for `19.90`, 0 for `1e3`.
    public var fractionDigitCount: Int {
        if plainInteger != nil { return 0 }
        return max(0, -DecimalForm(self).exponent)
    }

    /// The value written without an exponent, digits kept as they were sent where there was none (`19.90` stays).
    /// - Parameter maximumLength: The longest text wanted, in characters.
    /// - Returns: nil when it would be longer; nothing is built then.
    public func plainText(maximumLength: Int = 100) -> String? {
        if !text.utf8.contains(where: { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) {
            return text.utf8.count <= maximumLength ? text : nil
        }
        return DecimalForm(self).plainText(maximumLength: maximumLength)
    }

    /// Whether the value is a whole multiple of another, exactly: `0.3` is one of `0.1`. Nothing is a multiple of
    /// zero but zero.
    public func isMultiple(of divisor: JSONNumber) -> Bool {
        if let value = plainInteger, let divisor = divisor.plainInteger {
            return divisor == 0 ? value == 0 : value % divisor == 0
        }
        return DecimalForm(self).isMultiple(of: DecimalForm(divisor))
    }

    /// The value when it is written as an integer of at most 18 digits: the short way for most numbers.
    var plainInteger: Int64? {
        let bytes = text.utf8.span
        let negative = bytes[0] == UInt8(ascii: "-")
        let start = negative ? 1 : 0
        guard bytes.count - start <= 18 else { return nil }
        var value: Int64 = 0
        for index in start..<bytes.count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value &* 10 &+ Int64(digit)
        }
        return negative ? -value : value
    }
}

extension JSONNumber: Comparable, Hashable, CustomStringConvertible {
    /// Whether the values are equal, exactly.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        if ExactText.equal(left.text, right.text) { return true }
        if let left = left.plainInteger, let right = right.plainInteger { return left == right }
        return DecimalForm(left) == DecimalForm(right)
    }

    /// Whether one value is smaller than another, exactly.
    public static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        if let left = left.plainInteger, let right = right.plainInteger { return left < right }
        return DecimalForm(left) < DecimalForm(right)
    }

    /// Hashes the value, not the spelling.
    public func hash(into hasher: inout Hasher) { hasher.combine(DecimalForm(self)) }

    /// The text.
    public var description: String { text }
}
