// SPDX-License-Identifier: Apache-2.0

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

    /// "!#$%&'*+-." and the digits.
    private static var tokenLow: UInt64 { 0x03FF_6CFA_0000_0000 }
    /// The letters and "^_`|~".
    private static var tokenHigh: UInt64 { 0x57FF_FFFF_C7FF_FFFE }
}
