// SPDX-License-Identifier: Apache-2.0

/// Which elements or members of one value some schema has looked at, for `unevaluatedItems` and
/// `unevaluatedProperties` (Core, section 11).
final class EvaluatedParts {
    private(set) var marks: [Bool]

    init(count: Int) { marks = [Bool](repeating: false, count: count) }

    func mark(_ index: Int) { marks[index] = true }

    func merge(_ other: EvaluatedParts) {
        for index in marks.indices where other.marks[index] { marks[index] = true }
    }
}

/// One walk of a value through a compiled schema.
///
/// While `collecting`, every keyword is looked at and each fault is kept; otherwise the first fault ends the walk.
struct SchemaEvaluation {
    enum Step {
        case name(String)
        case index(Int)
    }

    let nodes: [SchemaNode]
    let dynamicAnchors: [[ExactKey: Int]]
    var faults: [JSONSchemaFault] = []
    var collecting: Bool
    var room: Int
    private var path: [Step] = []
    /// The schema resources entered, outermost first.
    private(set) var scope: [Int] = []
    private var depth = 0

    init(nodes: [SchemaNode], dynamicAnchors: [[ExactKey: Int]], collecting: Bool, limit: Int) {
        self.nodes = nodes
        self.dynamicAnchors = dynamicAnchors
        self.collecting = collecting && limit > 0
        room = limit
    }

    /// Checks a value against a node. What it looks at is noted in `outer`, if given.
    mutating func evaluate(_ position: Int, _ value: JSONValue, _ outer: EvaluatedParts?) -> Bool {
        let node = nodes[position]
        if let constant = node.constant {
            if !constant { report(node, "false", "Nothing may stand here; remove it.") }
            return constant
        }
        guard depth < JSONSchema.maximumDepth else {
            report(node, "$ref", "The value nests too deep for the schema, or the schema refers to itself without end.")
            return false
        }
        depth += 1
        let enters = scope.last != node.resource
        if enters { scope.append(node.resource) }
        defer {
            depth -= 1
            if enters { scope.removeLast() }
        }
        guard node.unevaluatedItems != nil || node.unevaluatedProperties != nil else {
            return checkKeywords(node, value, outer)
        }
        let count: Int
        switch value {
        case .array(let elements): count = elements.count
        case .object(let members): count = members.count
        default: return checkKeywords(node, value, outer)
        }
        let parts = EvaluatedParts(count: count)
        var valid = checkKeywords(node, value, parts)
        // After another fault, what has been looked at is not known for certain: reporting the rest would mislead.
        if valid { valid = checkUnevaluated(node, value, parts) }
        if valid { outer?.merge(parts) }
        return valid
    }

    private mutating func checkKeywords(_ node: SchemaNode, _ value: JSONValue, _ parts: EvaluatedParts?) -> Bool {
        var valid = true
        var typed = true
        if let types = node.types, !types.admits(value) {
            let names = types.names.map { $0 == "null" ? "null" : ("aeiou".contains($0.prefix(1)) ? "an " : "a ") + $0 }
            report(
                node,
                "type",
                "Write \(names.joined(separator: " or ")) here; this is \(value.typePhrase).",
                ["expected": .array(types.names.map { .string($0) }), "actual": .string(value.typeName)]
            )
            valid = false
            typed = false
        }
        if typed, let allowed = node.allowed, !allowed.contains(value) {
            report(node, allowed.keyword, Self.oneOf(allowed.values), ["allowed": .array(allowed.values)])
            valid = false
        }
        guard valid || collecting else { return false }
        switch value {
        case .number(let number):
            if let rules = node.numbers, !check(number, rules, node) { valid = false }
        case .string(let text):
            if let rules = node.strings, !check(text, rules, node) { valid = false }
        case .array(let elements):
            if let rules = node.arrays, !check(elements, rules, node, parts) { valid = false }
        case .object(let members):
            if let rules = node.objects, !check(members, value, rules, node, parts) { valid = false }
        case .null, .bool: break
        }
        guard valid || collecting else { return false }
        if let rules = node.combinations, !check(value, rules, node, parts) { valid = false }
        return valid
    }

    private static func oneOf(_ values: [JSONValue]) -> String {
        let texts = values.prefix(20).map(\.description)
        let more = values.count > 20 ? ", …" : ""
        return values.count == 1
            ? "Write \(texts[0])." : "Write one of \(texts.joined(separator: ", "))\(more)."
    }

    private mutating func checkUnevaluated(_ node: SchemaNode, _ value: JSONValue, _ parts: EvaluatedParts) -> Bool {
        var valid = true
        if case .array(let elements) = value, let schema = node.unevaluatedItems {
            for index in elements.indices where !parts.marks[index] {
                parts.mark(index)
                guard !apply(schema, elements[index], at: .index(index), node, "unevaluatedItems") else { continue }
                valid = false
                guard collecting else { return false }
            }
        }
        if case .object(let members) = value, let schema = node.unevaluatedProperties {
            for index in members.members.indices where !parts.marks[index] {
                parts.mark(index)
                let (name, member) = members.members[index]
                guard !apply(schema, member, at: .name(name), node, "unevaluatedProperties") else { continue }
                valid = false
                guard collecting else { return false }
            }
        }
        return valid
    }

    /// Keeps a fault at the current place, if faults are wanted.
    mutating func report(
        _ node: SchemaNode,
        _ keyword: String,
        _ message: @autoclosure () -> String,
        _ details: @autoclosure () -> JSONObject = [:],
        causes: [JSONSchemaFault] = [],
        member: String? = nil
    ) {
        guard collecting else { return }
        var tokens = path.map { step in
            switch step {
            case .name(let name): name
            case .index(let index): String(index)
            }
        }
        if let member { tokens.append(member) }
        faults.append(
            JSONSchemaFault(
                instance: JSONPointer(tokens: tokens),
                keyword: keyword,
                schemaLocation: node.location + "/" + keyword,
                message: message(),
                details: details(),
                causes: causes
            )
        )
        room -= 1
        if room <= 0 { collecting = false }
    }

    /// Checks a part of the current value; `false` as its schema is reported as the keyword's own fault.
    mutating func apply(
        _ schema: Int,
        _ value: JSONValue,
        at step: Step,
        _ node: SchemaNode,
        _ keyword: String
    ) -> Bool {
        path.append(step)
        defer { path.removeLast() }
        if nodes[schema].constant == false {
            switch step {
            case .name(let name):
                report(
                    node,
                    keyword,
                    "The member \(JSONParser.quoted(name)) is not known here; remove it.",
                    ["member": .string(name)]
                )
            case .index(let index):
                report(
                    node,
                    keyword,
                    "There is one element too many here; remove it.",
                    ["index": .number(JSONNumber(Int64(index)))]
                )
            }
            return false
        }
        return evaluate(schema, value, nil)
    }

    /// Whether a value fits a node, without keeping faults.
    mutating func fits(_ schema: Int, _ value: JSONValue, _ parts: EvaluatedParts?) -> Bool {
        let before = collecting
        collecting = false
        let result = evaluate(schema, value, parts)
        collecting = before
        return result
    }

    static func plural(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    static func figures(_ limit: Int, _ actual: Int) -> JSONObject {
        ["limit": .number(JSONNumber(Int64(limit))), "actual": .number(JSONNumber(Int64(actual)))]
    }
}
