// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import ExactJSON

@Suite("Schema")
struct JSONSchemaTests {
    static let order: JSONValue = [
        "$id": "https://example.com/order",
        "type": "object",
        "required": ["status", "total"],
        "properties": [
            "status": ["enum": ["open", "completed"]],
            "total": ["type": "number", "minimum": 0, "multipleOf": .number(JSONNumber("0.01") ?? JSONNumber(1))],
            "createdAt": ["type": "string", "format": "date-time"],
            "items": ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/item"]],
        ],
        "additionalProperties": false,
        "$defs": ["item": ["type": "object", "required": ["title"], "properties": ["title": ["minLength": 1]]]],
    ]

    @Test("reports all faults in one pass, with places in the value and in the schema")
    func allFaults() throws {
        let schema = try JSONSchema(Self.order, assertsFormats: true)
        let value = try parse(
            #"{"status":"done","createdAt":"yesterday","items":[{"title":""},{},3],"extra":1,"total":19.999}"#
        )
        let faults = schema.validate(value)
        let found = Set(faults.map { "\($0.instance) \($0.keyword)" })
        #expect(
            found == [
                "/status enum", "/createdAt format", "/items/0/title minLength", "/items/1/title required",
                "/items/2 type", "/extra additionalProperties", "/total multipleOf",
            ]
        )
        let missing = try #require(faults.first { $0.keyword == "required" })
        #expect(missing.schemaLocation == "https://example.com/order#/$defs/item/required")
        #expect(missing.details["member"] == "title")
        #expect(missing.message == "The member \"title\" is missing; write it.")
        #expect(!schema.isValid(value))
        #expect(schema.validate(try parse(#"{"status":"open","total":19.99}"#)).isEmpty)
    }

    @Test("formats are remarks unless asked for")
    func formats() throws {
        #expect(try JSONSchema(["format": "ipv4"]).isValid("x"))
        #expect(try !JSONSchema(["format": "ipv4"], assertsFormats: true).isValid("x"))
    }

    @Test("tells why each alternative does not fit")
    func causes() throws {
        let schema = try JSONSchema(["anyOf": [["type": "string"], ["minimum": 5]]])
        let fault = try #require(schema.validate(3).first)
        #expect(fault.keyword == "anyOf")
        #expect(fault.causes.map(\.keyword) == ["type", "minimum"])
        #expect(fault.causes.map(\.schemaLocation) == ["#/anyOf/0/type", "#/anyOf/1/minimum"])
        let one = try JSONSchema(["oneOf": [["type": "number"], ["minimum": 2]]])
        #expect(one.validate(3).first?.details["fitting"] == [0, 1])
        #expect(one.isValid(1))
    }

    @Test("compares numbers exactly")
    func exact() throws {
        let schema = try JSONSchema(try parse(#"{"maximum":9007199254740992,"multipleOf":0.01}"#))
        #expect(schema.isValid(try parse("9007199254740992")))
        #expect(!schema.isValid(try parse("9007199254740993")))
        #expect(schema.isValid(try parse("0.29")))
        #expect(!schema.isValid(try parse("1e1000000000")))
        #expect(schema.isValid(try parse("-1e1000000000")))
    }

    @Test("stops collecting at the limit")
    func limit() throws {
        let schema = try JSONSchema(["items": ["anyOf": [["type": "string"], ["type": "null"]]]])
        let value = JSONValue.array([JSONValue](repeating: 1, count: 100_000))
        let faults = schema.validate(value, limit: 10)
        #expect(faults.count <= 10 && !faults.isEmpty)
        #expect(!schema.validate(value, limit: 1).isEmpty)
    }

    @Test("follows references into given resources and never elsewhere")
    func references() throws {
        let resources: [String: JSONValue] = [
            "https://example.com/money": ["$anchor": "amount", "type": "string", "pattern": "^\\d+\\.\\d\\d$"]
        ]
        let schema = try JSONSchema(
            ["$id": "https://example.com/a/b", "properties": ["x": ["$ref": "../money#amount"]]],
            resources: resources
        )
        #expect(schema.isValid(["x": "19.99"]))
        #expect(!schema.isValid(["x": "19.9"]))
        let error = #expect(throws: JSONSchemaError.self) {
            try JSONSchema(["$ref": "https://example.com/other"], resources: resources)
        }
        #expect(error?.code == .unresolvedReference)
        #expect(error?.location == "#/$ref")
    }

    @Test("a schema that only refers to itself ends with a fault, not with the stack")
    func endless() throws {
        let schema = try JSONSchema(["$ref": "#"])
        #expect(!schema.isValid(1))
        #expect(schema.validate(1).count == 1)
        let circle = try JSONSchema([
            "$defs": ["a": ["allOf": [["$ref": "#/$defs/b"]]], "b": ["not": ["$ref": "#/$defs/a"]]],
            "$ref": "#/$defs/a",
        ])
        _ = circle.validate(1)
    }

    @Test(
        "refuses a schema that is wrong, and says where",
        arguments: [
            (#"{"type":"strin"}"#, JSONSchemaError.Code.malformedKeyword, "#/type"),
            (#"{"type":[]}"#, .malformedKeyword, "#/type"),
            (#"{"properties":{"a":{"minLength":-1}}}"#, .malformedKeyword, "#/properties/a/minLength"),
            (#"{"properties":{"a":5}}"#, .malformedKeyword, "#/properties/a"),
            (#"{"multipleOf":0}"#, .malformedKeyword, "#/multipleOf"),
            (#"{"allOf":[]}"#, .malformedKeyword, "#/allOf"),
            (#"{"required":["a","a"]}"#, .malformedKeyword, "#/required"),
            (#"{"uniqueItems":1}"#, .malformedKeyword, "#/uniqueItems"),
            (#"{"pattern":"(a"}"#, .badPattern, "#/pattern"),
            (#"{"patternProperties":{"[":{}}}"#, .badPattern, "#/patternProperties"),
            (##"{"$ref":"#/nowhere"}"##, .unresolvedReference, "#/$ref"),
            (##"{"$ref":"#nowhere"}"##, .unresolvedReference, "#/$ref"),
            (#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#, .unsupportedDialect, "#/$schema"),
            ("7", .malformedKeyword, "#"),
        ]
    )
    func wrong(text: String, code: JSONSchemaError.Code, location: String) throws {
        let value = try parse(text)
        let error = #expect(throws: JSONSchemaError.self) { try JSONSchema(value) }
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.location == location, "\(String(describing: error))")
    }

    @Test("the meta-schema is at hand and takes itself")
    func metaSchema() throws {
        let schema = try JSONSchema(["$ref": "https://json-schema.org/draft/2020-12/schema"])
        #expect(schema.validate(try #require(MetaSchema.document(uri: MetaSchema.uri))).isEmpty)
        #expect(schema.validate(Self.order).isEmpty)
        #expect(
            schema.validate(["properties": ["a": ["minLength": "x"]]]).map(\.instance.description)
                == ["/properties/a/minLength"]
        )
    }

    @Test("finds equal elements and large enumerations in linear time")
    func linear() throws {
        let unique = try JSONSchema(["uniqueItems": true])
        let many = (0..<100_000).map { JSONValue.number(JSONNumber(Int64($0))) }
        #expect(unique.isValid(.array(many)))
        let fault = unique.validate(.array(many + [JSONValue.number(JSONNumber("5.0") ?? JSONNumber(0))])).first
        #expect(fault?.instance.description == "/100000")
        #expect(fault?.details["equals"] == 5)
        let growth = Patience.growth { scale in #expect(unique.isValid(.array(Array(many[..<(5_000 * scale)])))) }
        let values = try JSONSchema(["items": ["enum": .array(many)]])
        let lookUps = Patience.growth { scale in #expect(values.isValid(.array(Array(many[..<(5_000 * scale)])))) }
        #expect(growth < 9 && lookUps < 9)
    }
}

@Suite("URI reference")
struct URIReferenceTests {
    @Test(
        "resolves as RFC 3986 section 5.4 says",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"), ("./g/.", "http://a/b/c/g/"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
        ]
    )
    func resolution(reference: String, expected: String) {
        let base = URIReference("http://a/b/c/d;p?q")
        #expect(base.resolving(URIReference(reference)).text == expected)
    }
}
