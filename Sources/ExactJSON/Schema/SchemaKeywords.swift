// SPDX-License-Identifier: Apache-2.0

/// Reads the keywords of one schema object that hold no schemas, and checks their form.
struct SchemaKeywords {
    let members: JSONObject
    let location: String

    /// An error about a keyword's form.
    func malformed(_ keyword: String, _ wanted: String) -> JSONSchemaError {
        JSONSchemaError(
            code: .malformedKeyword,
            location: location + "/" + keyword,
            message: "\(keyword) takes \(wanted)."
        )
    }

    func text(_ keyword: String) throws(JSONSchemaError) -> String? {
        guard let value = members[keyword] else { return nil }
        guard let text = value.stringValue else { throw malformed(keyword, "a string") }
        return text
    }

    func flag(_ keyword: String) throws(JSONSchemaError) -> Bool {
        guard let value = members[keyword] else { return false }
        guard let flag = value.boolValue else { throw malformed(keyword, "true or false") }
        return flag
    }

    /// A whole number from 0.
    func count(_ keyword: String) throws(JSONSchemaError) -> Int? {
        guard let value = members[keyword] else { return nil }
        guard let count = value.int64Value, count >= 0 else { throw malformed(keyword, "a whole number from 0") }
        return Int(count)
    }

    private func number(_ keyword: String) throws(JSONSchemaError) -> JSONNumber? {
        guard let value = members[keyword] else { return nil }
        guard let number = value.numberValue else { throw malformed(keyword, "a number") }
        return number
    }

    /// A list of different names.
    func names(_ keyword: String) throws(JSONSchemaError) -> [String] {
        guard let value = members[keyword] else { return [] }
        return try names(value, keyword)
    }

    private func names(_ value: JSONValue, _ keyword: String) throws(JSONSchemaError) -> [String] {
        let names = value.arrayValue?.compactMap(\.stringValue)
        guard let names, names.count == value.arrayValue?.count, Set(names.map(ExactKey.init)).count == names.count
        else { throw malformed(keyword, "a list of different names") }
        return names
    }

    func dependentRequired() throws(JSONSchemaError) -> [(name: String, required: [String])] {
        guard let value = members["dependentRequired"] else { return [] }
        guard let object = value.objectValue else { throw malformed("dependentRequired", "lists of names by name") }
        var result: [(name: String, required: [String])] = []
        for (name, value) in object { result.append((name, try names(value, "dependentRequired"))) }
        return result
    }

    func types() throws(JSONSchemaError) -> SchemaNode.TypeSet? {
        guard let value = members["type"] else { return nil }
        let names = value.stringValue.map { [$0] } ?? value.arrayValue?.map { $0.stringValue ?? "" } ?? []
        var types: SchemaNode.TypeSet = []
        for name in names {
            guard let type = SchemaNode.TypeSet(name: name), !types.contains(type) else {
                throw malformed("type", "one of \(SchemaNode.TypeSet.names.joined(separator: ", ")), or a list of them")
            }
            types.insert(type)
        }
        guard !names.isEmpty else { throw malformed("type", "a name or a list of names") }
        return types
    }

    func allowed() throws(JSONSchemaError) -> SchemaNode.Allowed? {
        var values: [JSONValue]?
        var keyword = "const"
        if let constant = members["const"] { values = [constant] }
        if let list = members["enum"] {
            guard let list = list.arrayValue else { throw malformed("enum", "a list of values") }
            if let constant = values {
                values = list.filter { $0 == constant[0] }
            } else {
                values = list
                keyword = "enum"
            }
        }
        guard let values else { return nil }
        return SchemaNode.Allowed(keyword: keyword, values: values, set: values.count > 8 ? Set(values) : nil)
    }

    func numbers() throws(JSONSchemaError) -> SchemaNode.NumberRules? {
        let rules = SchemaNode.NumberRules(
            minimum: try number("minimum"),
            maximum: try number("maximum"),
            exclusiveMinimum: try number("exclusiveMinimum"),
            exclusiveMaximum: try number("exclusiveMaximum"),
            multipleOf: try number("multipleOf")
        )
        if let divisor = rules.multipleOf, divisor.isNegative || divisor.isZero {
            throw malformed("multipleOf", "a number above 0")
        }
        let none =
            rules.minimum == nil && rules.maximum == nil && rules.exclusiveMinimum == nil
            && rules.exclusiveMaximum == nil && rules.multipleOf == nil
        return none ? nil : rules
    }

    func strings(validates: Bool, assertsFormats: Bool) throws(JSONSchemaError) -> SchemaNode.StringRules? {
        var rules = SchemaNode.StringRules()
        if validates {
            rules.minimumLength = try count("minLength")
            rules.maximumLength = try count("maxLength")
            if let source = try text("pattern") { rules.pattern = try pattern(source, "pattern") }
        }
        if let format = try text("format"), assertsFormats { rules.format = TextFormat(exactly: format) }
        let none =
            rules.minimumLength == nil && rules.maximumLength == nil && rules.pattern == nil && rules.format == nil
        return none ? nil : rules
    }

    func pattern(_ source: String, _ keyword: String) throws(JSONSchemaError) -> Pattern {
        do {
            return try Pattern(source)
        } catch {
            throw JSONSchemaError(
                code: .badPattern,
                location: location + "/" + keyword,
                message: "In the pattern \(source), \(error)"
            )
        }
    }
}
