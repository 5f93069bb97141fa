// SPDX-License-Identifier: Apache-2.0

/// A JSON Schema (draft 2020-12), compiled once and then used from any thread.
///
/// All references are resolved when it is made, from the schema, the given resources and the built-in meta-schemas;
/// nothing is ever fetched. Numbers are compared exactly. `pattern` takes linear time. What a schema that applies
/// itself in many branches costs is its author's choice; evaluation depth is bounded (``maximumDepth``).
public struct JSONSchema: Sendable {
    /// How many schemas may be open at once while a value is checked, one inside another.
    public static let maximumDepth = 600

    private let nodes: [SchemaNode]
    private let root: Int
    /// For each schema resource, its dynamic anchors.
    private let dynamicAnchors: [[ExactKey: Int]]

    /// Compiles a schema.
    ///
    /// - Parameters:
    ///   - value: The schema.
    ///   - resources: Other schemas that it may refer to, by their URI.
    ///   - assertsFormats: Whether `format` is checked. By the standard it is a remark only, unless the schema's own
    ///     meta-schema lists the format-assertion vocabulary.
    /// - Throws: The first fault in the schema: a keyword of the wrong form, a bad pattern, or a reference to
    ///   something that is not given.
    public init(
        _ value: JSONValue,
        resources: [String: JSONValue] = [:],
        assertsFormats: Bool = false
    ) throws(JSONSchemaError) {
        var compiler = SchemaCompiler(resources: resources, assertsFormats: assertsFormats)
        root = try compiler.compile(value)
        nodes = compiler.finished
        dynamicAnchors = compiler.dynamicAnchors
    }

    /// Checks a value and returns all its faults, none if it is valid. At most `limit` faults are returned.
    public func validate(_ value: JSONValue, limit: Int = 1_000) -> [JSONSchemaFault] {
        var evaluation = SchemaEvaluation(nodes: nodes, dynamicAnchors: dynamicAnchors, collecting: true, limit: limit)
        _ = evaluation.evaluate(root, value, nil)
        return evaluation.faults
    }

    /// Whether a value is valid. Stops at the first fault.
    public func isValid(_ value: JSONValue) -> Bool {
        var evaluation = SchemaEvaluation(nodes: nodes, dynamicAnchors: dynamicAnchors, collecting: false, limit: 0)
        return evaluation.evaluate(root, value, nil)
    }
}
