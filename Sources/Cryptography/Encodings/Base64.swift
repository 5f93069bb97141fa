// SPDX-License-Identifier: Apache-2.0

/// Base64 with padding (RFC 4648 section 4).
package enum Base64 {
    private static let alphabet = Base64Alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

    /// The text of `bytes`, padded with `=`.
    package static func encode(_ bytes: [UInt8]) -> String {
        alphabet.encode(bytes, padded: true)
    }

    /// The bytes of a text; nil unless it is exactly what `encode` would write.
    package static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let body = characters.dropLast(characters.suffix(2).count { $0 == UInt8(ascii: "=") })
        return alphabet.decode(body)
    }
}

/// Base64 for URLs and file names, without padding (RFC 4648 section 5).
package enum Base64URL {
    private static let alphabet = Base64Alphabet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    /// The text of `bytes`, without padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        alphabet.encode(bytes, padded: false)
    }

    /// The bytes of a text; nil unless it is exactly what `encode` would write.
    package static func decode(_ text: String) -> [UInt8]? {
        alphabet.decode(Array(text.utf8)[...])
    }
}

/// Sixty-four characters, and the way back.
private struct Base64Alphabet: Sendable {
    private let characters: [UInt8]
    private let values: [UInt8]

    init(_ text: String) {
        characters = Array(text.utf8)
        var values = [UInt8](repeating: 0xff, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
    }

    func encode(_ bytes: [UInt8], padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var pool: UInt32 = 0
        var bits = 0
        for byte in bytes {
            pool = pool << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(characters[Int(pool >> UInt32(bits) & 0x3f)])
            }
        }
        if bits > 0 { text.append(characters[Int(pool << UInt32(6 - bits) & 0x3f)]) }
        while padded && !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pool: UInt32 = 0
        var bits = 0
        for character in text {
            let value = values[Int(character)]
            guard value != 0xff else { return nil }
            pool = pool << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pool >> UInt32(bits)))
            }
        }
        // Leftover bits must be zero: one value has one text, so a token can't be written in several ways.
        guard pool & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }
}
