// SPDX-License-Identifier: Apache-2.0

/// Why a text is not JSON, where, and what to write instead.
///
/// The message never quotes the text, except for a member name that occurs twice.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable, Hashable {
        /// The text ends before the value does, or is empty.
        case unexpectedEnd = "unexpected-end"
        /// A character that cannot stand here.
        case unexpectedCharacter = "unexpected-character"
        /// A comma, a colon or a quote too many or too few.
        case punctuation
        /// A word that is no JSON value, such as `NaN` or `True`.
        case unknownWord = "unknown-word"
        /// A number in a form that JSON does not have, such as `01`, `.5` or `+1`.
        case badNumber = "bad-number"
        /// A bad escape, or a control character in a string.
        case badString = "bad-string"
        /// Half a surrogate pair.
        case loneSurrogate = "lone-surrogate"
        /// Bytes that are not UTF-8.
        case badUTF8 = "bad-utf-8"
        /// One object has two members of the same name.
        case duplicateName = "duplicate-name"
        /// More text after the value.
        case trailingText = "trailing-text"
        /// Too large, too deep, or too many values.
        case limit
    }

    /// The kind of fault, to switch on.
    public let code: Code
    /// The line, from 1. Lines end with LF, CR LF or CR.
    public let line: Int
    /// The column, from 1, in characters (Unicode scalars).
    public let column: Int
    /// The distance from the start of the text, in bytes, a byte order mark included.
    public let offset: Int
    /// What is wrong and what to write instead, one sentence or two.
    public let message: String

    /// Makes an error from a place in a text.
    init(_ code: Code, _ text: Span<UInt8>, at offset: Int, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
        var line = 1
        var column = 1
        var index = JSONParser.startsWithMark(text) ? 3 : 0
        while index < min(offset, text.count) {
            let byte = text[index]
            let endsLine =
                byte == 0x0A || byte == 0x0D && !(index + 1 < text.count && text[index + 1] == 0x0A)
            if endsLine {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {  // not the continuation of a character
                column += 1
            }
            index += 1
        }
        self.line = line
        self.column = column
    }

    /// `line 3, column 7: …`.
    public var description: String { "line \(line), column \(column): \(message)" }
}
