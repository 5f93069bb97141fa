// SPDX-License-Identifier: Apache-2.0

extension SchemaEvaluation {
    mutating func check(
        _ object: JSONObject,
        _ value: JSONValue,
        _ rules: SchemaNode.ObjectRules,
        _ node: SchemaNode,
        _ parts: EvaluatedParts?
    ) -> Bool {
        var valid = true
        if let limit = rules.minimumCount, object.count < limit {
            report(
                node,
                "minProperties",
                "Write at least \(Self.plural(limit, "member")); there are \(object.count).",
                Self.figures(limit, object.count)
            )
            valid = false
        }
        if let limit = rules.maximumCount, object.count > limit {
            report(
                node,
                "maxProperties",
                "Write at most \(Self.plural(limit, "member")); there are \(object.count).",
                Self.figures(limit, object.count)
            )
            valid = false
        }
        for name in rules.required where !object.contains(name) {
            report(
                node,
                "required",
                "The member \(JSONParser.quoted(name)) is missing; write it.",
                ["member": .string(name)],
                member: name
            )
            valid = false
        }
        for (name, required) in rules.dependentRequired where object.contains(name) {
            for other in required where !object.contains(other) {
                report(
                    node,
                    "dependentRequired",
                    "With \(JSONParser.quoted(name)), the member \(JSONParser.quoted(other)) is needed too; write it.",
                    ["member": .string(other), "with": .string(name)],
                    member: other
                )
                valid = false
            }
        }
        guard valid || collecting else { return false }
        if rules.looksAtMembers, !checkMembers(object, rules, node, parts) { valid = false }
        guard valid || collecting else { return false }
        for (name, schema) in rules.dependentSchemas where object.contains(name) {
            if !evaluate(schema, value, parts) { valid = false }
        }
        return valid
    }

    private mutating func checkMembers(
        _ object: JSONObject,
        _ rules: SchemaNode.ObjectRules,
        _ node: SchemaNode,
        _ parts: EvaluatedParts?
    ) -> Bool {
        var valid = true
        for index in object.members.indices {
            let (name, member) = object.members[index]
            var known = false
            if let schema = rules.properties.isEmpty ? nil : rules.properties[ExactKey(name)] {
                known = true
                if !apply(schema, member, at: .name(name), node, "properties") { valid = false }
            }
            for (pattern, schema) in rules.patterns where pattern.matches(name) {
                known = true
                if !apply(schema, member, at: .name(name), node, "patternProperties") { valid = false }
            }
            if !known, let schema = rules.additional {
                known = true
                if !apply(schema, member, at: .name(name), node, "additionalProperties") { valid = false }
            }
            if known { parts?.mark(index) }
            if let schema = rules.names, !apply(schema, .string(name), at: .name(name), node, "propertyNames") {
                valid = false
            }
            guard valid || collecting else { return false }
        }
        return valid
    }
}
