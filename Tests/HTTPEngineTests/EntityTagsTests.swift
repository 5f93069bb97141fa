// SPDX-License-Identifier: Apache-2.0
import HTTPEngine
import Testing

@Suite("Entity tags")
struct EntityTagsTests {
    @Test(
        "lists are split at commas outside quotes",
        arguments: [
            ("\"a\"", ["\"a\""]), (" \"a\" ,\t\"b,c\" , W/\"d\"", ["\"a\"", "\"b,c\"", "W/\"d\""]), ("*", ["*"]),
            ("", []), (",,", []), ("\"a b\"", ["\"a b\""]), ("\"open, x", ["\"open, x"]), ("\"ü\"", ["\"ü\""]),
        ]
    )
    func lists(value: String, tags: [String]) {
        #expect((["if-match": value] as HTTPFields).entityTags("If-Match") == tags)
    }

    @Test("all lines of the field count")
    func lines() {
        var fields = HTTPFields()
        fields.append("if-none-match", "\"a\"")
        fields.append("If-None-Match", "\"b\"")
        #expect(fields.entityTags("if-none-match") == ["\"a\"", "\"b\""])
    }

    @Test(
        "If-None-Match compares weakly",
        arguments: [
            ("\"a\"", "\"a\"", true), ("W/\"a\"", "\"a\"", true), ("\"a\"", "W/\"a\"", true), ("*", "\"a\"", true),
            ("\"b\"", "\"a\"", false), ("", "\"a\"", false), ("a", "\"a\"", false), ("w/\"a\"", "\"a\"", false),
        ]
    )
    func weak(value: String, tag: String, holds: Bool) {
        #expect((["if-none-match": value] as HTTPFields).ifNoneMatch(holds: tag) == holds)
        #expect(!HTTPFields().ifNoneMatch(holds: tag))
    }
}
