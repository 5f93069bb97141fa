// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

@Suite("Header fields")
struct HTTPFieldsTests {
    @Test("names are found whatever their case")
    func caseInsensitive() {
        var fields = HTTPFields()
        fields.append("Content-Type", "text/plain")
        #expect(fields["content-type"] == "text/plain")
        #expect(fields["CONTENT-TYPE"] == "text/plain")
        #expect(fields.map(\.name) == ["content-type"])
    }

    @Test("lines of a list field are joined, of a single field the first counts")
    func joining() {
        var fields = HTTPFields()
        fields.append("accept", "a")
        fields.append("accept", "b")
        fields.append("authorization", "first")
        fields.append("authorization", "second")
        #expect(fields["accept"] == "a, b")
        #expect(fields["authorization"] == "first")
        #expect(fields.all("authorization") == ["first", "second"])
        #expect(fields.tokens("Accept") == ["a", "b"])
    }

    @Test("setting replaces every line, nil removes them")
    func setting() {
        var fields: HTTPFields = ["a": "1", "b": "2", "a": "3"]
        fields["A"] = "4"
        #expect(fields.map(\.name) == ["a", "b"])
        #expect(fields["a"] == "4")
        fields["b"] = nil
        #expect(!fields.contains("b"))
    }

    @Test(
        "a value can never end its line",
        arguments: ["a\r\nset-cookie: x", "a\nb", "a\u{0}b", "a\rb", " a ", "\ta\u{7F}", "\r\n"]
    )
    func injection(value: String) {
        var fields = HTTPFields()
        fields.append("x", value)
        fields["y"] = value
        for field in fields {
            #expect(field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
            #expect(!field.value.hasPrefix(" ") && !field.value.hasSuffix(" "))
        }
        #expect(fields.count == 2)
    }

    @Test("the quick look at a value sees a control character wherever it stands, and nothing else")
    func quickLook() {
        var misjudged: [String] = []
        for filler: UInt8 in [0x20, 0x61, 0x7E, 0x80, 0xFF] {
            for count in 0...17 {
                var bytes = [UInt8](repeating: filler, count: count)
                for place in bytes.indices {
                    for byte in UInt8.min...UInt8.max {
                        bytes[place] = byte
                        let isPlain = unsafe bytes.withUnsafeBufferPointer { unsafe HTTP1Bytes.isPlain($0) }
                        if isPlain != (byte >= 0x20 && byte != 0x7F) {
                            misjudged.append("\(byte) at \(place) of \(count), else \(filler)")
                        }
                    }
                    bytes[place] = filler
                }
            }
        }
        #expect(misjudged.isEmpty)
        let fields: HTTPFields = ["x": "ein\tlängerer Wert"]
        #expect(fields["x"] == "ein\tlängerer Wert")
    }

    @Test("a name that is no token is not taken", arguments: ["", "a b", "a:", "a\r\n", "ä", "(a)", "a\u{0}"])
    func badName(name: String) {
        var fields = HTTPFields()
        fields.append(name, "1")
        #expect(fields.isEmpty)
    }
}
