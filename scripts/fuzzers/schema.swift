// SPDX-License-Identifier: Apache-2.0

// Fuzzes the checks of a document and the JSON Schema validator against each other; scripts/fuzz compiles it together with
// the sources of OrderModel into one module, on top of ExactJSON.
import ExactJSON
import FoundationEssentials

#if canImport(OrderModel)
    import OrderModel
#endif

private enum Oracle {
    static let schema: JSONSchema? = try? JSONSchema(OrderSchema.json, assertsFormats: true)

    /// A good order, from the folder that scripts/fuzz runs in.
    static let order: JSONValue? = FileManager.default.contents(atPath: "scripts/benchmarks/order.json")
        .flatMap { try? JSONValue(parsing: [UInt8]($0)) }

    /// Both have to agree whether the document's shape is right.
    static func judge(_ order: JSONValue) {
        guard let schema else { preconditionFailure("the schema does not compile") }
        let (document, findings) = OrderDocument.validate(order)
        precondition((document == nil) == findings.contains { $0.isError }, "an error and a document, or neither")
        let shaped = !findings.contains { $0.isError && !OrderSchema.ruleCodes.contains($0.code) }
        precondition(schema.isValid(order) == shaped, "the checks and the schema disagree")
        precondition(schema.validate(order).isEmpty == shaped, "faults of a valid document, or none of a bad one")
        guard let document else { return }
        let (again, _) = OrderDocument.validate(text: document.packageForm())
        precondition(again?.packageForm() == document.packageForm(), "the package holds another order")
    }

    /// The value with its leaf of a number replaced.
    static func replaced(_ value: JSONValue, _ leaf: inout Int, _ new: JSONValue) -> JSONValue {
        switch value {
        case .object(let object): return .object(object.mapValues { replaced($0, &leaf, new) })
        case .array(let elements): return .array(elements.map { replaced($0, &leaf, new) })
        default:
            leaf -= 1
            return leaf == -1 ? new : value
        }
    }
}

/// Takes any bytes three ways: as a document, as the value of a leaf in a good order, and as the text of one. The first
/// byte names the leaf.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSchema(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    if let order = try? JSONValue(parsing: bytes) { Oracle.judge(order) }
    guard let order = Oracle.order, let first = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    var values: [JSONValue] = []
    if let value = try? JSONValue(parsing: rest) { values.append(value) }
    if let text = String(validating: rest, as: UTF8.self) { values.append(.string(text)) }
    for value in values {
        var leaf = Int(first)
        Oracle.judge(Oracle.replaced(order, &leaf, value))
    }
    return 0
}
