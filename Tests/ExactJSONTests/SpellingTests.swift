// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@Suite struct SpellingTests {
    @Test(arguments: [
        ("1.50", "1.5"), ("1", "1.0"), ("[1,2]", "[1,2.0]"), (#"{"a":1,"b":[{"c":10}]}"#, #"{"b":[{"c":1e1}],"a":1}"#),
    ])
    func `equal numbers in other digits are not spelled alike`(_ one: String, _ other: String) throws {
        let (one, other) = try (JSONValue(parsing: Array(one.utf8)), JSONValue(parsing: Array(other.utf8)))
        #expect(one == other && !one.isSpelled(as: other) && !other.isSpelled(as: one))
        #expect(one.isSpelled(as: one) && one.serialized(.canonical) != other.serialized(.canonical))
    }

    @Test(arguments: [
        (#"{"a":1.50,"b":[null,true,"x"]}"#, #"{"b":[null,true,"x"],"a":1.50}"#), ("[]", "[]"), (#""e""#, #""e""#),
    ])
    func `the sequence of members is no spelling`(_ one: String, _ other: String) throws {
        let (one, other) = try (JSONValue(parsing: Array(one.utf8)), JSONValue(parsing: Array(other.utf8)))
        #expect(one.isSpelled(as: other) && one.serialized(.canonical) == other.serialized(.canonical))
    }

    @Test(arguments: [
        ("1", "2"), ("1", #""1""#), ("[1]", "[1,1]"), ("[1]", "[2]"), (#"{"a":1}"#, #"{"a":1,"b":1}"#),
        (#"{"a":1}"#, #"{"b":1}"#), ("null", "false"), (#""a""#, #""b""#), (#""\u00e9""#, #""e\u0301""#),
    ])
    func `what differs is not spelled alike`(_ one: String, _ other: String) throws {
        let (one, other) = try (JSONValue(parsing: Array(one.utf8)), JSONValue(parsing: Array(other.utf8)))
        #expect(one != other && !one.isSpelled(as: other) && !other.isSpelled(as: one))
    }
}
