// SPDX-License-Identifier: Apache-2.0

extension SchemaEvaluation {
    mutating func check(_ number: JSONNumber, _ rules: SchemaNode.NumberRules, _ node: SchemaNode) -> Bool {
        var valid = true
        func figures(_ limit: JSONNumber) -> JSONObject { ["limit": .number(limit)] }
        if let limit = rules.minimum, number < limit {
            report(node, "minimum", "Write a number of at least \(limit).", figures(limit))
            valid = false
        }
        if let limit = rules.maximum, limit < number {
            report(node, "maximum", "Write a number of at most \(limit).", figures(limit))
            valid = false
        }
        if let limit = rules.exclusiveMinimum, !(limit < number) {
            report(node, "exclusiveMinimum", "Write a number above \(limit).", figures(limit))
            valid = false
        }
        if let limit = rules.exclusiveMaximum, !(number < limit) {
            report(node, "exclusiveMaximum", "Write a number below \(limit).", figures(limit))
            valid = false
        }
        if let divisor = rules.multipleOf, !number.isMultiple(of: divisor) {
            report(node, "multipleOf", "Write a whole multiple of \(divisor).", ["divisor": .number(divisor)])
            valid = false
        }
        return valid
    }

    mutating func check(_ text: String, _ rules: SchemaNode.StringRules, _ node: SchemaNode) -> Bool {
        var valid = true
        // A character takes one to four bytes: most texts need no counting.
        let bytes = text.utf8.count
        if bytes / 4 < rules.minimumLength ?? 0 || bytes > rules.maximumLength ?? .max {
            let length = ExactText.length(text)
            if let limit = rules.minimumLength, length < limit {
                report(
                    node,
                    "minLength",
                    "Write at least \(Self.plural(limit, "character")); there are \(length).",
                    Self.figures(limit, length)
                )
                valid = false
            }
            if let limit = rules.maximumLength, length > limit {
                report(
                    node,
                    "maxLength",
                    "Write at most \(Self.plural(limit, "character")); there are \(length).",
                    Self.figures(limit, length)
                )
                valid = false
            }
        }
        if let pattern = rules.pattern, !pattern.matches(text) {
            report(
                node,
                "pattern",
                "Write a text that matches \(pattern.source).",
                ["pattern": .string(pattern.source)]
            )
            valid = false
        }
        if let format = rules.format, !format.matches(text) {
            report(node, "format", format.advice, ["format": .string(format.rawValue)])
            valid = false
        }
        return valid
    }
}
