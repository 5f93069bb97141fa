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
        /// The body's media types, with the name of a schema or nil for bytes.
        var bodies: [(type: String, schema: String?)] = []
        /// The statuses of success, with the name of the answer's schema, or nil for none.
        let answers: [(status: String, schema: String?)]
        /// The media type of answers without a schema; nil when they have no body.
        var answerType: String?
        /// Parameters of the query.
        var query: [String] = []
        /// The switches that it heeds.
        var switches = Switches()
    }

    private static let order = "/api/v1/orders/{type}/{order}"
    private static let type = "/api/v1/order-types/{type}"
    static let operations: [Operation] = [
        write("post", "/api/v1/orders", "create-order", "Create an order.", "CreatedOrder", "201", .dryRun) {
            $0.bodies = [("application/json", "NewOrder"), ("multipart/form-data", "NewOrderForm")]
        },
        read("/api/v1/orders", "list-orders", "A page of orders.", "OrderPage", query: MerchantAPI.filters),
        read(order, "get-order", "An order's document, without its token.", "ShownOrder"),
        write("patch", order, "patch-order", "Merge a patch (RFC 7396) into an order.", "Change", "200", .revision) {
            $0.bodies = [("application/merge-patch+json", "Order"), ("application/json", "Order")]
        },
        write("put", order, "put-order", "Replace an order's document.", "Change", "200", .revision) {
            $0.bodies = [("application/json", "Order")]
        },
        write("delete", order, "erase-order", "Erase an order's personal data.", nil, "204", .revision),
        write("post", order + "/events", "post-event", "Apply one change.", "EventAnswer", "200", .revision) {
            $0.bodies = [("application/json", "Event")]
        },
        write("post", "/api/v1/events", "post-events", "Apply changes of many orders.", "Results", "200", .revision) {
            $0.bodies = [("application/json", "Events")]
        },
        read(order + "/handoff", "get-handoff", "The four values of the hand-off.", "Handoff"),
        read(
            order + "/package",
            "get-package",
            "The signed package.",
            nil,
            type: "application/vnd.apple.finance.order"
        ),
        read(order + "/history", "get-history", "What happened to an order.", "History"),
        write("post", order + "/share-links", "create-share-link", "Make a link to the .order file.", "Link", "201") {
            $0.bodies = [("application/json", "LinkWish")]
        },
        write("delete", order + "/share-links/{link}", "revoke-share-link", "Revoke a link.", nil, "204"),
        write("put", order + filePath, "put-order-asset", "Store a file of an order.", "Change", "200", .revision) {
            $0.bodies = [("*/*", nil)]
        },
        read(order + filePath, "get-order-asset", "A file of an order.", nil, type: "*/*"),
        write(
            "delete",
            order + filePath,
            "delete-order-asset",
            "Remove a file of an order.",
            "Change",
            "200",
            .revision
        ),
        write("put", order + textsPath, "put-order-strings", "Store texts of an order.", "Change", "200", .revision) {
            $0.bodies = [("application/json", "Texts")]
        },
        read(order + textsPath, "get-order-strings", "Texts of an order.", "Texts"),
        write("delete", order + textsPath, "delete-order-strings", "Remove texts.", "Change", "200", .revision),
        admin("put", type + filePath, "put-type-asset", "Store a file that orders of a type share.", "TypeFile") {
            $0.bodies = [("*/*", nil)]
            $0.switches = .file
        },
        read(type + filePath, "get-type-asset", "A file that orders of a type share.", nil, type: "*/*"),
        admin("delete", type + filePath, "delete-type-asset", "Remove a shared file.", nil, "204") {
            $0.switches = .present
        },
        admin("put", type + textsPath, "put-type-strings", "Store shared texts.", "TypeTexts") {
            $0.bodies = [("application/json", "Texts")]
        },
        read(type + textsPath, "get-type-strings", "Shared texts.", "Texts"),
        admin("delete", type + textsPath, "delete-type-strings", "Remove shared texts.", nil, "204"),
        admin("post", type + "/refresh", "refresh-type", "Roll what they share out to open orders.", "Refresh", "202"),
    ]

    private static let filePath = "/assets/{path}"
    private static let textsPath = "/localizations/{locale}"

    private static func read(
        _ path: String,
        _ name: String,
        _ summary: String,
        _ schema: String?,
        type: String? = nil,
        query: [String] = []
    ) -> Operation {
        Operation(
            method: "get",
            path: path,
            name: name,
            summary: summary,
            scope: "orders:read",
            answers: [("200", schema)],
            answerType: type,
            query: query
        )
    }

    private static func write(
        _ method: String,
        _ path: String,
        _ name: String,
        _ summary: String,
        _ schema: String?,
        _ status: String,
        _ switches: Switches = .noSwitch,
        _ change: (inout Operation) -> Void = { _ in }
    ) -> Operation {
        // A dry run creates nothing.
        let isDry = switches.dryRun && status == "201"
        let dry: [(status: String, schema: String?)] = isDry ? [("200", "TriedOrder")] : []
        var operation = Operation(
            method: method,
            path: path,
            name: name,
            summary: summary,
            scope: "orders:write",
            answers: dry + [(status, schema)],
            switches: switches
        )
        change(&operation)
        return operation
    }

    private static func admin(
        _ method: String,
        _ path: String,
        _ name: String,
        _ summary: String,
        _ schema: String?,
        _ status: String = "200",
        _ change: (inout Operation) -> Void = { _ in }
    ) -> Operation {
        var operation = Operation(
            method: method,
            path: path,
            name: name,
            summary: summary,
            scope: "admin",
            answers: [(status, schema)]
        )
        change(&operation)
        return operation
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
                "headers": self.headers,
                "responses": [
                    "Problem": ["description": "A problem document (RFC 9457).", "content": self.problem],
                    "TooManyRequests": [
                        "description": "The key asks too often (rate-limited), or the order changes too often.",
                        "headers": self.fields(["Retry-After"] + self.limitFields), "content": self.problem,
                    ],
                ],
                "schemas": .object(self.schemas),
            ],
        ]
    }

    private static func describe(_ operation: Operation) -> JSONValue {
        var value: JSONObject = [
            "operationId": .string(operation.name),
            "summary": .string(operation.summary),
            "description": .string(
                "Needs the scope \(operation.scope)\(operation.scope == "admin" ? "" : ", or admin, which includes it")."
            ),
            "parameters": .array(self.parameters(operation)),
        ]
        if !operation.bodies.isEmpty {
            let content = operation.bodies.map { ($0.type, self.media($0.schema)) }
            value["requestBody"] = ["content": .object(JSONObject(content))]
        }
        var responses: [(String, JSONValue)] = operation.answers.map { status, schema in
            var response: JSONObject = [
                "description": "Done.", "headers": self.fields(["Request-Id"] + self.limitFields),
            ]
            if schema != nil || operation.answerType != nil {
                let type = operation.answerType ?? "application/json"
                response["content"] = .object([type: self.media(schema)])
            }
            return (status, .object(response))
        }
        responses.append(("429", ["$ref": "#/components/responses/TooManyRequests"]))
        responses.append(("default", ["$ref": "#/components/responses/Problem"]))
        value["responses"] = .object(JSONObject(responses))
        return .object(value)
    }

    private static let problem: JSONValue = [
        "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]
    ]

    /// What an answer says of the key's limit; absent when there is none.
    private static let limitFields = ["RateLimit-Policy", "RateLimit"]

    /// The fields of answers, by name.
    private static let headers: JSONValue = [
        "Request-Id": ["schema": ["type": "string"], "description": "The caller's, or one of the server's own."],
        "Retry-After": ["schema": ["type": "integer", "minimum": 1], "description": "Seconds to wait."],
        "RateLimit-Policy": [
            "schema": ["type": "string"],
            "description": "The limit of the key: \"merchant-key\";q=requests;w=seconds.",
        ],
        "RateLimit": [
            "schema": ["type": "string"],
            "description": "What is left of it, to be spread over t seconds: \"merchant-key\";r=requests;t=seconds.",
        ],
    ]

    private static func fields(_ names: [String]) -> JSONValue {
        .object(JSONObject(names.map { ($0, ["$ref": .string("#/components/headers/" + $0)]) }))
    }

    private static func media(_ schema: String?) -> JSONValue {
        guard let schema else { return ["schema": ["type": "string", "format": "binary"]] }
        return ["schema": ["$ref": .string("#/components/schemas/" + schema)]]
    }

    private static func parameters(_ operation: Operation) -> [JSONValue] {
        func parameter(_ name: String, _ place: String, _ about: String? = nil) -> JSONObject {
            var value: JSONObject = ["name": .string(name), "in": .string(place), "schema": ["type": "string"]]
            if let about { value["description"] = .string(about) }
            return value
        }
        var parameters = operation.path.split(separator: "{").dropFirst().map { piece in
            let name = String(piece.prefix { $0 != "}" })
            let about = "A file's name, or <locale>.lproj/ and a name; the slash may be sent as %2F."
            var value = parameter(name, "path", name == "path" ? about : nil)
            value["required"] = true
            return value
        }
        parameters += operation.query.map { parameter($0, "query") }
        if operation.switches.dryRun {
            var value = parameter("validateOnly", "query", "Answers in full and stores nothing.")
            value["schema"] = ["enum": ["true", "false"]]
            parameters.append(value)
        }
        if operation.switches.ifMatch {
            parameters.append(parameter("If-Match", "header", "Does nothing unless this is the present ETag."))
        }
        if operation.switches.ifNoneMatch {
            parameters.append(parameter("If-None-Match", "header", "With *: does nothing when there is a file."))
        }
        if operation.method == "get",
            // short: names of ours.
            ["get-order", "get-package"].contains(operation.name) || operation.answerType == "*/*"
        {
            parameters.append(parameter("If-None-Match", "header", "304 when this is the present ETag."))
        }
        if operation.method == "post" { parameters.append(parameter("Idempotency-Key", "header")) }
        parameters.append(parameter("Request-Id", "header", "Given back, and written into logs."))
        return parameters.map { .object($0) }
    }
}
