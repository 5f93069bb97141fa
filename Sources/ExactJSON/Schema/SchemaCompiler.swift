// SPDX-License-Identifier: Apache-2.0

/// Turns schemas into nodes, starting at one and going on to whatever it refers to.
struct SchemaCompiler {
    /// Which groups of keywords count, by the vocabularies of a resource's meta-schema (Core, section 8.1).
    private struct Dialect {
        var applies = true
        var unevaluated = true
        var validates = true
        var assertsFormats: Bool
    }

    private var registry = SchemaRegistry()
    private let given: [String: JSONValue]
    private let assertsFormats: Bool
    private var nodes: [SchemaNode?] = []
    private var positions: [SchemaPlace: Int] = [:]
    private var pending: [(position: Int, place: SchemaPlace)] = []
    /// The resources of which some schema is compiled: only these can come into the dynamic scope.
    private var used: Set<Int> = []
    private var dialects: [Int: Dialect] = [:]
    private var usesDynamicReferences = false

    init(resources: [String: JSONValue], assertsFormats: Bool) {
        given = resources
        self.assertsFormats = assertsFormats
    }

    /// The nodes, once compiled.
    var finished: [SchemaNode] { nodes.compactMap(\.self) }

    /// For each resource, the nodes of its dynamic anchors.
    private(set) var dynamicAnchors: [[ExactKey: Int]] = []

    /// Compiles a schema and everything it can reach. Returns its position.
    mutating func compile(_ schema: JSONValue) throws(JSONSchemaError) -> Int {
        let root = registry.add(schema, uri: "")
        for (uri, document) in given.sorted(by: { ExactText.precedes($0.key, $1.key) }) {
            registry.add(document, uri: uri)
        }
        let position = node(root)
        while true {
            while let next = pending.popLast() { nodes[next.position] = try build(next.place) }
            // A dynamic reference may lead to a dynamic anchor of any resource in use.
            guard usesDynamicReferences else { break }
            for resource in used {
                for place in registry.resources[resource].dynamicAnchors.values { _ = node(place) }
            }
            if pending.isEmpty { break }
        }
        dynamicAnchors = registry.resources.map { resource in
            resource.dynamicAnchors.compactMapValues { positions[$0] }
        }
        return position
    }

    /// The position of the node for a place, compiled later.
    mutating func node(_ place: SchemaPlace) -> Int {
        if let known = positions[place] { return known }
        let position = nodes.count
        nodes.append(nil)
        positions[place] = position
        used.insert(registry.owner(of: place))
        pending.append((position, place))
        return position
    }

    private mutating func dialect(_ resource: Int) throws(JSONSchemaError) -> Dialect {
        if let known = dialects[resource] { return known }
        var dialect = Dialect(assertsFormats: assertsFormats)
        let place = registry.resources[resource].root
        if let uri = registry.value(at: place)?["$schema"]?.stringValue,
            !uri.isExactly(oneOf: [MetaSchema.uri, MetaSchema.uri + "#"])
        {
            guard let vocabularies = registry.document(uri: uri)?["$vocabulary"]?.objectValue else {
                throw JSONSchemaError(
                    code: .unsupportedDialect,
                    location: registry.location(of: place) + "/$schema",
                    message:
                        "The schema is written for \(uri); write it for \(MetaSchema.uri), or give its meta-schema "
                        + "as a resource."
                )
            }
            func has(_ name: String) -> Bool {
                vocabularies.contains("https://json-schema.org/draft/2020-12/vocab/" + name)
            }
            dialect.applies = has("applicator")
            dialect.unevaluated = has("unevaluated")
            dialect.validates = has("validation")
            dialect.assertsFormats = assertsFormats || has("format-assertion")
        }
        dialects[resource] = dialect
        return dialect
    }

    private mutating func build(_ place: SchemaPlace) throws(JSONSchemaError) -> SchemaNode {
        let resource = registry.owner(of: place)
        let location = registry.location(of: place)
        let members: JSONObject
        switch registry.value(at: place) {
        case .bool(let constant)?: return SchemaNode(constant: constant, resource: resource, location: location)
        case .object(let object)?: members = object
        default:
            throw JSONSchemaError(
                code: .malformedKeyword,
                location: location,
                message: "A schema is an object, true or false."
            )
        }
        let dialect = try dialect(resource)
        var reader = SchemaKeywords(members: members, location: location)
        let combinations = try combinations(&reader, place, applies: dialect.applies)
        let arrays = try arrays(&reader, place, dialect)
        let objects = try objects(&reader, place, dialect)
        return SchemaNode(
            constant: nil,
            resource: resource,
            location: location,
            types: dialect.validates ? try reader.types() : nil,
            allowed: dialect.validates ? try reader.allowed() : nil,
            numbers: dialect.validates ? try reader.numbers() : nil,
            strings: try reader.strings(validates: dialect.validates, assertsFormats: dialect.assertsFormats),
            arrays: arrays,
            objects: objects,
            combinations: combinations,
            unevaluatedItems: dialect.unevaluated ? child("unevaluatedItems", &reader, place) : nil,
            unevaluatedProperties: dialect.unevaluated ? child("unevaluatedProperties", &reader, place) : nil
        )
    }

    /// The node of a keyword that holds one schema.
    private mutating func child(_ keyword: String, _ reader: inout SchemaKeywords, _ place: SchemaPlace) -> Int? {
        reader.members.contains(keyword) ? node(place.appending(keyword)) : nil
    }

    /// The nodes of a keyword that holds a list of schemas.
    private mutating func children(
        _ keyword: String,
        _ reader: inout SchemaKeywords,
        _ place: SchemaPlace
    ) throws(JSONSchemaError) -> [Int] {
        guard let value = reader.members[keyword] else { return [] }
        guard let elements = value.arrayValue, !elements.isEmpty else {
            throw reader.malformed(keyword, "a list of at least one schema")
        }
        return elements.indices.map { node(place.appending(keyword, String($0))) }
    }

    /// The nodes of a keyword that holds schemas by name.
    private mutating func named(
        _ keyword: String,
        _ reader: inout SchemaKeywords,
        _ place: SchemaPlace
    ) throws(JSONSchemaError) -> [(name: String, schema: Int)] {
        guard let value = reader.members[keyword] else { return [] }
        guard let object = value.objectValue else { throw reader.malformed(keyword, "an object of schemas") }
        return object.keys.map { ($0, node(place.appending(keyword, $0))) }
    }

    private mutating func combinations(
        _ reader: inout SchemaKeywords,
        _ place: SchemaPlace,
        applies: Bool
    ) throws(JSONSchemaError) -> SchemaNode.Combinations? {
        let keywords = ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"]
        guard keywords.contains(where: { reader.members.contains($0) }) else { return nil }
        var result = SchemaNode.Combinations()
        if let reference = try reader.text("$ref") {
            result.reference = node(try registry.resolve(reference, from: place, keyword: "$ref").place)
        }
        if let reference = try reader.text("$dynamicRef") {
            let target = try registry.resolve(reference, from: place, keyword: "$dynamicRef")
            result.dynamicReference = (node(target.place), target.dynamicAnchor)
            usesDynamicReferences = true
        }
        guard applies else { return result }
        result.all = try children("allOf", &reader, place)
        result.any = try children("anyOf", &reader, place)
        result.one = try children("oneOf", &reader, place)
        result.not = child("not", &reader, place)
        result.condition = child("if", &reader, place)
        if result.condition != nil {
            result.then = child("then", &reader, place)
            result.otherwise = child("else", &reader, place)
        }
        return result
    }

    private mutating func arrays(
        _ reader: inout SchemaKeywords,
        _ place: SchemaPlace,
        _ dialect: Dialect
    ) throws(JSONSchemaError) -> SchemaNode.ArrayRules? {
        let keywords = ["prefixItems", "items", "contains", "minItems", "maxItems", "uniqueItems"]
        guard keywords.contains(where: { reader.members.contains($0) }) else { return nil }
        var rules = SchemaNode.ArrayRules()
        if dialect.applies {
            rules.prefix = try children("prefixItems", &reader, place)
            rules.items = child("items", &reader, place)
            rules.contains = child("contains", &reader, place)
        }
        if dialect.validates {
            rules.minimumCount = try reader.count("minItems")
            rules.maximumCount = try reader.count("maxItems")
            rules.minimumContains = try reader.count("minContains")
            rules.maximumContains = try reader.count("maxContains")
            rules.isUnique = try reader.flag("uniqueItems")
        }
        return rules
    }

    private mutating func objects(
        _ reader: inout SchemaKeywords,
        _ place: SchemaPlace,
        _ dialect: Dialect
    ) throws(JSONSchemaError) -> SchemaNode.ObjectRules? {
        let keywords = [
            "properties", "patternProperties", "additionalProperties", "propertyNames", "required", "dependentRequired",
            "dependentSchemas", "minProperties", "maxProperties",
        ]
        guard keywords.contains(where: { reader.members.contains($0) }) else { return nil }
        var rules = SchemaNode.ObjectRules()
        if dialect.applies {
            for (name, schema) in try named("properties", &reader, place) { rules.properties[ExactKey(name)] = schema }
            for (source, schema) in try named("patternProperties", &reader, place) {
                rules.patterns.append((try reader.pattern(source, "patternProperties"), schema))
            }
            rules.additional = child("additionalProperties", &reader, place)
            rules.names = child("propertyNames", &reader, place)
            rules.dependentSchemas = try named("dependentSchemas", &reader, place)
        }
        if dialect.validates {
            rules.required = try reader.names("required")
            rules.dependentRequired = try reader.dependentRequired()
            rules.minimumCount = try reader.count("minProperties")
            rules.maximumCount = try reader.count("maxProperties")
        }
        return rules
    }
}
