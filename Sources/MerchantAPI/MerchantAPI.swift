// SPDX-License-Identifier: Apache-2.0
package import HTTPEngine
package import OrderStore
package import ServiceRuntime

/// The door of checkout and fulfilment: creates orders, takes changes, gives the hand-off and the package.
///
/// Every route asks for a merchant key; an order of a type that the key is not bound to does not exist for its bearer.
package struct MerchantAPI: Sendable {
    internal let store: OrderStore
    internal let types: OrderTypeDirectory
    internal let packages: SignedPackages
    internal let logger: Logger

    /// Makes the API.
    package init(
        store: OrderStore,
        types: OrderTypeDirectory,
        packages: SignedPackages,
        logger: Logger,
        metrics: Metrics = .shared
    ) {
        self.store = store
        self.types = types
        self.packages = packages
        self.logger = logger
    }

    /// The routes of the merchant listener (design 5.2).
    package func router() -> Router {
        var router = Router()
        let order = "/api/v1/orders/{type}/{order}"
        router.on(.post, "/api/v1/orders", bodyLimit: 6 << 20, name: "create-order") { request, _ in
            try await self.answering(request, .ordersWrite) { try await self.createOrder(request, $0) }
        }
        router.on(.get, "/api/v1/orders", name: "list-orders") { request, _ in
            try await self.answering(request, .ordersRead) { try await self.listOrders(request, $0) }
        }
        router.on(.get, order, name: "get-order") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getOrder(request, parameters, $0) }
        }
        router.on(.patch, order, bodyLimit: 1 << 20, name: "patch-order") { request, parameters in
            try await self.answering(request, .ordersWrite) {
                try await self.changeOrder(request, parameters, $0, replaces: false)
            }
        }
        router.on(.put, order, bodyLimit: 1 << 20, name: "put-order") { request, parameters in
            try await self.answering(request, .ordersWrite) {
                try await self.changeOrder(request, parameters, $0, replaces: true)
            }
        }
        router.on(.delete, order, name: "erase-order") { request, parameters in
            try await self.answering(request, .ordersWrite) { try await self.eraseOrder(parameters, $0) }
        }
        router.on(.post, order + "/events", bodyLimit: 1 << 20, name: "post-event") { request, parameters in
            try await self.answering(request, .ordersWrite) { try await self.postEvent(request, parameters, $0) }
        }
        router.on(.post, "/api/v1/events", bodyLimit: 4 << 20, name: "post-events") { request, _ in
            try await self.answering(request, .ordersWrite) { try await self.postEvents(request, $0) }
        }
        router.on(.get, order + "/handoff", name: "get-handoff") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getHandoff(parameters, $0) }
        }
        router.on(.get, order + "/package", name: "get-package") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getPackage(parameters, $0) }
        }
        router.on(.get, order + "/history", name: "get-history") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getHistory(parameters, $0) }
        }
        router.on(.post, order + "/share-links", name: "create-share-link") { request, parameters in
            try await self.answering(request, .ordersWrite) { try await self.createShareLink(request, parameters, $0) }
        }
        router.on(.delete, order + "/share-links/{link}", name: "revoke-share-link") { request, parameters in
            try await self.answering(request, .ordersWrite) { try await self.revokeShareLink(parameters, $0) }
        }
        return router
    }
}
