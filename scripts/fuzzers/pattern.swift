// SPDX-License-Identifier: Apache-2.0

// Fuzzes what a hostile schema can hold: regular expressions and keywords of any form. scripts/fuzz compiles it together with
// the sources of ExactJSON into one module.
#if canImport(ExactJSON)
    import ExactJSON
#endif

/// Takes any bytes as an expression and a text, parted by a line break, and as a schema. Whatever compiles has to judge
/// texts in bounded time (libFuzzer ends what takes longer than 10 seconds), and its two ways to judge have to agree.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPattern(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let source = String(decoding: parts[0].prefix(400), as: UTF8.self)
    let text = parts.count > 1 ? String(decoding: parts[1].prefix(400), as: UTF8.self) : source
    do {
        let pattern = try Pattern(source)
        for text in [text, source, "", String(repeating: "a", count: 200)] {
            precondition(pattern.matches(text) == pattern.follows(text), "the table and the automaton disagree")
        }
    } catch {
        precondition(error.column >= 1 && !error.message.isEmpty, "a fault without a place or advice")
    }
    guard let value = try? JSONValue(parsing: bytes) else { return 0 }
    do {
        let schema = try JSONSchema(value, assertsFormats: true)
        // What a schema costs that applies itself in many branches is its author's choice: see JSONSchema.
        let written = value.serialized()
        let refers = written.indices.contains { written[$0...].starts(with: Array("ef\"".utf8)) }
        if refers { return 0 }
        for instance in [value, .string(text), .array([value, .null, 1]), .object(["a": value, "": .string(text)])] {
            precondition(schema.isValid(instance) == schema.validate(instance, limit: 20).isEmpty, "two verdicts")
        }
    } catch {
        precondition(!error.message.isEmpty && !error.location.isEmpty, "a fault without a place or advice")
    }
    return 0
}
