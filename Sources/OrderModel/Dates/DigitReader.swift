// SPDX-License-Identifier: Apache-2.0

/// Reads fixed-width numbers and single characters off a short ASCII text.
struct DigitReader {
    private let bytes: [UInt8]
    private(set) var position = 0
    /// Whether a letter was taken in lower case.
    private(set) var tookLowerCase = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Whether what is left looks like a zone: the seconds were left out in front of it.
    var restIsZone: Bool {
        guard position < bytes.count else { return false }
        return [0x5A, 0x7A, 0x2B, 0x2D].contains(bytes[position])
    }

    /// Takes `character` if it comes next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Takes a letter in either case, and notes when it was the lower one.
    mutating func take(_ letter: Unicode.Scalar, orLowerCase other: Unicode.Scalar) -> Bool {
        if take(letter) { return true }
        guard take(other) else { return false }
        tookLowerCase = true
        return true
    }

    /// Takes exactly `width` digits.
    mutating func number(_ width: Int) -> Int? {
        guard position + width <= bytes.count else { return nil }
        var value = 0
        for index in position..<position + width {
            guard (0x30...0x39).contains(bytes[index]) else { return nil }
            value = value * 10 + Int(bytes[index] - 0x30)
        }
        position += width
        return value
    }

    /// Takes one or more digits, at most `limit`.
    mutating func digits(limit: Int) -> Int? {
        let start = position
        var value = 0
        while position < bytes.count, (0x30...0x39).contains(bytes[position]), position - start < limit {
            value = value * 10 + Int(bytes[position] - 0x30)
            position += 1
        }
        return position > start ? value : nil
    }

    /// Takes the digits of a fraction of a second; digits beyond the sixth are cut off.
    mutating func fraction() -> Int64? {
        let start = position
        var value: Int64 = 0
        var scale: Int64 = 100_000
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            value += Int64(bytes[position] - 0x30) * scale
            scale /= 10
            position += 1
        }
        return position > start ? value : nil
    }
}
