// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import ExactJSON
import HTTPEngine
import MerchantAPI
import OrderModel
import OrderPackage
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

/// The device's door, with the merchant's beside it, on one store.
struct Doors: Sendable {
    let shop: ShopFixture
    let device: TestClient
    let merchant: TestClient
    let reads: PackageReads

    init(_ shop: ShopFixture, limits: DeviceLimits? = nil) async throws {
        self.shop = shop
        self.reads = PackageReads(store: shop.store, logger: shop.log.logger, metrics: shop.metrics)
        let api = DeviceAPI(
            store: shop.store,
            packages: shop.packages,
            reads: self.reads,
            limits: limits,
            logger: shop.log.logger,
            metrics: shop.metrics
        )
        self.device = TestClient(
            api.router(prefixes: shop.types.all.map { DeviceAPI.pathPrefix(of: $0.webServiceURL) })
        )
        let merchant = MerchantAPI(
            store: shop.store,
            types: shop.types,
            packages: shop.packages,
            logger: shop.log.logger
        )
        let scopes: Set<APIScope> = [.ordersRead, .ordersWrite]
        let key = try await shop.store.createAPIKey(name: "test", scopes: scopes, orderTypes: nil).secret
        self.merchant = TestClient(merchant.router(), headers: ["authorization": "Bearer \(key)"])
    }

    /// Stores an order and gives its token.
    func create(_ order: String, type: String = Samples.shop) async throws -> String {
        try await self.shop.database.create(order, type: type).authenticationToken
    }

    func authorization(_ token: String) -> HTTPFields { ["authorization": "AppleOrder \(token)"] }

    static func orderPath(_ order: String, type: String = Samples.shop) -> String {
        "/shop/v1/orders/\(type)/\(PercentEncoding.encode(order))"
    }

    static func registrationPath(_ device: String, _ order: String, type: String = Samples.shop) -> String {
        "/shop/v1/devices/\(device)/registrations/\(type)/\(PercentEncoding.encode(order))"
    }

    static func listPath(_ device: String, since tag: String? = nil) -> String {
        "/shop/v1/devices/\(device)/registrations/\(Samples.shop)" + (tag.map { "?ordersModifiedSince=\($0)" } ?? "")
    }

    func fetch(_ order: String, _ token: String, _ headers: HTTPFields = [:]) async -> HTTPResponse {
        var all = self.authorization(token)
        all.merge(headers)
        return await self.device.send(.get, Self.orderPath(order), all)
    }

    func register(_ device: String, _ order: String, _ token: String, push: String = "00aa") async -> HTTPResponse {
        await self.device.send(
            .post,
            Self.registrationPath(device, order),
            self.authorization(token),
            json: ["pushToken": .string(push)]
        )
    }

    func list(_ device: String, since tag: String? = nil) async -> HTTPResponse {
        await self.device.send(.get, Self.listPath(device, since: tag))
    }

    /// Reports a parcel's status.
    @discardableResult
    func event(_ identifier: String, _ order: String, status: String = "shipped") async -> HTTPResponse {
        await self.merchant.send(
            .post,
            "/api/v1/orders/\(Samples.shop)/\(PercentEncoding.encode(order))/events",
            json: [
                "eventIdentifier": .string(identifier),
                "fulfillment": ["fulfillmentIdentifier": "parcel-1", "status": .string(status)],
            ]
        )
    }
}

func withDoors(
    settings: [OrderTypeSettings]? = nil,
    capacity: Int = 64 << 20,
    _ body: @escaping @Sendable (Doors) async throws -> Void
) async throws {
    try await withShop(settings: settings, capacity: capacity) { shop in try await body(try await Doors(shop)) }
}

/// What our verifier says to a package of the test authority.
func verify(_ bytes: [UInt8]) -> VerificationReport {
    PackageVerifier(trust: [TestSigning.authority.root]).verify(bytes)
}

@Suite("Device API", .database)
enum DeviceAPITests {}
