// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Checks that several identifiers share. Bytes are looked at, not characters: a limit in bytes holds in a database, too.
enum IdentifierRules {
    /// Opaque identifiers: 1 to 255 bytes of UTF-8 without control characters.
    static func checkOpaque(_ text: String, kind: String) throws(IdentifierError) {
        try checkLength(text, kind: kind, 1...255)
        for scalar in text.unicodeScalars where isControl(scalar) {
            throw IdentifierError(
                .badCharacter,
                kind,
                "The \(kind) holds the control character \(name(of: scalar))",
                fix: "Use visible characters; letters, digits, '.', '_', '~' and '-' travel best in URLs."
            )
        }
    }

    /// What stands in paths must be none of the two names that everyone on the way takes for a direction, in whatever
    /// spelling (RFC 3986 6.2.2.3): nothing could be reached by it.
    static func checkSegment(_ text: String, kind: String) throws(IdentifierError) {
        guard text.isExactly(oneOf: [".", ".."]) else { return }
        throw IdentifierError(
            .badForm,
            kind,
            "The \(kind) is \"\(text)\", which no URL can hold: clients and proxies take it out of every path",
            fix: "Use letters and digits, too."
        )
    }

    /// The length in bytes of UTF-8.
    static func checkLength(_ text: String, kind: String, _ range: ClosedRange<Int>) throws(IdentifierError) {
        let count = text.utf8.count
        if count == 0 {
            throw IdentifierError(
                .empty,
                kind,
                "The \(kind) is empty",
                fix: "Send \(range.lowerBound) to \(range.upperBound) bytes of text."
            )
        }
        if count < range.lowerBound {
            throw IdentifierError(
                .tooShort,
                kind,
                "The \(kind) has \(count) bytes; it needs at least \(range.lowerBound)",
                fix: "Send \(range.lowerBound) to \(range.upperBound) bytes of text."
            )
        }
        if count > range.upperBound {
            throw IdentifierError(
                .tooLong,
                kind,
                "The \(kind) has \(count) bytes; at most \(range.upperBound) are allowed",
                fix: "Shorten it to \(range.upperBound) bytes of UTF-8 or fewer."
            )
        }
    }

    /// Visible ASCII only: what fits into a header and a path without escapes.
    static func checkVisible(_ text: String, kind: String) throws(IdentifierError) {
        for byte in text.utf8 where byte < 0x21 || byte > 0x7E {
            throw IdentifierError(
                .badCharacter,
                kind,
                "The \(kind) holds a byte that is no visible ASCII character",
                fix: "Send visible ASCII characters without spaces."
            )
        }
    }

    /// C0, DEL and C1.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    /// RFC 3986 "unreserved": never escaped, so proxies and frameworks can't disagree about it.
    static func isURLSafe(_ text: String) -> Bool {
        !text.isExactly(oneOf: [".", ".."])
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
                default: false
                }
            }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
