// SPDX-License-Identifier: Apache-2.0

/// The meta-schemas of draft 2020-12 (https://json-schema.org/draft/2020-12/schema and its vocabularies), for schemas
/// that refer to them. Only what they assert is kept: titles and comments are left out.
enum MetaSchema {
    /// The draft's own URI, as `$schema` names it.
    static let uri = "https://json-schema.org/draft/2020-12/schema"

    private static let base = "https://json-schema.org/draft/2020-12/"

    /// The meta-schema of a URI; nil when it is none of these.
    static func document(uri: String) -> JSONValue? {
        guard uri.beginsExactly(with: base),
            let (name, body) = bodies.first(where: { uri.utf8.dropFirst(base.utf8.count).elementsEqual($0.key.utf8) })
        else { return nil }
        let vocabularies = name == "schema" ? all : [String(name.dropFirst("meta/".count))]
        guard case .object(let members)? = try? JSONValue(parsing: Array(body.utf8)) else { return nil }
        var document: JSONObject = [
            "$schema": .string(Self.uri),
            "$id": .string(uri),
            "$vocabulary": .object(JSONObject(vocabularies.map { (base + "vocab/" + $0, .bool(true)) })),
            "$dynamicAnchor": "meta",
            "type": ["object", "boolean"],
        ]
        for (keyword, value) in members { document[keyword] = value }
        return .object(document)
    }

    private static let all = [
        "core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content",
    ]

    private static let bodies: [String: String] = [
        "schema": #"""
        {
          "allOf": [
            {"$ref": "meta/core"}, {"$ref": "meta/applicator"}, {"$ref": "meta/unevaluated"},
            {"$ref": "meta/validation"}, {"$ref": "meta/meta-data"}, {"$ref": "meta/format-annotation"},
            {"$ref": "meta/content"}
          ],
          "properties": {
            "definitions": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}},
            "dependencies": {
              "type": "object",
              "additionalProperties": {
                "anyOf": [{"$dynamicRef": "#meta"}, {"$ref": "meta/validation#/$defs/stringArray"}]
              }
            },
            "$recursiveAnchor": {"$ref": "meta/core#/$defs/anchorString"},
            "$recursiveRef": {"$ref": "meta/core#/$defs/uriReferenceString"}
          }
        }
        """#,
        "meta/core": #"""
        {
          "properties": {
            "$id": {"$ref": "#/$defs/uriReferenceString", "pattern": "^[^#]*#?$"},
            "$schema": {"$ref": "#/$defs/uriString"},
            "$ref": {"$ref": "#/$defs/uriReferenceString"},
            "$anchor": {"$ref": "#/$defs/anchorString"},
            "$dynamicRef": {"$ref": "#/$defs/uriReferenceString"},
            "$dynamicAnchor": {"$ref": "#/$defs/anchorString"},
            "$vocabulary": {
              "type": "object",
              "propertyNames": {"$ref": "#/$defs/uriString"},
              "additionalProperties": {"type": "boolean"}
            },
            "$comment": {"type": "string"},
            "$defs": {"type": "object", "additionalProperties": {"$dynamicRef": "#meta"}}
          },
          "$defs": {
            "anchorString": {"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"},
            "uriString": {"type": "string", "format": "uri"},
            "uriReferenceString": {"type": "string", "format": "uri-reference"}
          }
        }
        """#,
        "meta/applicator": #"""
        {
          "properties": {
            "prefixItems": {"$ref": "#/$defs/schemaArray"},
            "items": {"$dynamicRef": "#meta"},
            "contains": {"$dynamicRef": "#meta"},
            "additionalProperties": {"$dynamicRef": "#meta"},
            "properties": {
              "type": "object", "additionalProperties": {"$dynamicRef": "#meta"}, "default": {}
            },
            "patternProperties": {
              "type": "object", "additionalProperties": {"$dynamicRef": "#meta"},
              "propertyNames": {"format": "regex"}, "default": {}
            },
            "dependentSchemas": {
              "type": "object", "additionalProperties": {"$dynamicRef": "#meta"}, "default": {}
            },
            "propertyNames": {"$dynamicRef": "#meta"},
            "if": {"$dynamicRef": "#meta"},
            "then": {"$dynamicRef": "#meta"},
            "else": {"$dynamicRef": "#meta"},
            "allOf": {"$ref": "#/$defs/schemaArray"},
            "anyOf": {"$ref": "#/$defs/schemaArray"},
            "oneOf": {"$ref": "#/$defs/schemaArray"},
            "not": {"$dynamicRef": "#meta"}
          },
          "$defs": {
            "schemaArray": {"type": "array", "minItems": 1, "items": {"$dynamicRef": "#meta"}}
          }
        }
        """#,
        "meta/unevaluated": #"""
        {
          "properties": {
            "unevaluatedItems": {"$dynamicRef": "#meta"},
            "unevaluatedProperties": {"$dynamicRef": "#meta"}
          }
        }
        """#,
        "meta/validation": #"""
        {
          "properties": {
            "type": {
              "anyOf": [
                {"$ref": "#/$defs/simpleTypes"},
                {"type": "array", "items": {"$ref": "#/$defs/simpleTypes"}, "minItems": 1, "uniqueItems": true}
              ]
            },
            "const": true,
            "enum": {"type": "array", "items": true},
            "multipleOf": {"type": "number", "exclusiveMinimum": 0},
            "maximum": {"type": "number"},
            "exclusiveMaximum": {"type": "number"},
            "minimum": {"type": "number"},
            "exclusiveMinimum": {"type": "number"},
            "maxLength": {"$ref": "#/$defs/nonNegativeInteger"},
            "minLength": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
            "pattern": {"type": "string", "format": "regex"},
            "maxItems": {"$ref": "#/$defs/nonNegativeInteger"},
            "minItems": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
            "uniqueItems": {"type": "boolean", "default": false},
            "maxContains": {"$ref": "#/$defs/nonNegativeInteger"},
            "minContains": {"$ref": "#/$defs/nonNegativeInteger", "default": 1},
            "maxProperties": {"$ref": "#/$defs/nonNegativeInteger"},
            "minProperties": {"$ref": "#/$defs/nonNegativeIntegerDefault0"},
            "required": {"$ref": "#/$defs/stringArray"},
            "dependentRequired": {"type": "object", "additionalProperties": {"$ref": "#/$defs/stringArray"}}
          },
          "$defs": {
            "nonNegativeInteger": {"type": "integer", "minimum": 0},
            "nonNegativeIntegerDefault0": {"$ref": "#/$defs/nonNegativeInteger", "default": 0},
            "simpleTypes": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
            "stringArray": {
              "type": "array", "items": {"type": "string"}, "uniqueItems": true, "default": []
            }
          }
        }
        """#,
        "meta/meta-data": #"""
        {
          "properties": {
            "title": {"type": "string"},
            "description": {"type": "string"},
            "default": true,
            "deprecated": {"type": "boolean", "default": false},
            "readOnly": {"type": "boolean", "default": false},
            "writeOnly": {"type": "boolean", "default": false},
            "examples": {"type": "array", "items": true}
          }
        }
        """#,
        "meta/format-annotation": #"{"properties": {"format": {"type": "string"}}}"#,
        "meta/format-assertion": #"{"properties": {"format": {"type": "string"}}}"#,
        "meta/content": #"""
        {
          "properties": {
            "contentEncoding": {"type": "string"},
            "contentMediaType": {"type": "string"},
            "contentSchema": {"$dynamicRef": "#meta"}
          }
        }
        """#,
    ]
}
