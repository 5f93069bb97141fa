// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import HTTPEngine
import MerchantAPI
import OrderModel
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

/// The merchant's door with keys of several kinds.
struct Merchant: Sendable {
    let shop: ShopFixture
    let router: Router
    /// Read and write, every type.
    let client: TestClient

    init(_ shop: ShopFixture, limits: MerchantLimits? = nil) async throws {
        self.shop = shop
        let api = MerchantAPI(
            store: shop.store,
            types: shop.types,
            packages: shop.packages,
            limits: limits,
            logger: shop.log.logger
        )
        self.router = api.router()
        let secret = try await shop.store.createAPIKey(
            name: "all",
            scopes: [.ordersRead, .ordersWrite],
            orderTypes: nil
        ).secret
        self.client = TestClient(self.router, headers: ["authorization": "Bearer \(secret)"])
    }

    /// A client with a key of its own.
    func client(_ scopes: Set<APIScope>, _ types: [String]? = nil) async throws -> TestClient {
        let types = try types?.map { try OrderTypeIdentifier($0) }
        let secret = try await self.shop.store.createAPIKey(name: "key", scopes: scopes, orderTypes: types).secret
        return TestClient(self.router, headers: ["authorization": "Bearer \(secret)"])
    }

    /// Creates an order.
    @discardableResult
    func create(_ order: String, type: String = Samples.shop, _ headers: HTTPFields = [:]) async -> HTTPResponse {
        await self.client.send(
            .post,
            "/api/v1/orders",
            headers,
            json: ["order": Samples.json(order, type: type)]
        )
    }

    static func path(_ order: String, _ rest: String = "", type: String = Samples.shop) -> String {
        "/api/v1/orders/\(type)/\(PercentEncoding.encode(order))\(rest)"
    }

    static func event(_ identifier: String, status: String = "shipped") -> JSONValue {
        [
            "eventIdentifier": .string(identifier),
            "fulfillment": ["fulfillmentIdentifier": "parcel-1", "status": .string(status)],
        ]
    }

    static func form(_ parts: [(name: String, contents: [UInt8])]) -> (headers: HTTPFields, body: [UInt8]) {
        var body: [UInt8] = []
        for part in parts {
            body += Array("--b=_b\r\nContent-Disposition: form-data; name=\"\(part.name)\"\r\n\r\n".utf8)
            body += part.contents + [0x0d, 0x0a]
        }
        return (["content-type": "multipart/form-data; boundary=\"b=_b\""], body + Array("--b=_b--\r\n".utf8))
    }
}

func withMerchant(_ body: @escaping @Sendable (Merchant) async throws -> Void) async throws {
    try await withShop { shop in try await body(try await Merchant(shop)) }
}

@Suite("Merchant API", .database)
enum MerchantAPITests {}
