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
    internal let limits: MerchantLimits
    internal let logger: Logger

    /// Makes the API.
    ///
    /// - Parameter limits: how often merchants may ask; nil: as often as they like.
    package init(
        store: OrderStore,
        types: OrderTypeDirectory,
        packages: SignedPackages,
        limits: MerchantLimits? = nil,
        logger: Logger
    ) {
        self.store = store
        self.types = types
        self.packages = packages
        self.limits = limits ?? MerchantLimits(logger: logger)
        self.logger = logger
    }

    /// The routes of the merchant listener (design 5.2).
    package func router() -> Router {
        var router = Router()
        let order = "/api/v1/orders/{type}/{order}"
        router.on(.post, "/api/v1/orders", bodyLimit: 6 << 20, name: "create-order", gate: self.gate(.ordersWrite)) {
            request,
            _ in
            try await self.answering(request, .ordersWrite, heeding: .dryRun) {
                try await self.createOrder(request, $0)
            }
        }
        router.on(.get, "/api/v1/orders", name: "list-orders") { request, _ in
            try await self.answering(request, .ordersRead, heeding: .listing) { try await self.listOrders(request, $0) }
        }
        router.on(.get, order, name: "get-order") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getOrder(request, parameters, $0) }
        }
        router.on(.patch, order, bodyLimit: 1 << 20, name: "patch-order", gate: self.gate(.ordersWrite)) {
            request,
            parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision) {
                try await self.changeOrder(request, parameters, $0, replaces: false)
            }
        }
        router.on(.put, order, bodyLimit: 1 << 20, name: "put-order", gate: self.gate(.ordersWrite)) {
            request,
            parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision) {
                try await self.changeOrder(request, parameters, $0, replaces: true)
            }
        }
        router.on(.delete, order, name: "erase-order") { request, parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision, within: OrderStore.longAnswerTime) {
                try await self.eraseOrder(request, parameters, $0)
            }
        }
        router.on(.post, order + "/events", bodyLimit: 1 << 20, name: "post-event", gate: self.gate(.ordersWrite)) {
            request,
            parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision) {
                try await self.postEvent(request, parameters, $0)
            }
        }
        router.on(.post, "/api/v1/events", bodyLimit: 4 << 20, name: "post-events", gate: self.gate(.ordersWrite)) {
            request,
            _ in
            try await self.answering(request, .ordersWrite, heeding: .revision, within: OrderStore.longAnswerTime) {
                try await self.postEvents(request, $0)
            }
        }
        router.on(.get, order + "/handoff", name: "get-handoff") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getHandoff(parameters, $0) }
        }
        router.on(.get, order + "/package", name: "get-package") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getPackage(request, parameters, $0) }
        }
        router.on(.get, order + "/history", name: "get-history") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getHistory(request, parameters, $0) }
        }
        router.on(.post, order + "/share-links", name: "create-share-link", gate: self.gate(.ordersWrite)) {
            request,
            parameters in
            try await self.answering(request, .ordersWrite, heeding: .noSwitch) {
                try await self.createShareLink(request, parameters, $0)
            }
        }
        router.on(.delete, order + "/share-links/{link}", name: "revoke-share-link") { request, parameters in
            try await self.answering(request, .ordersWrite, heeding: .noSwitch) {
                try await self.revokeShareLink(parameters, $0)
            }
        }
        self.addFileRoutes(to: &router)
        return router
    }

    /// Images, receipts, labels and strings of orders and of order types. What concerns a whole type asks for `admin`.
    private func addFileRoutes(to router: inout Router) {
        let order = "/api/v1/orders/{type}/{order}"
        let type = "/api/v1/order-types/{type}"
        let file = "/assets/{path...}"
        let strings = "/localizations/{locale}"
        let limit = UploadedFile.sizeLimit
        router.on(.put, order + file, bodyLimit: limit, name: "put-order-asset", gate: self.gate(.ordersWrite)) {
            request,
            parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision) {
                try await self.putOrderFile(request, parameters, $0)
            }
        }
        router.on(.get, order + file, name: "get-order-asset") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getOrderFile(request, parameters, $0) }
        }
        router.on(.delete, order + file, name: "delete-order-asset") { request, parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision) {
                try await self.removeOrderFile(request, parameters, $0)
            }
        }
        router.on(.put, order + strings, bodyLimit: 1 << 20, name: "put-order-strings", gate: self.gate(.ordersWrite)) {
            request,
            parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision) {
                try await self.putOrderStrings(request, parameters, $0)
            }
        }
        router.on(.get, order + strings, name: "get-order-strings") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getOrderStrings(parameters, $0) }
        }
        router.on(.delete, order + strings, name: "delete-order-strings") { request, parameters in
            try await self.answering(request, .ordersWrite, heeding: .revision) {
                try await self.removeOrderStrings(request, parameters, $0)
            }
        }
        router.on(.put, type + file, bodyLimit: limit, name: "put-type-asset", gate: self.gate(.admin)) {
            request,
            parameters in
            try await self.answering(request, .admin, heeding: .file) {
                try await self.putTypeFile(request, parameters, $0)
            }
        }
        router.on(.get, type + file, name: "get-type-asset") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getTypeFile(request, parameters, $0) }
        }
        router.on(.delete, type + file, name: "delete-type-asset") { request, parameters in
            try await self.answering(request, .admin, heeding: .present) {
                try await self.removeTypeFile(request, parameters, $0)
            }
        }
        router.on(.put, type + strings, bodyLimit: 1 << 20, name: "put-type-strings", gate: self.gate(.admin)) {
            request,
            parameters in
            try await self.answering(request, .admin, heeding: .noSwitch) {
                try await self.putTypeStrings(request, parameters, $0)
            }
        }
        router.on(.get, type + strings, name: "get-type-strings") { request, parameters in
            try await self.answering(request, .ordersRead) { try await self.getTypeStrings(parameters, $0) }
        }
        router.on(.delete, type + strings, name: "delete-type-strings") { request, parameters in
            try await self.answering(request, .admin, heeding: .noSwitch) {
                try await self.removeTypeStrings(parameters, $0)
            }
        }
        router.on(.post, type + "/refresh", name: "refresh-type") { request, parameters in
            try await self.answering(request, .admin, heeding: .noSwitch) {
                try await self.refreshType(request, parameters, $0)
            }
        }
    }
}
