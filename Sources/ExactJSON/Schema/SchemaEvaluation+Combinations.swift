// SPDX-License-Identifier: Apache-2.0

extension SchemaEvaluation {
    mutating func check(
        _ value: JSONValue,
        _ rules: SchemaNode.Combinations,
        _ node: SchemaNode,
        _ parts: EvaluatedParts?
    ) -> Bool {
        var valid = true
        if let schema = rules.reference, !evaluate(schema, value, parts) { valid = false }
        guard valid || collecting else { return false }
        if let (schema, anchor) = rules.dynamicReference, !evaluate(target(schema, anchor), value, parts) {
            valid = false
        }
        for schema in rules.all {
            guard valid || collecting else { return false }
            if !evaluate(schema, value, parts) { valid = false }
        }
        guard valid || collecting else { return false }
        if !rules.any.isEmpty, !checkAny(value, rules.any, node, parts) { valid = false }
        guard valid || collecting else { return false }
        if !rules.one.isEmpty, !checkOne(value, rules.one, node, parts) { valid = false }
        guard valid || collecting else { return false }
        if let schema = rules.not, fits(schema, value, nil) {
            report(node, "not", "The value is of a form that is excluded here; write another.")
            valid = false
        }
        guard let condition = rules.condition, valid || collecting else { return valid }
        let holds = speculate(parts) { evaluation, parts in evaluation.fits(condition, value, parts) }
        if let schema = holds ? rules.then : rules.otherwise, !evaluate(schema, value, parts) { valid = false }
        return valid
    }

    /// Where a dynamic reference leads: the outermost resource entered that has the anchor (Core, section 8.2.3.2).
    private func target(_ schema: Int, _ anchor: String?) -> Int {
        guard let anchor else { return schema }
        for resource in scope {
            if let position = dynamicAnchors[resource][ExactKey(anchor)] { return position }
        }
        return schema
    }

    /// Runs a check whose marks count only if it succeeds.
    private mutating func speculate(
        _ parts: EvaluatedParts?,
        _ body: (inout SchemaEvaluation, EvaluatedParts?) -> Bool
    ) -> Bool {
        guard let parts else { return body(&self, nil) }
        let own = EvaluatedParts(count: parts.marks.count)
        guard body(&self, own) else { return false }
        parts.merge(own)
        return true
    }

    private mutating func checkAny(
        _ value: JSONValue,
        _ schemas: [Int],
        _ node: SchemaNode,
        _ parts: EvaluatedParts?
    ) -> Bool {
        let before = faults
        let roomBefore = room
        let collectingBefore = collecting
        faults = []
        var valid = false
        for schema in schemas {
            if speculate(parts, { evaluation, parts in evaluation.evaluate(schema, value, parts) }) {
                valid = true
                // Each alternative counts for what is unevaluated.
                if parts == nil { break }
            }
        }
        let causes = faults
        faults = before
        collecting = collectingBefore
        if valid {
            room = roomBefore
        } else {
            report(node, "anyOf", "The value fits none of \(schemas.count) forms.", causes: causes)
        }
        return valid
    }

    private mutating func checkOne(
        _ value: JSONValue,
        _ schemas: [Int],
        _ node: SchemaNode,
        _ parts: EvaluatedParts?
    ) -> Bool {
        let before = faults
        let roomBefore = room
        let collectingBefore = collecting
        faults = []
        var fitting: [Int] = []
        for (index, schema) in schemas.enumerated() {
            if speculate(parts, { evaluation, parts in evaluation.evaluate(schema, value, parts) }) {
                fitting.append(index)
                if fitting.count == 2, !collectingBefore { break }
            }
        }
        let causes = faults
        faults = before
        collecting = collectingBefore
        if fitting.count == 1 {
            room = roomBefore
            return true
        }
        if fitting.isEmpty {
            report(node, "oneOf", "The value fits none of \(schemas.count) forms.", causes: causes)
        } else {
            room = roomBefore
            report(
                node,
                "oneOf",
                "The value fits \(fitting.count) forms where it must fit one.",
                ["fitting": .array(fitting.map { .number(JSONNumber(Int64($0))) })]
            )
        }
        return false
    }
}
