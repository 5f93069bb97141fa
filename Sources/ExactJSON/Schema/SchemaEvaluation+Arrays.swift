// SPDX-License-Identifier: Apache-2.0

extension SchemaEvaluation {
    mutating func check(
        _ elements: [JSONValue],
        _ rules: SchemaNode.ArrayRules,
        _ node: SchemaNode,
        _ parts: EvaluatedParts?
    ) -> Bool {
        var valid = true
        if let limit = rules.minimumCount, elements.count < limit {
            report(
                node,
                "minItems",
                "Write at least \(Self.plural(limit, "element")); there are \(elements.count).",
                Self.figures(limit, elements.count)
            )
            valid = false
        }
        if let limit = rules.maximumCount, elements.count > limit {
            report(
                node,
                "maxItems",
                "Write at most \(Self.plural(limit, "element")); there are \(elements.count).",
                Self.figures(limit, elements.count)
            )
            valid = false
        }
        if rules.isUnique, !checkUnique(elements, node) { valid = false }
        guard valid || collecting else { return false }
        for index in elements.indices {
            let inPrefix = index < rules.prefix.count
            guard let schema = inPrefix ? rules.prefix[index] : rules.items else { break }
            parts?.mark(index)
            if !apply(schema, elements[index], at: .index(index), node, inPrefix ? "prefixItems" : "items") {
                valid = false
                guard collecting else { return false }
            }
        }
        if let schema = rules.contains, !checkContains(elements, schema, rules, node, parts) { valid = false }
        return valid
    }

    private mutating func checkUnique(_ elements: [JSONValue], _ node: SchemaNode) -> Bool {
        var first: [JSONValue: Int] = [:]
        for (index, element) in elements.enumerated() {
            if let earlier = first.updateValue(index, forKey: element) {
                report(
                    node,
                    "uniqueItems",
                    "This element is equal to element \(earlier); keep one of them.",
                    ["equals": .number(JSONNumber(Int64(earlier)))],
                    member: String(index)
                )
                return false
            }
        }
        return true
    }

    private mutating func checkContains(
        _ elements: [JSONValue],
        _ schema: Int,
        _ rules: SchemaNode.ArrayRules,
        _ node: SchemaNode,
        _ parts: EvaluatedParts?
    ) -> Bool {
        let least = rules.minimumContains ?? 1
        var count = 0
        for index in elements.indices where fits(schema, elements[index], nil) {
            count += 1
            parts?.mark(index)
            // Without a need for marks or an upper bound the answer is known early.
            if parts == nil, rules.maximumContains == nil, count >= least { return true }
        }
        if count < least {
            report(
                node,
                rules.minimumContains == nil ? "contains" : "minContains",
                "At least \(Self.plural(least, "element")) must fit the schema in contains; \(count) do.",
                Self.figures(least, count)
            )
            return false
        }
        if let most = rules.maximumContains, count > most {
            report(
                node,
                "maxContains",
                "At most \(Self.plural(most, "element")) may fit the schema in contains; \(count) do.",
                Self.figures(most, count)
            )
            return false
        }
        return true
    }
}
