// SPDX-License-Identifier: Apache-2.0

// Fuzzes the JSON parser and writer. Compiled together with the sources of ExactJSON into one module:
//   swiftc -package-name walletorders -sanitize=fuzzer,address -parse-as-library $(find Sources/ExactJSON -name '*.swift') scripts/fuzzers/json.swift
#if canImport(ExactJSON)
    import ExactJSON
#endif

/// Parses any bytes. What parses must come back equal from each style of writing, and a second writing must give
/// the same bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let value: JSONValue
    do {
        value = try JSONValue(parsing: bytes)
    } catch {
        precondition(error.line >= 1 && error.column >= 1, "a fault without a place")
        precondition(error.offset >= 0 && error.offset <= bytes.count, "a fault outside the text")
        precondition(!error.message.isEmpty, "a fault without advice")
        return 0
    }
    for style in [JSONStyle.compact, .pretty, .canonical] {
        let written = value.serialized(style)
        guard let again = try? JSONValue(parsing: written) else {
            preconditionFailure("what was written does not parse")
        }
        precondition(again == value, "written and parsed again, the value differs")
        precondition(again.hashValue == value.hashValue, "equal values with different hashes")
        precondition(again.serialized(style) == written, "writing is not stable")
    }
    return 0
}
