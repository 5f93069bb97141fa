// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ExactJSON

@Suite("Pattern")
struct PatternTests {
    @Test(arguments: [
        "(((){10000}){10000}){10000}", "(((a{0}){10000}){10000}){10000}", "(((){10000}a{0}){10000}b{0}){10000}",
        "((((){1,}){10000}){10000}){10000}", "(?=((){10000}){10000}){0}",
    ])
    func `a repeat of nothing is compiled at once`(_ source: String) {
        let time = Patience.processorTime {
            let pattern = try? Pattern("^" + source + "$")
            if let pattern { #expect(pattern.matches("") && !pattern.matches("c")) }
        }
        #expect(time < .seconds(2) * Patience.factor)
    }

    @Test(
        "matches as ECMA-262 says",
        arguments: [
            ("", "", true), ("a", "bab", true), ("^a", "ba", false), ("a$", "ab", false), ("^$", "", true),
            ("^abc$", "abc\n", false), ("a|b|", "", true), ("^(a|bc)+$", "abcbca", true),
            ("^(a|bc)+$", "abca b", false),
            ("^a{2,3}$", "a", false), ("^a{2,3}$", "aaa", true), ("^a{2,3}$", "aaaa", false),
            ("^a{2,}$", "aaaaa", true),
            ("^a{0}$", "", true), ("^(?:ab)?$", "ab", true), ("^a+?$", "aaa", true), ("^.$", "\n", false),
            ("^.$", "😀", true), ("^.$", "\u{2028}", false), ("^[^a-c]$", "d", true), ("^[^a-c]$", "b", false),
            ("^[]$", "a", false), ("^[^]$", "\n", true), ("^[a\\-z]+$", "a-z", true), ("^[a-]+$", "-a", true),
            ("^[\\w-]+$", "a_-9", true), ("^[\\d.]+$", "1.5", true), ("^[\\W]$", "é", true), ("^\\u00e9$", "é", true),
            ("^\\u{1F600}$", "😀", true), ("^\\uD83D\\uDE00$", "😀", true), ("^\\x41\\0$", "A\0", true),
            ("^\\cJ$", "\n", true), ("^\\p{Lu}\\p{L}*$", "Éa", true), ("^\\P{L}$", "1", true), ("^\\P{L}$", "é", false),
            ("^[\\p{Nd}x]+$", "x٣", true), ("^[^\\p{L}]$", "é", false), ("^\\p{Alphabetic}$", "ß", true),
            ("\\bfoo\\b", "a foo b", true), ("\\bfoo\\b", "afoo b", false), ("\\Boo", "foo", true),
            ("^(?!foo)", "foobar", false), ("^(?!foo)", "barfoo", true), ("^(?=.*\\d)(?=.*[a-z]).{3,}$", "ab1", true),
            ("^(?=.*\\d)(?=.*[a-z]).{3,}$", "abc", false), ("(?<=a)b", "ab", true), ("(?<=a)b", "cb", false),
            ("(?<!a)b", "ab", false), ("(?<!a)b", "b", true), ("^(?!.*(?=xx)).*$", "axxb", false),
            ("^(?<year>\\d{4})-\\d\\d$", "2026-01", true), ("^a.c$", "a\u{301}c", true), ("e\u{301}", "\u{E9}", false),
            ("^(a*)*$", "aaaa", true), ("^(a*)*b$", "aaaac", false), ("^\\/a\\-b\\.$", "/a-b.", true),
            ("^(|a)+$", "aa", true), ("^[\\b]$", "\u{8}", true), ("^\\s+$", "\u{FEFF}\u{A0}\t", true),
            ("^[A-Z]{3}$", "USD", true), ("^(?:[01]\\d|2[0-3])$", "24", false),
        ]
    )
    func matching(source: String, text: String, expected: Bool) throws {
        let pattern = try Pattern(source)
        #expect(pattern.matches(text) == expected, "\(source) on \(text)")
        #expect(pattern.follows(text) == expected, "\(source) on \(text), step by step")
    }

    @Test(
        "refuses what it cannot take, and says where",
        arguments: [
            ("(a", 1), ("a)", 2), ("[a", 1), ("a**", 3), ("*a", 1), ("a{2,1}", 2), ("a{99999}", 2), ("\\a", 1),
            ("\\", 1),
            ("(a)\\1", 4), ("\\k<a>", 1), ("\\p{Nope}", 1), ("\\pL", 1), ("\\u12", 1), ("[b-a]", 3), ("[\\d-z]", 4),
            ("a{x}", 3), ("]", 1), ("}", 1), ("(?a)", 2), ("(?<>a)", 5), ("\\xZ1", 1), ("(?=a)*", 6),
            ("\\u{110000}", 1),
        ]
    )
    func refusal(source: String, column: Int) {
        let error = #expect(throws: PatternError.self) { try Pattern(source) }
        #expect(error?.column == column, "\(source): \(String(describing: error))")
    }

    @Test("bounds the size of an expression")
    func size() {
        #expect(throws: PatternError.self) { try Pattern("((a{1000}){1000}){1000}") }
        #expect(throws: PatternError.self) { try Pattern(String(repeating: "(", count: 5_000)) }
        #expect(throws: PatternError.self) {
            try Pattern(String(repeating: "(", count: 101) + String(repeating: ")", count: 101))
        }
    }

    @Test(
        "takes linear time where a backtracking engine does not finish",
        arguments: ["^(a+)+$", "^(a|a)*$", "^(a*)*$", "(a?){50}a{50}$", "^(?=(a+)+$)(?!.*b)a", "(.*)(.*)(.*)(.*)x"]
    )
    func hostile(source: String) throws {
        let pattern = try Pattern(source)
        let took = Patience.processorTime { _ = pattern.matches(String(repeating: "a", count: 2_000) + "b") }
        #expect(took < .seconds(30) * Patience.factor)
    }
}
