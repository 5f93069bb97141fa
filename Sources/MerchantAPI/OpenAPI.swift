// SPDX-License-Identifier: Apache-2.0
package import ExactJSON

/// The merchant API as an OpenAPI 3.1 document: routes, scopes, answers. What an order and an event look like is Apple's to
/// say, so their schemas are open objects.
package enum OpenAPI {
    /// One route.
    struct Operation: Sendable {
        let method: String
        let path: String
        /// The route's name in metrics and logs.
        let name: String
        let summary: String
        let scope: String
        let body: String?
        let status: String
        /// Parameters of the query.
        var query: [String] = []
    }

    private static let order = "/api/v1/orders/{type}/{order}"
    private static let type = "/api/v1/order-types/{type}"
    private static let json = "application/json"
    private static let any = "*/*"
    private static let filters = [
        "type", "status", "fulfillmentStatus", "updatedSince", "orderNumber", "registered", "limit", "cursor",
    ]

    static let operations: [Operation] = [
        write("post", "/api/v1/orders", "create-order", "Create an order.", json, "201", ["validateOnly"]),
        read("get", "/api/v1/orders", "list-orders", "A page of orders.", filters),
        read("get", order, "get-order", "An order's document, without its token."),
        write("patch", order, "patch-order", "Merge a patch (RFC 7396) into an order.", json, "200", ["validateOnly"]),
        write("put", order, "put-order", "Replace an order's document.", json, "200", ["validateOnly"]),
        write("delete", order, "erase-order", "Erase an order's personal data.", nil, "204"),
        write("post", order + "/events", "post-event", "Apply one change.", json, "200", ["validateOnly"]),
        write("post", "/api/v1/events", "post-events", "Apply changes of many orders.", json, "200", ["validateOnly"]),
        read("get", order + "/handoff", "get-handoff", "The four values of the hand-off."),
        read("get", order + "/package", "get-package", "The signed package."),
        read("get", order + "/history", "get-history", "What happened to an order."),
        write("post", order + "/share-links", "create-share-link", "Make a link to the .order file.", json, "201"),
        write("delete", order + "/share-links/{link}", "revoke-share-link", "Revoke a link.", nil, "204"),
        write("put", order + "/assets/{path}", "put-order-asset", "Store a file of an order.", any, "200"),
        read("get", order + "/assets/{path}", "get-order-asset", "A file of an order."),
        write("delete", order + "/assets/{path}", "delete-order-asset", "Remove a file of an order.", nil, "200"),
        write("put", order + "/localizations/{locale}", "put-order-strings", "Store texts of an order.", json, "200"),
        read("get", order + "/localizations/{locale}", "get-order-strings", "Texts of an order."),
        write("delete", order + "/localizations/{locale}", "delete-order-strings", "Remove texts.", nil, "200"),
        admin("put", type + "/assets/{path}", "put-type-asset", "Store a file that orders of a type share.", any),
        read("get", type + "/assets/{path}", "get-type-asset", "A file that orders of a type share."),
        admin("delete", type + "/assets/{path}", "delete-type-asset", "Remove a shared file.", nil, "204"),
        admin("put", type + "/localizations/{locale}", "put-type-strings", "Store shared texts.", json),
        read("get", type + "/localizations/{locale}", "get-type-strings", "Shared texts."),
        admin("delete", type + "/localizations/{locale}", "delete-type-strings", "Remove shared texts.", nil, "204"),
        admin("post", type + "/refresh", "refresh-type", "Roll what they share out to open orders.", nil, "202"),
    ]

    private static func read(
        _ method: String,
        _ path: String,
        _ name: String,
        _ summary: String,
        _ query: [String] = []
    ) -> Operation {
        Operation(
            method: method,
            path: path,
            name: name,
            summary: summary,
            scope: "orders:read",
            body: nil,
            status: "200",
            query: query
        )
    }

    private static func write(
        _ method: String,
        _ path: String,
        _ name: String,
        _ summary: String,
        _ body: String?,
        _ status: String,
        _ query: [String] = []
    ) -> Operation {
        Operation(
            method: method,
            path: path,
            name: name,
            summary: summary,
            scope: "orders:write",
            body: body,
            status: status,
            query: query
        )
    }

    private static func admin(
        _ method: String,
        _ path: String,
        _ name: String,
        _ summary: String,
        _ body: String?,
        _ status: String = "200"
    ) -> Operation {
        Operation(
            method: method,
            path: path,
            name: name,
            summary: summary,
            scope: "admin",
            body: body,
            status: status
        )
    }

    /// The document.
    ///
    /// - Parameter version: the program's.
    package static func document(version: String) -> JSONValue {
        var paths = JSONObject()
        for operation in self.operations {
            var path = paths[operation.path]?.objectValue ?? JSONObject()
            path[operation.method] = self.describe(operation)
            paths[operation.path] = .object(path)
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "walletorders merchant API", "version": .string(version),
                "summary": "Creates Wallet orders and keeps them up to date on customers' devices.",
            ],
            "servers": [["url": "http://127.0.0.1:8081"]], "security": [["key": []]], "paths": .object(paths),
            "components": [
                "securitySchemes": ["key": ["type": "http", "scheme": "bearer", "bearerFormat": "wok_<id>_<secret>"]],
                "responses": [
                    "Problem": [
                        "description": "A problem document (RFC 9457).",
                        "content": [
                            "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]
                        ],
                    ]
                ],
                "schemas": ["Problem": self.problem, "Finding": self.finding],
            ],
        ]
    }

    private static func describe(_ operation: Operation) -> JSONValue {
        var parameters: [JSONValue] = operation.path.split(separator: "{").dropFirst().map { piece in
            let name = String(piece.prefix { $0 != "}" })
            return ["name": .string(name), "in": "path", "required": true, "schema": ["type": "string"]]
        }
        parameters += operation.query.map { name in
            ["name": .string(name), "in": "query", "schema": ["type": "string"]]
        }
        if operation.method == "post" {
            parameters.append(["name": "Idempotency-Key", "in": "header", "schema": ["type": "string"]])
        }
        var value: JSONObject = [
            "operationId": .string(operation.name),
            "summary": .string(operation.summary),
            "description": .string("Needs the scope \(operation.scope)."),
        ]
        if !parameters.isEmpty { value["parameters"] = .array(parameters) }
        if let body = operation.body {
            let schema: JSONValue = body == self.json ? ["type": "object"] : ["type": "string", "format": "binary"]
            value["requestBody"] = ["content": .object([body: ["schema": schema]])]
        }
        value["responses"] = .object([
            operation.status: ["description": "Done."], "default": ["$ref": "#/components/responses/Problem"],
        ])
        return .object(value)
    }

    private static let problem: JSONValue = [
        "type": "object", "required": ["title", "status", "code"],
        "properties": [
            "title": ["type": "string"], "status": ["type": "integer"], "code": ["type": "string"],
            "detail": ["type": "string"], "requestId": ["type": "string"],
            "errors": ["type": "array", "items": ["$ref": "#/components/schemas/Finding"]],
        ],
    ]

    private static let finding: JSONValue = [
        "type": "object", "required": ["severity", "code", "message"],
        "properties": [
            "severity": ["enum": ["error", "warning", "note"]], "code": ["type": "string"],
            "pointer": ["type": "string"], "path": ["type": "string"], "message": ["type": "string"],
            "fix": ["type": "string"],
        ],
    ]
}
