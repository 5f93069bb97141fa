// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON

/// What requests and answers look like.
extension OpenAPI {
    /// Each in a statement of its own: one literal of all would take the compiler minutes.
    internal static let schemas: JSONObject = {
        var schemas = JSONObject()
        schemas["Problem"] = object(
            ["title": text, "status": integer, "code": text],
            optional: [
                "detail": text, "requestId": text, "errors": list("Finding"), "warnings": list("Finding"),
                "order": text, "limit": text,
            ]
        )
        schemas["Finding"] = object(
            [
                "severity": ["enum": ["error", "warning", "note"]], "code": text, "message": text,
                "fix": orNull("string"),
            ],
            optional: ["pointer": text, "path": text, "line": integer, "column": integer]
        )
        schemas["Order"] = ["type": "object", "description": "Apple's Order, under Apple's names."]
        schemas["NewOrder"] = object(
            ["order": reference("Order")],
            optional: ["localizations": map(reference("Texts"))],
            isClosed: true
        )
        schemas["NewOrderForm"] = [
            "type": "object", "required": ["order"],
            "description": "The part order, and a part for each file, whose name is its path in the package.",
            "properties": ["order": reference("Order")],
            "additionalProperties": ["type": "string", "format": "binary"],
        ]
        schemas["Texts"] = map(text)
        schemas["OrderDetails"] = object([
            "orderTypeIdentifier": text, "orderIdentifier": text, "webServiceURL": text, "authenticationToken": text,
        ])
        schemas["CreatedOrder"] = answer([
            ("orderDetails", ["anyOf": [reference("OrderDetails"), ["type": "null"]]]),
            ("links", object(["self": text, "package": text, "history": text])), ("warnings", list("Finding")),
        ])
        // What a dry run says of an order that is not there.
        schemas["TriedOrder"] = object([
            "orderTypeIdentifier": text, "orderIdentifier": orNull("string"), "revision": integer, "updatedAt": text,
            "orderDetails": ["type": "null"], "links": ["type": "null"], "warnings": list("Finding"),
        ])
        schemas["ShownOrder"] = answer([("order", reference("Order"))])
        schemas["OrderPage"] = object([
            "orders": [
                "type": "array",
                "items": answer([
                    ("orderNumber", orNull("string")), ("status", text), ("fulfillmentStatuses", texts),
                    ("createdAt", text), ("self", text),
                ]),
            ],
            "cursor": orNull("string"),
        ])
        schemas["Change"] = answer([("changed", texts), ("warnings", list("Finding"))])
        schemas["Event"] = [
            "type": "object", "required": ["eventIdentifier"],
            "properties": [
                "eventIdentifier": text, "occurredAt": text, "orderTypeIdentifier": text, "orderIdentifier": text,
            ],
        ]
        schemas["Events"] = object(
            ["events": ["type": "array", "maxItems": 1_000, "items": reference("Event")]],
            isClosed: true
        )
        schemas["EventAnswer"] = object(
            [
                "eventIdentifier": text, "applied": boolean, "reason": text, "revision": integer, "updatedAt": text,
                "changed": texts, "duplicate": boolean,
            ],
            optional: ["errors": list("Finding")]
        )
        schemas["Results"] = object([
            "results": [
                "type": "array",
                "items": [
                    "anyOf": [
                        reference("EventAnswer"),
                        object(
                            [
                                "problem": object(
                                    ["status": integer, "code": text],
                                    optional: ["detail": text, "errors": list("Finding")]
                                )
                            ],
                            optional: ["eventIdentifier": text]
                        ),
                    ]
                ],
            ]
        ])
        schemas["Handoff"] = object(["orderDetails": reference("OrderDetails")])
        schemas["History"] = object(
            [
                "orderTypeIdentifier": text, "orderIdentifier": text, "revision": integer, "erased": boolean,
                "erasedAt": orNull("string"), "revisions": objects, "events": objects, "truncated": texts,
                "devices": objects, "reads": objects,
                "log": objects,
            ]
        )
        schemas["LinkWish"] = [
            "type": "object", "additionalProperties": false,
            "properties": ["lifetime": ["type": "integer", "minimum": 60, "maximum": 2_592_000]],
        ]
        schemas["Link"] = object(["identifier": text, "expiresAt": text, "url": orNull("string")])
        schemas["TypeFile"] = object(["path": text, "size": integer, "digest": text, "warnings": list("Finding")])
        schemas["TypeTexts"] = object(["locale": text, "texts": integer, "warnings": list("Finding")])
        schemas["Refresh"] = object(["orderTypeIdentifier": text, "started": boolean, "warnings": list("Finding")])
        return schemas
    }()

    private static let text: JSONValue = ["type": "string"]
    private static let integer: JSONValue = ["type": "integer"]
    private static let boolean: JSONValue = ["type": "boolean"]
    private static let texts: JSONValue = ["type": "array", "items": text]
    private static let objects: JSONValue = ["type": "array", "items": ["type": "object"]]
    /// What answers about one order begin with.
    private static let identity: [(String, JSONValue)] = [
        ("orderTypeIdentifier", text), ("orderIdentifier", text), ("revision", integer), ("updatedAt", text),
    ]

    private static func orNull(_ type: String) -> JSONValue { ["type": [.string(type), "null"]] }
    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/" + name)] }
    private static func list(_ name: String) -> JSONValue { ["type": "array", "items": reference(name)] }
    private static func map(_ value: JSONValue) -> JSONValue { ["type": "object", "additionalProperties": value] }

    /// What is said about one order: which it is, and more.
    private static func answer(_ more: [(String, JSONValue)]) -> JSONValue { object(JSONObject(identity + more)) }

    /// An object that has these members.
    ///
    /// - Parameter isClosed: whether others are refused. Answers may get more, in later versions.
    private static func object(
        _ required: JSONObject,
        optional: JSONObject = [:],
        isClosed: Bool = false
    ) -> JSONValue {
        var properties = required
        for member in optional { properties[member.name] = member.value }
        var schema: JSONObject = [
            "type": "object", "required": .array(required.keys.map { .string($0) }), "properties": .object(properties),
        ]
        if isClosed { schema["additionalProperties"] = false }
        return .object(schema)
    }
}
