// SPDX-License-Identifier: Apache-2.0

// The words of the parser's errors: each says what to write instead.

extension JSONParser {
    /// Words from other languages, and what JSON has for them.
    static let suggestions: [String: String] = [
        "NaN": "JSON has no NaN; write null, or leave the member out.",
        "nan": "JSON has no NaN; write null, or leave the member out.",
        "Infinity": "JSON has no infinity; write null, or leave the member out.",
        "inf": "JSON has no infinity; write null, or leave the member out.",
        "True": "Write true in small letters.",
        "TRUE": "Write true in small letters.",
        "False": "Write false in small letters.",
        "FALSE": "Write false in small letters.",
        "Null": "Write null in small letters.",
        "NULL": "Write null in small letters.",
        "nil": "Write null instead of nil.",
        "None": "Write null instead of None.",
        "undefined": "Write null instead of undefined, or leave the member out.",
    ]

    /// Whether a byte can be part of a word: a letter, a digit or an underscore.
    static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// A member name for a message: bounded, in quotes.
    static func quoted(_ name: String) -> String {
        let kept = name.unicodeScalars.prefix(60).map { $0.value < 0x20 ? "\u{FFFD}" : $0 }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: kept)
        return "\"" + String(text) + (name.unicodeScalars.count > 60 ? "…" : "") + "\""
    }

    /// The letters that start at an offset, at most 20.
    func word(_ text: Span<UInt8>, at start: Int) -> String? {
        var word: [UInt8] = []
        var index = start
        while index < text.count, word.count < 20, Self.isWordByte(text[index]) {
            word.append(text[index])
            index += 1
        }
        guard let first = word.first, first < UInt8(ascii: "0") || first > UInt8(ascii: "9") else { return nil }
        return String(decoding: word, as: UTF8.self)
    }

    /// The text ended too early.
    func end(_ text: Span<UInt8>, _ what: String) -> JSONSyntaxError {
        let empty = index >= text.count && isBlank(text)
        return JSONSyntaxError(
            .unexpectedEnd,
            text,
            at: text.count,
            empty ? "The text is empty; write one JSON value, such as {}." : "The text ends too early: \(what)."
        )
    }

    private func isBlank(_ text: Span<UInt8>) -> Bool {
        for index in (Self.startsWithMark(text) ? 3 : 0)..<text.count {
            switch text[index] {
            case 0x20, 0x0A, 0x0D, 0x09: continue
            default: return false
            }
        }
        return true
    }

    /// Something that starts no value.
    func unexpectedValue(_ text: Span<UInt8>) -> JSONSyntaxError {
        if let word = word(text, at: index) { return unknownWord(text, word) }
        let message: String
        switch text[index] {
        case UInt8(ascii: "."):
            return JSONSyntaxError(
                .badNumber,
                text,
                at: index,
                "A number needs a digit before the decimal point; write 0.5, not .5."
            )
        case UInt8(ascii: "+"):
            return JSONSyntaxError(.badNumber, text, at: index, "A number has no plus sign; leave it out.")
        case UInt8(ascii: "]"), UInt8(ascii: "}"): message = "A bracket is closed here that is not open; remove it."
        case UInt8(ascii: ","): message = "A value is missing before the comma."
        case UInt8(ascii: ":"): message = "A colon stands only between a member's name and its value."
        default: return unexpected(text, "a value")
        }
        return JSONSyntaxError(.punctuation, text, at: index, message)
    }

    /// A word that is no value.
    func unknownWord(_ text: Span<UInt8>, _ word: String) -> JSONSyntaxError {
        JSONSyntaxError(
            .unknownWord,
            text,
            at: index,
            Self.suggestions[word]
                ?? "The word is no JSON value; write text in double quotes, or one of true, false and null."
        )
    }

    /// A character that can stand nowhere here.
    private func unexpected(_ text: Span<UInt8>, _ wanted: String) -> JSONSyntaxError {
        let message: String
        switch text[index] {
        case UInt8(ascii: "'"), UInt8(ascii: "`"): message = "Strings are written in double quotes: \"text\"."
        case UInt8(ascii: "/"), UInt8(ascii: "#"): message = "JSON has no comments; remove it."
        case UInt8(ascii: "\\"): message = "A backslash stands only inside a string."
        case 0x00..<0x20, 0x7F: message = "A control character cannot stand here; remove it."
        case 0x80...0xFF: return foreign(text, wanted)
        default: message = "The character cannot stand here; \(wanted) is expected."
        }
        return JSONSyntaxError(.unexpectedCharacter, text, at: index, message)
    }

    /// A character outside ASCII where JSON has none.
    private func foreign(_ text: Span<UInt8>, _ wanted: String) -> JSONSyntaxError {
        let end = min(index + 4, text.count)
        var scalar: Unicode.Scalar?
        // One character of up to four bytes: the longest piece that is UTF-8 and holds exactly one.
        for length in stride(from: end - index, to: 0, by: -1) {
            guard let copied = try? copy(text, index, index + length), copied.unicodeScalars.count == 1 else {
                continue
            }
            scalar = copied.unicodeScalars.first
        }
        guard let scalar else {
            return JSONSyntaxError(
                .badUTF8,
                text,
                at: index,
                "The bytes are not UTF-8; save or send the text in UTF-8."
            )
        }
        let message: String
        switch scalar.value {
        case 0x201C, 0x201D, 0x201E, 0x2018, 0x2019, 0xAB, 0xBB:
            message = "Typographic quotes do not count; write straight double quotes: \"text\"."
        case 0xA0, 0x2000...0x200B, 0x2028, 0x2029, 0x202F, 0x3000, 0xFEFF:
            message = "This invisible character is no JSON white space; write an ordinary space."
        default: message = "The character cannot stand here; \(wanted) is expected."
        }
        return JSONSyntaxError(.unexpectedCharacter, text, at: index, message)
    }

    /// More text after the document.
    func trailing(_ text: Span<UInt8>) -> JSONSyntaxError {
        let message: String
        switch text[index] {
        case UInt8(ascii: "/"), UInt8(ascii: "#"): message = "JSON has no comments; remove it."
        case UInt8(ascii: ","): message = "The value ends here; remove the comma."
        case UInt8(ascii: "}"), UInt8(ascii: "]"): message = "A bracket is closed here that is not open; remove it."
        default: message = "A JSON text is one value; remove what follows it, or put the values into one array."
        }
        return JSONSyntaxError(.trailingText, text, at: index, message)
    }

    /// Two commas in a row, or one before the first element.
    func extraComma(_ text: Span<UInt8>) -> JSONSyntaxError {
        JSONSyntaxError(.punctuation, text, at: index, "A value is missing before the comma.")
    }

    /// A comma before the closing bracket.
    func trailingComma(_ text: Span<UInt8>, at offset: Int, _ bracket: String) -> JSONSyntaxError {
        JSONSyntaxError(.punctuation, text, at: offset, "JSON takes no comma before \(bracket); remove it.")
    }

    /// Two values without a comma between them.
    func missingComma(_ text: Span<UInt8>, _ what: String, _ bracket: String) -> JSONSyntaxError {
        switch text[index] {
        case UInt8(ascii: "/"), UInt8(ascii: "#"), UInt8(ascii: "'"), 0x80...0xFF:
            return unexpected(text, "a comma or \(bracket)")
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            return JSONSyntaxError(
                .punctuation,
                text,
                at: index,
                "The wrong bracket closes here; write \(bracket)."
            )
        default:
            return JSONSyntaxError(
                .punctuation,
                text,
                at: index,
                "Write a comma between \(what), or \(bracket) after the last."
            )
        }
    }

    /// Something else than `:` after a member's name.
    func missingColon(_ text: Span<UInt8>) -> JSONSyntaxError {
        JSONSyntaxError(.punctuation, text, at: index, "Write a colon between a member's name and its value.")
    }

    /// Something else than a quoted name in an object.
    func badName(_ text: Span<UInt8>) -> JSONSyntaxError {
        if text[index] == UInt8(ascii: ",") {
            return JSONSyntaxError(.punctuation, text, at: index, "A member is missing before the comma; remove it.")
        }
        if Self.isWordByte(text[index]) || text[index] == UInt8(ascii: "-") {
            return JSONSyntaxError(
                .punctuation,
                text,
                at: index,
                "A member's name is written in double quotes: \"name\"."
            )
        }
        return unexpected(text, "a member's name in double quotes")
    }
}
