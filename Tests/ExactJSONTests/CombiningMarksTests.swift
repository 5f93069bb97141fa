// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ExactJSON

/// Swift's own comparison of texts sorts each run of combining marks first, in the square of its length.
@Suite struct CombiningMarksTests {
    /// 200 KB; one comparison by Swift's `==` takes some seconds.
    private static let marks = "a" + String(repeating: "\u{301}\u{323}", count: 50_000)

    @Test func `the parts of a schema may be one`() throws {
        let text = JSONValue.string(Self.marks)
        let schemas: [JSONValue] = [
            ["$id": text], ["$anchor": text, "$ref": .string("#" + Self.marks)], ["$schema": text], ["$ref": text],
            ["$ref": .string("/" + Self.marks)], ["type": text], ["format": text], ["pattern": text],
            ["pattern": .string("\\p{\(Self.marks)}")], ["enum": [text]], ["required": [text]],
            .object([Self.marks: 1]), ["properties": .object([Self.marks: true])],
            ["$dynamicAnchor": text, "items": ["$dynamicRef": .string("#" + Self.marks)]],
        ]
        var compiledCount = 0
        for schema in schemas {
            let time = Patience.processorTime {
                guard let compiled = try? JSONSchema(schema, assertsFormats: true) else { return }
                compiledCount += 1
                let faults = compiled.validate(.object([Self.marks: text])) + compiled.validate(text)
                #expect(faults == faults && Set(faults).count <= faults.count)
            }
            #expect(time < .seconds(2) * Patience.factor, "\(schema.objectValue?.keys.first ?? "")")
        }
        #expect(compiledCount > 5)
    }
}
