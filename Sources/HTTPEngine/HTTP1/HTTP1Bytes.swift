// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The character classes of RFC 9110 5.6 and RFC 9112 as bit sets: one shift and one mask a byte.
enum HTTP1Bytes {
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A

    /// tchar: what methods and field names are made of.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        if byte < 64 { return tokenLow >> UInt64(byte) & 1 == 1 }
        return byte < 128 && tokenHigh >> UInt64(byte - 64) & 1 == 1
    }

    /// What a field value may hold: visible characters, space, HTAB and obs-text; no other control character.
    @inline(__always)
    static func isFieldContent(_ byte: UInt8) -> Bool { byte >= 0x20 ? byte != 0x7F : byte == 0x09 }

    /// What a request target may hold: visible ASCII without "#", which never goes over the wire.
    @inline(__always)
    static func isTarget(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") }

    /// A host name's characters. Narrower than RFC 3986's reg-name on purpose: percent-encoding and sub-delims in a host are
    /// never seen but in attempts to make two parsers disagree.
    @inline(__always)
    static func isHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// SP or HTAB.
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// The value of a hex digit, or nil.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Whether a byte stands anywhere in a text.
    static func contains(_ byte: UInt8, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = text.baseAddress else { return false }
        return unsafe memchr(base, Int32(byte), text.count) != nil
    }

    /// Whether all bytes are visible, spaces or obs-text: eight at a time. False also for HTAB, which a value may hold.
    ///
    /// - Parameter isASCII: whether obs-text won't do either.
    @inline(__always)
    static func isPlain(_ text: UnsafeBufferPointer<UInt8>, isASCII: Bool = false) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        let ones: UInt64 = 0x0101_0101_0101_0101
        var found: UInt64 = 0
        var index = 0
        while index + 8 <= bytes.count {
            let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let deleted = word ^ (0x7F &* ones)
            // A byte below 0x20, or one that is 0x7F, borrows from its uppermost bit.
            found |= (word &- 0x20 &* ones) & ~word | (deleted &- ones) & ~deleted
            if isASCII { found |= word }
            index += 8
        }
        if found & (0x80 &* ones) != 0 { return false }
        while index < bytes.count {
            let byte = unsafe bytes[index]
            guard byte >= 0x20 && byte != 0x7F && !(isASCII && byte >= 0x80) else { return false }
            index += 1
        }
        return true
    }

    /// Whether all bytes are lower-case letters and "-", as in nearly every name: eight at a time. False also for other tokens.
    @inline(__always)
    static func isLowerToken(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        let ones: UInt64 = 0x0101_0101_0101_0101
        var found: UInt64 = 0
        func look(_ word: UInt64) {
            // A "-" counts as an "a"; then no byte may be above 0x7F, below "a" or above "z".
            let hyphen = word ^ (0x2D &* ones)
            let isHyphen = (hyphen &- ones) & ~hyphen & (0x80 &* ones)
            let letters = word &+ (isHyphen >> 7) &* (0x61 - 0x2D)
            found |= word | (letters &- 0x61 &* ones) | (letters &+ (0x7F - 0x7A) &* ones)
        }
        guard bytes.count >= 8 else {
            return unsafe !bytes.isEmpty && bytes.allSatisfy { $0 &- 0x61 < 26 || $0 == 0x2D }
        }
        var index = 0
        while index + 8 <= bytes.count {
            unsafe look(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        // The last eight, some of them for a second time.
        unsafe look(bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
        return found & (0x80 &* ones) == 0
    }

    /// "!#$%&'*+-." and the digits.
    private static var tokenLow: UInt64 { 0x03FF_6CFA_0000_0000 }
    /// The letters and "^_`|~".
    private static var tokenHigh: UInt64 { 0x57FF_FFFF_C7FF_FFFE }
}
