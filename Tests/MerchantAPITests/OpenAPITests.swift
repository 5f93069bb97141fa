// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

@testable import MerchantAPI

extension MerchantAPITests {
    @Suite("OpenAPI")
    struct OpenAPITests {
        @Test("tells of each route that the router has, under its name, and of no other")
        func routes() async throws {
            try await withShop { shop in
                let merchant = try await Merchant(shop)
                for operation in OpenAPI.operations {
                    let path = operation.path.split(separator: "{").enumerated().map { index, piece in
                        index == 0 ? String(piece) : "x" + piece.drop { $0 != "}" }.dropFirst()
                    }.joined()
                    let method = HTTPMethod(rawValue: operation.method.uppercased())
                    guard case .route(let route, _) = merchant.router.match(method, path) else {
                        Issue.record("\(operation.method) \(operation.path) is no route")
                        continue
                    }
                    #expect(route.name == operation.name)
                }
            }
            let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
                .joined(separator: "/")
            let source = String(
                decoding: try Files.read(folder + "/Sources/MerchantAPI/MerchantAPI.swift"),
                as: UTF8.self
            )
            #expect(source.split(separator: "router.on(").count - 1 == OpenAPI.operations.count)
        }

        @Test("is a document with an operation, its scope and its errors for each")
        func document() throws {
            let document = OpenAPI.document(version: "1")
            #expect(document["openapi"] == "3.1.0")
            let create = document["paths"]?["/api/v1/orders"]?["post"]
            #expect(create?["operationId"] == "create-order")
            #expect(create?["description"]?.stringValue?.contains("orders:write") == true)
            #expect(create?["responses"]?["201"] != nil && create?["responses"]?["default"] != nil)
            // What a key over its limit is told, and what it is told before.
            let refusal = create?["responses"]?["429"]?["$ref"]?.stringValue?.split(separator: "/").dropFirst() ?? []
            let limited = refusal.reduce(document) { $0[String($1)] ?? .null }
            for (response, names) in [
                (limited, ["Retry-After", "RateLimit-Policy", "RateLimit"]),
                (create?["responses"]?["201"] ?? .null, ["Request-Id", "RateLimit-Policy", "RateLimit"]),
            ] {
                #expect(response["headers"]?.objectValue?.keys.map { $0 } == names)
                for name in names { #expect(document["components"]?["headers"]?[name]?["schema"] != nil) }
            }
            let order = document["paths"]?["/api/v1/orders/{type}/{order}"]
            let parameters = order?["get"]?["parameters"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
            #expect(parameters == ["type", "order", "If-None-Match", "Request-Id"])
        }

        /// The operation that a request is answered by.
        private static func operation(_ merchant: Merchant, _ method: HTTPMethod, _ target: String) -> OpenAPI
            .Operation?
        {
            let path = String(target.prefix { $0 != "?" })
            guard case .route(let route, _) = merchant.router.match(method, path) else { return nil }
            return OpenAPI.operations.first { $0.name == route.name }
        }

        @Test("tells of the switches that a route heeds, and of no others", arguments: SwitchTests.routes)
        func switches(route: SwitchTests.Route) async throws {
            try await withMerchant { merchant in
                let operation = try #require(Self.operation(merchant, route.method, route.path))
                let document = OpenAPI.document(version: "1")
                let told = document["paths"]?[operation.path]?[operation.method]?["parameters"]?.arrayValue ?? []
                let names = Set(told.compactMap { $0["name"]?.stringValue })
                #expect(names.contains("validateOnly") == route.isDry)
                #expect(names.contains("If-Match") == route.heedsMatch)
                #expect(names.contains("If-None-Match") == route.heedsNoneMatch)
                #expect(names.contains("Idempotency-Key") == (route.method == .post))
                #expect(names.contains("Request-Id"))
            }
        }

        /// A schema of the document, by name.
        private static func schema(_ name: String) throws -> JSONSchema {
            let components = OpenAPI.document(version: "1")["components"] ?? .null
            return try JSONSchema(["$ref": .string("#/components/schemas/" + name), "components": components])
        }

        private static let requests: [(method: HTTPMethod, path: String, body: [UInt8])] = {
            let type = "/api/v1/order-types/\(Samples.shop)"
            let order: JSONValue = [
                "order": Samples.json("two", logo: "logo.png"), "localizations": ["en": ["A": "b"]],
            ]
            let event = Merchant.event("f").mergePatched(with: [
                "orderTypeIdentifier": .string(Samples.shop), "orderIdentifier": "one",
            ])
            let stray = event.mergePatched(with: ["orderIdentifier": "none"])
            let texts = Array(#"{"B":"c"}"#.utf8)
            return [
                (.post, "/api/v1/orders?validateOnly=true", order.serialized()),
                (.post, "/api/v1/orders", order.serialized()),
                (.get, "/api/v1/orders?type=\(Samples.shop)&limit=1", []),
                (.get, Merchant.path("one"), []),
                (.patch, Merchant.path("one"), Array(#"{"merchant":{"logo":"logo.png"}}"#.utf8)),
                (.put, Merchant.path("one"), Samples.json("one").serialized()),
                (.post, Merchant.path("one", "/events"), Merchant.event("e").serialized()),
                (.post, "/api/v1/events", JSONValue.object(["events": [event, stray]]).serialized()),
                (.get, Merchant.path("one", "/handoff"), []), (.get, Merchant.path("one", "/package"), []),
                (.get, Merchant.path("one", "/history"), []),
                (.post, Merchant.path("one", "/share-links"), Array(#"{"lifetime":60}"#.utf8)),
                (.put, Merchant.path("one", "/assets/de.lproj%2Flogo.png"), Samples.image(1)),
                (.get, Merchant.path("one", "/assets/de.lproj%2Flogo.png"), []),
                (.put, Merchant.path("one", "/localizations/en"), texts),
                (.get, Merchant.path("one", "/localizations/en"), []),
                (.delete, Merchant.path("one", "/localizations/en"), []),
                (.delete, Merchant.path("one", "/assets/de.lproj%2Flogo.png"), []),
                (.put, type + "/assets/fr.lproj%2Flogo.png", Samples.image(1)),
                (.get, type + "/assets/fr.lproj%2Flogo.png", []), (.put, type + "/localizations/en", texts),
                (.get, type + "/localizations/en", []), (.post, type + "/refresh", []),
                (.delete, type + "/assets/fr.lproj%2Flogo.png", []), (.delete, type + "/localizations/en", []),
                (.delete, Merchant.path("one"), []),
                // Faults.
                (.get, Merchant.path("one"), []), (.post, "/api/v1/orders", order.serialized()),
                (.post, "/api/v1/orders", Array(#"{"order": {}, "localizations": {"en": {"A": 1}}}"#.utf8)),
                (.post, "/api/v1/orders", Array("{".utf8)),
                (.put, Merchant.path("two", "/assets/logo.png"), Array("%PDF-1.4".utf8)),
                (.delete, Merchant.path("two") + "?x=1", []),
            ]
        }()

        @Test("describes what is really sent and answered, faults as well")
        func answers() async throws {
            try await withMerchant { merchant in
                await merchant.create("one")
                let admin = try await merchant.client([.admin])
                var seen: Set<String> = []
                for (method, path, body) in Self.requests {
                    let operation = try #require(Self.operation(merchant, method, path), "\(path)")
                    seen.insert(operation.name)
                    let answer = await admin.send(method, path, bytes: body)
                    let place = "\(method) \(path): \(answer.text.prefix(600))"
                    if answer.headers["content-type"] == "application/problem+json" {
                        #expect(try Self.schema("Problem").validate(answer.json) == [], "\(place)")
                        continue
                    }
                    let told = try #require(
                        operation.answers.first { $0.status == "\(answer.status.code)" },
                        "\(place)"
                    )
                    if let schema = told.schema {
                        #expect(answer.headers["content-type"] == "application/json")
                        #expect(try Self.schema(schema).validate(answer.json) == [], "\(place)")
                        let known = OpenAPI.schemas[schema]?["properties"]?.objectValue?.keys
                        let more = Set(answer.json.objectValue?.keys ?? []).subtracting(known ?? [])
                        #expect(known == nil || more.isEmpty, "\(place)")
                    } else if let type = operation.answerType, type != "*/*" {
                        #expect(answer.headers["content-type"] == type)
                    }
                    #expect(
                        (told.schema == nil && operation.answerType == nil) == answer.body.joined.isEmpty,
                        "\(place)"
                    )
                    guard let schema = operation.bodies.lazy.compactMap(\.schema).first, !body.isEmpty else { continue }
                    #expect(try Self.schema(schema).isValid(try JSONValue(parsing: body)), "\(place)")
                }
                let names = Set(OpenAPI.operations.map(\.name)).subtracting(["revoke-share-link"])
                #expect(names.subtracting(seen) == [])
            }
        }
    }
}
