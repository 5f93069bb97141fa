// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ExactJSON

@Suite("Pointer")
struct JSONPointerTests {
    /// RFC 6901 section 5.
    static let document = #"""
        {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}
        """#

    @Test(
        "finds what RFC 6901 section 5 says",
        arguments: [
            ("/foo", "[\"bar\",\"baz\"]"), ("/foo/0", "\"bar\""), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"),
            ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
        ]
    )
    func standard(text: String, expected: String) throws {
        let pointer = try #require(JSONPointer(text))
        #expect(try parse(Self.document).at(pointer) == parse(expected))
        #expect(pointer.description == text)
    }

    @Test(
        "finds nothing where nothing is",
        arguments: [
            "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/+1", "/foo/0/x", "/x", "/foo/99999999999999999999", "/foo/",
        ]
    )
    func absent(text: String) throws {
        #expect(try parse(Self.document).at(try #require(JSONPointer(text))) == nil)
    }

    @Test("refuses a text that is no pointer", arguments: ["a", "a/b", "/~", "/~2", "/a~", "#/a"])
    func refused(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test("grows by names and positions, and knows its parent")
    func growing() throws {
        let pointer = JSONPointer.root.appending("a/b").appending(3).appending("~")
        #expect(pointer.description == "/a~1b/3/~0")
        #expect(pointer.parent?.description == "/a~1b/3")
        #expect(JSONPointer.root.parent == nil)
        #expect(JSONPointer.root.description == "")
        #expect(try parse("[1]").at(.root) == [1])
        #expect(pointer.isInside(JSONPointer(tokens: ["a/b"])))
        #expect(!pointer.isInside(JSONPointer(tokens: ["a"])))
    }
}
