// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ExactJSON

@Suite("Merge patch")
struct JSONMergePatchTests {
    @Test(
        "does what RFC 7396 appendix A says",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
            (#"{"a":"foo"}"#, #"null"#, #"null"#),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ]
    )
    func appendix(target: String, patch: String, result: String) throws {
        let patched = try parse(target).mergePatched(with: parse(patch))
        #expect(String(decoding: patched.serialized(), as: UTF8.self) == result)
    }

    @Test("keeps places, appends what is new, and takes linear time")
    func order() throws {
        let patched = try parse(#"{"a":1,"b":2,"c":3}"#).mergePatched(with: parse(#"{"d":4,"b":null,"a":9}"#))
        #expect(patched.description == #"{"a":9,"c":3,"d":4}"#)
        let growth = Patience.growth { scale in
            let many = JSONValue.object(JSONObject((0..<5_000 * scale).map { ("k\($0)", 1) }))
            let removal = JSONValue.object(JSONObject((0..<5_000 * scale).map { ("k\($0)", nil) }))
            #expect(many.mergePatched(with: removal) == [:])
        }
        #expect(growth < 9)
    }
}
