// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ExactJSON

/// Parses a text given as a Swift string.
func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue {
    try JSONValue(parsing: Array(text.utf8))
}

@Suite("Parser")
struct JSONParserTests {
    @Test(
        "takes what RFC 8259 allows and writes it back without change",
        arguments: [
            "null", "true", "false", "0", "-0", "1.10", "1E+2", "1e-7", "\"\"", "[]", "{}", "[1,[2,[3]],{}]",
            "{\"a\":{\"b\":[null,true]},\"c\":\"d\"}", "\"\u{7F}\"", "\"é😀\u{FFFF}\"", "19.99",
            "12345678901234567890.12", "340282366920938463463374607431768211455.5", "1e1000000000",
            "{\"\":1,\"e\u{301}\":2,\"\u{E9}\":3}", "\"https://example.com/a\"",
        ]
    )
    func roundTrip(text: String) throws {
        #expect(String(decoding: try parse(text).serialized(), as: UTF8.self) == text)
    }

    @Test("reads escapes and white space")
    func escapes() throws {
        #expect(
            try parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\uD83D\\uDE00\\u0000\"")
                == .string("\"\\/\u{8}\u{C}\n\r\tAé😀\0")
        )
        #expect(try parse(" \t\r\n[ 1 , 2 ] \n") == [1, 2])
        #expect(try parse("\u{FEFF}{ \"a\" : 1 }") == ["a": 1])
    }

    @Test("never writes a byte order mark")
    func mark() throws {
        #expect(try parse("\u{FEFF}1").serialized() == [UInt8(ascii: "1")])
    }

    /// Text, code, line, column, and a piece of the advice.
    static let refused: [(String, JSONSyntaxError.Code, Int, Int, String)] = [
        ("", .unexpectedEnd, 1, 1, "empty"),
        (" \n ", .unexpectedEnd, 2, 2, "empty"),
        ("{", .unexpectedEnd, 1, 2, "close it with }"),
        ("[1", .unexpectedEnd, 1, 3, "close it with ]"),
        ("[1,", .unexpectedEnd, 1, 4, "close it with ]"),
        ("{\"a\"", .unexpectedEnd, 1, 5, "colon"),
        ("{\"a\":", .unexpectedEnd, 1, 6, "write one JSON value"),
        ("\"abc", .unexpectedEnd, 1, 5, "close it with \""),
        ("\"abc\\", .unexpectedEnd, 1, 6, "close it with \""),
        ("[1,]", .punctuation, 1, 3, "no comma before ]"),
        ("{\"a\":1,\n}", .punctuation, 1, 7, "no comma before }"),
        ("[,1]", .punctuation, 1, 2, "missing before the comma"),
        ("[1,,2]", .punctuation, 1, 4, "missing before the comma"),
        ("{,}", .punctuation, 1, 2, "missing before the comma"),
        ("[1 2]", .punctuation, 1, 4, "comma between elements"),
        ("{\"a\":1 \"b\":2}", .punctuation, 1, 8, "comma between members"),
        ("[1}", .punctuation, 1, 3, "write ]"),
        ("{\"a\" 1}", .punctuation, 1, 6, "colon"),
        ("{\"a\"=1}", .punctuation, 1, 5, "colon"),
        ("{\"a\":}", .unexpectedCharacter, 1, 6, "no value"),
        ("{a:1}", .punctuation, 1, 2, "double quotes"),
        ("{1:1}", .punctuation, 1, 2, "double quotes"),
        ("{'a':1}", .unexpectedCharacter, 1, 2, "double quotes"),
        ("['a']", .unexpectedCharacter, 1, 2, "double quotes"),
        ("[“a”]", .unexpectedCharacter, 1, 2, "straight double quotes"),
        ("[\u{A0}1]", .unexpectedCharacter, 1, 2, "ordinary space"),
        ("[é]", .unexpectedCharacter, 1, 2, "a value is expected"),
        ("// x\n1", .unexpectedCharacter, 1, 1, "no comments"),
        ("[1 /* x */]", .unexpectedCharacter, 1, 4, "no comments"),
        ("1 # x", .trailingText, 1, 3, "no comments"),
        ("NaN", .unknownWord, 1, 1, "NaN"),
        ("[-Infinity]", .unknownWord, 1, 2, "infinity"),
        ("[Infinity]", .unknownWord, 1, 2, "infinity"),
        ("True", .unknownWord, 1, 1, "true"),
        ("nul", .unknownWord, 1, 1, "double quotes"),
        ("nulls", .unknownWord, 1, 1, "double quotes"),
        ("[None]", .unknownWord, 1, 2, "null"),
        ("undefined", .unknownWord, 1, 1, "null"),
        ("01", .badNumber, 1, 1, "leading zeros"),
        ("-01", .badNumber, 1, 2, "leading zeros"),
        ("0x1F", .badNumber, 1, 1, "hexadecimal"),
        ("+1", .badNumber, 1, 1, "plus sign"),
        (".5", .badNumber, 1, 1, "0.5"),
        ("-.5", .badNumber, 1, 2, "0.5"),
        ("5.", .badNumber, 1, 3, "followed by a digit"),
        ("1e", .badNumber, 1, 3, "exponent"),
        ("1e+", .badNumber, 1, 4, "exponent"),
        ("-", .badNumber, 1, 2, "digit"),
        ("1_000", .badNumber, 1, 2, "quotes"),
        ("1n", .badNumber, 1, 2, "quotes"),
        ("1e9999999999999999", .badNumber, 1, 3, "15 digits"),
        ("\"a\nb\"", .badString, 1, 3, "\\n"),
        ("\"a\tb\"", .badString, 1, 3, "\\t"),
        ("\"a\u{0}b\"", .badString, 1, 3, "\\u0000"),
        ("\"a\u{1F}b\"", .badString, 1, 3, "\\u001F"),
        ("\"\\x41\"", .badString, 1, 2, "\\u"),
        ("\"\\'\"", .badString, 1, 2, "no such escape"),
        ("\"\\é\"", .badString, 1, 2, "no such escape"),
        ("\"\\u12G4\"", .badString, 1, 2, "four hexadecimal"),
        ("\"\\u12\"", .badString, 1, 2, "four hexadecimal"),
        ("\"\\uD83D\"", .loneSurrogate, 1, 2, "both halves"),
        ("\"\\uDE00\\uD83D\"", .loneSurrogate, 1, 2, "both halves"),
        ("\"\\uD83Dx\"", .loneSurrogate, 1, 2, "both halves"),
        ("\"\\uD83D\\u0041\"", .loneSurrogate, 1, 2, "both halves"),
        ("{\"a\":1,\"b\":2,\"a\":1}", .duplicateName, 1, 14, "\"a\" occurs twice"),
        ("{\"a\":1,\"\\u0061\":1}", .duplicateName, 1, 8, "\"a\" occurs twice"),
        ("1 2", .trailingText, 1, 3, "one array"),
        ("{}}", .trailingText, 1, 3, "not open"),
        ("{},", .trailingText, 1, 3, "comma"),
        ("]", .punctuation, 1, 1, "not open"),
        ("{\n  \"é\": \"😀\", x\n}", .punctuation, 2, 13, "double quotes"),
        ("[1,\r\n2,\r3,\n x]", .unknownWord, 4, 2, "double quotes"),
    ]

    @Test("refuses everything else with the place and what to write instead", arguments: refused)
    func refusal(text: String, code: JSONSyntaxError.Code, line: Int, column: Int, advice: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try parse(text) }
        #expect(error?.code == code, "\(text): \(String(describing: error))")
        #expect(error?.line == line, "\(text): \(String(describing: error))")
        #expect(error?.column == column, "\(text): \(String(describing: error))")
        #expect(error?.message.contains(advice) == true, "\(text): \(String(describing: error))")
    }

    @Test(
        "refuses bytes that are not UTF-8, in values, names and between",
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0xC0, 0x80, 0x22], 1), ([0x22, 0x61, 0xED, 0xA0, 0x80, 0x22], 2),
            ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1), ([0x22, 0xE2, 0x82, 0x22], 1),
            ([0x7B, 0x22, 0x80, 0x22, 0x3A, 0x31, 0x7D], 2), ([0x5B, 0x80, 0x5D], 1), ([0xFF, 0xFE, 0x31, 0x00], 0),
            ([0x22, 0x5C, 0x6E, 0xFF, 0x22], 3),
        ] as [([UInt8], Int)]
    )
    func badUTF8(bytes: [UInt8], offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
        #expect(error?.code == .badUTF8)
        #expect(error?.offset == offset)
        #expect(error?.column == offset + 1)
    }

    @Test("counts the offset in bytes with the mark, the column in characters without it")
    func offsets() {
        let error = #expect(throws: JSONSyntaxError.self) { try parse("\u{FEFF}[\"é\",x]") }
        #expect(error?.offset == 9)
        #expect(error?.column == 6)
        #expect(error?.description.hasPrefix("line 1, column 6: ") == true)
    }

    @Test("bounds size, depth and the number of values")
    func limits() throws {
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try parse(deep)
        #expect(throws: JSONSyntaxError.self) { try parse("[" + deep + "]") }
        let objects = String(repeating: "{\"a\":", count: 65) + "1" + String(repeating: "}", count: 65)
        #expect(throws: JSONSyntaxError.self) { try parse(objects) }
        let error = #expect(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: Array("[1,2,3]".utf8), limits: JSONLimits(values: 3))
        }
        #expect(error?.code == .limit)
        _ = try JSONValue(parsing: Array("[1,2]".utf8), limits: JSONLimits(bytes: 5, depth: 1, values: 3))
        #expect(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: Array("[1,2]".utf8), limits: JSONLimits(bytes: 4))
        }
        #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: "1", count: 1001)) }
        _ = try parse(String(repeating: "1", count: 1000))
    }

    @Test("takes time in proportion to hostile texts")
    func hostile() throws {
        // Each of these is far beyond what a quadratic reader finishes.
        let took = try Patience.processorTime {
            let names = (0..<100_000).map { "\"name\($0)\":\($0)" }.joined(separator: ",")
            let object = try #require(try parse("{" + names + "}").objectValue)
            #expect(object.count == 100_000)
            #expect(object["name99999"] == 99_999)
            // Names that Unicode normalization would take for one.
            let accents = (0..<(1 << 14)).map { number in
                "\""
                    + (0..<14).map { number >> $0 & 1 == 0 ? "e\u{301}" : "\u{E9}" }.joined() + "\":0"
            }
            #expect(try parse("{" + accents.joined(separator: ",") + "}").objectValue?.count == 1 << 14)
            #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: "[", count: 4 << 20)) }
            #expect(throws: JSONSyntaxError.self) { try parse("\"" + String(repeating: "\\u0041", count: 1 << 20)) }
            #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: "1", count: 4 << 20)) }
            _ = try parse("\"" + String(repeating: "\\n", count: 1 << 20) + "\"")
        }
        #expect(took < .seconds(60) * Patience.factor)
    }
}
