// SPDX-License-Identifier: Apache-2.0

/// The values of JSON Schema's `format` that are checked (Validation, section 7.3). Others say nothing.
enum TextFormat: String, Sendable, CaseIterable {
    case dateTime = "date-time"
    case date
    case time
    case duration
    case uri
    case uriReference = "uri-reference"
    case email
    case hostname
    case ipv4
    case ipv6
    case uuid
    case jsonPointer = "json-pointer"
    case regex

    /// Whether a text has the format.
    func matches(_ text: String) -> Bool {
        switch self {
        case .jsonPointer: return JSONPointer(text) != nil
        case .regex: return (try? Pattern(text)) != nil
        default: break
        }
        let bytes = Array(text.utf8)
        return switch self {
        case .dateTime: TimeFormat.isDateTime(bytes)
        case .date: TimeFormat.isDate(bytes[...])
        case .time: TimeFormat.isTime(bytes[...])
        case .duration: TimeFormat.isDuration(bytes)
        case .uri: URIFormat.isReference(bytes, absolute: true)
        case .uriReference: URIFormat.isReference(bytes, absolute: false)
        case .email: HostFormat.isEmail(bytes)
        case .hostname: HostFormat.isHostname(bytes[...])
        case .ipv4: HostFormat.isIPv4(bytes[...])
        case .ipv6: HostFormat.isIPv6(bytes[...])
        case .uuid: Self.isUUID(bytes)
        case .jsonPointer, .regex: true
        }
    }

    /// What to write, for a message.
    var advice: String {
        switch self {
        case .dateTime: "Write a date and time with its zone, such as 2026-01-02T03:04:05Z."
        case .date: "Write a date, such as 2026-01-02."
        case .time: "Write a time with its zone, such as 03:04:05Z."
        case .duration: "Write a duration, such as P3D or PT1H30M."
        case .uri: "Write an absolute URI, such as https://example.com/a."
        case .uriReference: "Write a URI or a relative reference, such as /a/b."
        case .email: "Write an e-mail address, such as name@example.com."
        case .hostname: "Write a host name, such as www.example.com."
        case .ipv4: "Write an IPv4 address, such as 192.0.2.1."
        case .ipv6: "Write an IPv6 address, such as 2001:db8::1."
        case .uuid: "Write a UUID, such as 00000000-0000-4000-8000-000000000000."
        case .jsonPointer: "Write a JSON pointer, such as /a/0."
        case .regex: "Write a regular expression (ECMA-262)."
        }
    }

    /// RFC 9562: 8-4-4-4-12 hexadecimal digits.
    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 36 else { return false }
        for (index, byte) in bytes.enumerated() {
            let isDash = index == 8 || index == 13 || index == 18 || index == 23
            guard isDash ? byte == UInt8(ascii: "-") : hexValue(byte) != nil else { return false }
        }
        return true
    }

    /// The value of a hexadecimal digit.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
}
