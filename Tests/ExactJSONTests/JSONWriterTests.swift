// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ExactJSON

@Suite("Writer")
struct JSONWriterTests {
    func text(_ value: JSONValue, _ style: JSONStyle) -> String {
        String(decoding: value.serialized(style), as: UTF8.self)
    }

    @Test("escapes what must be escaped and nothing else")
    func escapes() {
        #expect(
            text("a/b\"\\\u{8}\t\n\u{C}\r\u{0}\u{1F}\u{7F}é😀\u{2028}", .compact)
                == "\"a/b\\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u001f\u{7F}é😀\u{2028}\""
        )
    }

    @Test("pretty text has two spaces a level and no trailing white space")
    func pretty() {
        let value: JSONValue = ["b": [1, [], ["x": nil]], "a": [:], "c": "d"]
        #expect(
            text(value, .pretty) == """
                {
                  "b": [
                    1,
                    [],
                    {
                      "x": null
                    }
                  ],
                  "a": {},
                  "c": "d"
                }
                """
        )
        #expect(text(value, .compact) == "{\"b\":[1,[],{\"x\":null}],\"a\":{},\"c\":\"d\"}")
    }

    @Test("canonical text sorts members by code point at every level")
    func canonical() throws {
        let value = try parse(
            "{\"b\":{\"z\":1,\"\u{FFFF}\":2,\"\u{1F600}\":3,\"y\":4},\"a\":1.10,\"B\":[{\"d\":1,\"c\":2}]}"
        )
        #expect(
            text(value, .canonical)
                == "{\"B\":[{\"c\":2,\"d\":1}],\"a\":1.10,\"b\":{\"y\":4,\"z\":1,\"\u{FFFF}\":2,\"\u{1F600}\":3}}"
        )
        #expect(value.description.hasPrefix("{\"b\":"))
    }
}
