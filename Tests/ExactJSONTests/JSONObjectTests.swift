// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ExactJSON

@Suite("Object and value")
struct JSONObjectTests {
    @Test("keeps the order of members and replaces in place")
    func order() {
        var object: JSONObject = ["b": 1, "a": 2]
        object["c"] = 3
        object["b"] = 4
        #expect(object.keys == ["b", "a", "c"])
        #expect(object["b"] == 4)
        object["a"] = nil
        #expect(object.keys == ["b", "c"])
        #expect(object.remove("x") == nil)
        #expect(object.map(\.name) == ["b", "c"])
        #expect(!object.contains("a"))
    }

    @Test("a name given twice keeps its place and takes the last value")
    func twice() {
        #expect(JSONObject([("a", 1), ("b", 2), ("a", 3)]).members.map(\.value) == [3, 2])
    }

    @Test("equality and hash ignore the order of members, small and large", arguments: [3, 16, 17, 500])
    func equality(count: Int) {
        let members = (0..<count).map { ("n\($0)", JSONValue.number(JSONNumber(Int64($0)))) }
        let forward = JSONObject(members)
        let backward = JSONObject(members.reversed())
        #expect(forward == backward)
        #expect(forward.hashValue == backward.hashValue)
        var other = backward
        other["n1"] = "x"
        #expect(forward != other)
        other["n1"] = nil
        #expect(forward != other)
        other["new"] = 1
        #expect(forward != other)
    }

    @Test("finds members while growing and shrinking past the point where it starts an index")
    func growing() {
        var object = JSONObject()
        for index in 0..<40 { object["k\(index)"] = .number(JSONNumber(Int64(index))) }
        for index in stride(from: 0, to: 40, by: 2) { object["k\(index)"] = nil }
        for index in 0..<40 { #expect(object["k\(index)"]?.int64Value == (index % 2 == 0 ? nil : Int64(index))) }
        for index in stride(from: 1, to: 33, by: 2) { object["k\(index)"] = nil }
        #expect(object.keys == ["k33", "k35", "k37", "k39"])
        #expect(object["k35"] == 35)
        #expect(object.filter { $0.name > "k35" }.keys == ["k37", "k39"])
        #expect(object.mapValues { _ in 0 }["k39"] == 0)
    }

    @Test("compares strings by code point, not by normal form")
    func codePoints() {
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(JSONValue.array(["a"]) != ["b"])
        let object: JSONObject = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(object.count == 2)
        #expect(object["e\u{301}"] == 2)
    }

    @Test("numbers in values are equal by value")
    func numbers() throws {
        #expect(try parse("{\"a\":[1.0,2e0]}") == ["a": [1, 2]])
        #expect(Set([try parse("1.0"), 1, try parse("10e-1")]).count == 1)
    }

    @Test("literals, accessors and subscripts")
    func access() {
        let value: JSONValue = ["a": [1, "x", true, nil], "o": ["b": 2]]
        #expect(value["a"]?[0]?.int64Value == 1)
        #expect(value["a"]?[1]?.stringValue == "x")
        #expect(value["a"]?[2]?.boolValue == true)
        #expect(value["a"]?[3]?.isNull == true)
        #expect(value["a"]?[4] == nil)
        #expect(value["a"]?[-1] == nil)
        #expect(value["a"]?["b"] == nil)
        #expect(value["o"]?["b"]?.numberValue?.text == "2")
        #expect(value["a"]?.arrayValue?.map(\.typeName) == ["number", "string", "boolean", "null"])
    }
}
