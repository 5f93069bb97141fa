// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
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
            let order = document["paths"]?["/api/v1/orders/{type}/{order}"]
            #expect(order?["get"]?["parameters"]?.arrayValue?.count == 2)
        }
    }
}
