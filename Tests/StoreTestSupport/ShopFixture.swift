// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import ExactJSON
package import HTTPEngine
import OrderModel
package import OrderPackage
package import OrderStore
package import ServiceRuntime

/// What a test's stations logged, at every level.
package final class CapturedLog: Sendable {
    private let lines = Locked<[String]>([])

    package init() {}

    /// A logger that writes here.
    package var logger: Logger {
        Logger(
            label: "shop",
            sink: LogSink(form: .json, level: .debug) { [lines] bytes in
                lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            }
        )
    }

    /// All of it.
    package var text: String { lines.withLock { $0.joined() } }
}

/// Identities of the sample order types, made once a process: a 2,048-bit key takes its time.
package enum TestSigning {
    /// The authority; its own identity is the shop's.
    package static let authority: TestAuthority = made {
        try TestAuthority.make(orderType: try OrderTypeIdentifier(Samples.shop))
    }
    /// A second certificate for the shop, as after a renewal.
    package static let renewed: SigningIdentity = made {
        try authority.identity(for: try OrderTypeIdentifier(Samples.shop))
    }
    /// The bakery's.
    package static let bakery: SigningIdentity = made {
        try authority.identity(for: try OrderTypeIdentifier(Samples.bakery))
    }

    private static func made<Value>(_ make: () throws -> Value) -> Value {
        do { return try make() } catch { preconditionFailure("a test identity can't be made: \(error)") }
    }

    /// Settings of the shop and of the bakery.
    package static func settings(
        shop identity: SigningIdentity = authority.identity,
        webServiceURL: String = "https://orders.example.com/shop/"
    ) throws -> [OrderTypeSettings] {
        [
            OrderTypeSettings(
                identifier: try OrderTypeIdentifier(Samples.shop),
                identity: identity,
                webServiceURL: webServiceURL
            ),
            OrderTypeSettings(
                identifier: try OrderTypeIdentifier(Samples.bakery),
                identity: bakery,
                webServiceURL: "https://orders.example.com",
                completeWhenFulfilled: true
            ),
        ]
    }
}

/// A store with two order types that can be signed: what the stations are built of.
package struct ShopFixture: Sendable {
    package let database: StoreFixture
    package let types: OrderTypeDirectory
    package let packages: SignedPackages
    package let log: CapturedLog
    package let metrics = Metrics()

    package var store: OrderStore { database.store }
}

/// Runs a test with a shop on a fresh database.
package func withShop(
    settings: [OrderTypeSettings]? = nil,
    capacity: Int = 64 << 20,
    _ body: @escaping @Sendable (ShopFixture) async throws -> Void
) async throws {
    let log = CapturedLog()
    let settings = try settings ?? TestSigning.settings()
    try await withStore(logger: log.logger) { database in
        let types = OrderTypeDirectory(settings)
        for type in settings { try await database.store.ensureOrderType(type.identifier) }
        let packages = SignedPackages(store: database.store, types: types, capacity: capacity)
        try await body(ShopFixture(database: database, types: types, packages: packages, log: log))
    }
}

/// A request that is answered without a socket.
package struct TestClient: Sendable {
    package let router: Router
    /// Sent with each request.
    package var headers: HTTPFields

    package init(_ router: Router, headers: HTTPFields = [:]) {
        self.router = router
        self.headers = headers
    }

    /// Sends bytes.
    @discardableResult
    package func send(
        _ method: HTTPMethod,
        _ target: String,
        _ headers: HTTPFields = [:],
        bytes: [UInt8] = [],
        from address: String = "192.0.2.1"
    ) async -> HTTPResponse {
        var all = self.headers
        all.merge(headers)
        return await router.respond(
            to: HTTPRequest(method: method, target: target, headers: all, body: bytes, remoteAddress: address)
        )
    }

    /// Sends JSON.
    @discardableResult
    package func send(
        _ method: HTTPMethod,
        _ target: String,
        _ headers: HTTPFields = [:],
        json: JSONValue
    ) async -> HTTPResponse {
        await send(method, target, headers, bytes: json.serialized())
    }
}

extension HTTPResponse {
    /// The body as JSON; null when it is none.
    package var json: JSONValue { (try? JSONValue(parsing: body.joined)) ?? .null }
    /// The body as text.
    package var text: String { String(decoding: body.joined, as: UTF8.self) }
    /// The problem's code.
    package var code: String? { json["code"]?.stringValue }
    /// The pointers and paths of all faults, in order.
    package var places: [String] {
        (json["errors"]?.arrayValue ?? []).compactMap { ($0["pointer"] ?? $0["path"])?.stringValue }
    }
}
