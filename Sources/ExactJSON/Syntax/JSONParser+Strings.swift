// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
    /// Reads the string whose opening quote stands here.
    mutating func string(_ text: Span<UInt8>) throws(JSONSyntaxError) -> String {
        let start = index + 1
        var end = start
        var escapes = false
        while end < text.count {
            let byte = text[end]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                escapes = true
                end += 1
            } else if byte < 0x20 {
                throw control(text, at: end, start: start)
            }
            end += 1
        }
        guard end < text.count else { throw self.end(text, "a string is open; close it with \"") }
        let result: String
        if escapes {
            // The bytes are checked before escapes are taken out, so that a fault has its place.
            _ = try copy(text, start, end)
            result = try unescaped(text, start, end)
        } else {
            result = try copy(text, start, end)
        }
        index = end + 1
        return result
    }

    /// The text between two offsets, checked to be UTF-8.
    func copy(_ text: Span<UInt8>, _ start: Int, _ end: Int) throws(JSONSyntaxError) -> String {
        let fault: Int
        do {
            return String(copying: try UTF8Span(validating: text.extracting(start..<end)))
        } catch {
            fault = start + error.byteOffsets.lowerBound
        }
        throw JSONSyntaxError(
            .badUTF8,
            text,
            at: fault,
            "The bytes are not UTF-8; save or send the text in UTF-8."
        )
    }

    private func unescaped(_ text: Span<UInt8>, _ start: Int, _ end: Int) throws(JSONSyntaxError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - start)
        var index = start
        while index < end {
            let byte = text[index]
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                index += 1
                continue
            }
            let escape = index
            index += 2
            switch text[escape + 1] {
            case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
            case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "/"): bytes.append(UInt8(ascii: "/"))
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"):
                let scalar = try unicodeEscape(text, escape: escape, index: &index, end: end)
                bytes.append(contentsOf: String(Character(scalar)).utf8)
            default:
                throw JSONSyntaxError(
                    .badString,
                    text,
                    at: escape,
                    "JSON has no such escape; it has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hex digits. "
                        + "Write a backslash itself as \\\\."
                )
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads `\uXXXX`, and the second half that a high surrogate needs.
    private func unicodeEscape(
        _ text: Span<UInt8>,
        escape: Int,
        index: inout Int,
        end: Int
    ) throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try hexadecimal(text, escape: escape, from: index, end: end)
        index += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, index + 6 <= end, text[index] == UInt8(ascii: "\\"),
            text[index + 1] == UInt8(ascii: "u")
        {
            let second = try hexadecimal(text, escape: index, from: index + 2, end: end)
            if second >= 0xDC00, second <= 0xDFFF,
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            {
                index += 6
                return scalar
            }
        }
        throw JSONSyntaxError(
            .loneSurrogate,
            text,
            at: escape,
            "The escape names half a character (a lone surrogate); write both halves, such as \\uD83D\\uDE00, or the "
                + "character itself."
        )
    }

    private func hexadecimal(
        _ text: Span<UInt8>,
        escape: Int,
        from start: Int,
        end: Int
    ) throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for index in start..<(start + 4) {
            let byte = index < end ? text[index] : 0
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default:
                throw JSONSyntaxError(
                    .badString,
                    text,
                    at: escape,
                    "The escape \\u needs four hexadecimal digits, such as \\u00E9."
                )
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private func control(_ text: Span<UInt8>, at offset: Int, start: Int) -> JSONSyntaxError {
        let message: String
        switch text[offset] {
        case 0x0A, 0x0D: message = "A string does not span lines; close it with \", or write the line break as \\n."
        case 0x09: message = "A tab inside a string is written \\t."
        default:
            let digits = String(text[offset], radix: 16, uppercase: true)
            message =
                "A control character inside a string is written as an escape: \\u"
                + String(repeating: "0", count: 4 - digits.count) + digits + "."
        }
        return JSONSyntaxError(.badString, text, at: offset, message)
    }
}
