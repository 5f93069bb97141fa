// SPDX-License-Identifier: Apache-2.0
package import HTTPEngine
package import OrderStore
package import ServiceRuntime

/// The web service that iPhones and Macs register with and pull from: Apple's five endpoints under `{webServiceURL}/v1`, and
/// share links beside them.
///
/// Source: developer.apple.com/documentation/walletorders, the five endpoint pages; where Apple is silent, design 5.3.
package struct DeviceAPI: Sendable {
    internal let store: OrderStore
    internal let packages: SignedPackages
    internal let reads: PackageReads
    internal let logs: DeviceLogs
    internal let logger: Logger

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - reads: counts what devices fetched; a service of its own that must run.
    ///   - metrics: where log lines are counted by kind.
    package init(
        store: OrderStore,
        packages: SignedPackages,
        reads: PackageReads,
        logger: Logger,
        metrics: Metrics = .shared
    ) {
        self.store = store
        self.packages = packages
        self.reads = reads
        self.logs = DeviceLogs(metrics: metrics)
        self.logger = logger
    }

    /// The routes, at the root and under each path that a web service URL has before `/v1`.
    package func router(prefixes: [String] = []) -> Router {
        var router = Router(tolerant: true)
        for prefix in Set(prefixes.map(Self.normalized) + [""]).sorted() {
            let registration = "\(prefix)/v1/devices/{device}/registrations/{type}/{order}"
            router.on(.post, registration, bodyLimit: 64 << 10, name: "register") { request, parameters in
                try await self.answering { try await self.register(request, parameters) }
            }
            router.on(.delete, registration, name: "unregister") { request, parameters in
                try await self.answering { try await self.unregister(request, parameters) }
            }
            router.on(.get, "\(prefix)/v1/devices/{device}/registrations/{type}", name: "changed-orders") {
                request,
                parameters in
                try await self.answering { try await self.changedOrders(request, parameters) }
            }
            router.on(.get, "\(prefix)/v1/orders/{type}/{order}", name: "package") { request, parameters in
                try await self.answering { try await self.package(request, parameters) }
            }
            router.on(.post, "\(prefix)/v1/log", bodyLimit: 64 << 10, name: "log") { request, _ in
                try await self.receiveLog(request)
            }
            router.on(.get, "\(prefix)/o/{token}/{name}", name: "share-link") { request, parameters in
                try await self.answering { try await self.sharedPackage(request, parameters) }
            }
        }
        return router
    }

    /// Turns what the store says into what a device understands: try later, or 401. An error that means neither goes on to
    /// the engine, which logs it.
    private func answering(_ body: () async throws -> HTTPResponse) async throws -> HTTPResponse {
        do { return try await OrderStore.answering(body) } catch let error as StoreError
            where error.code == .orderErased
        {
            throw Self.unauthorized
        } catch  where OrderStore.isUnavailable(error) {
            throw Problem.serviceUnavailable("The service can't answer for the moment.", retryAfter: 5)
        }
    }

    /// The path of a web service URL without a trailing slash: `https://example.com/api/orders/` is `/api/orders`.
    package static func pathPrefix(of url: String) -> String {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = address.range(of: "://") else { return "" }
        guard let slash = address[scheme.upperBound...].firstIndex(of: "/") else { return "" }
        return self.normalized(String(address[slash...]))
    }

    private static func normalized(_ path: String) -> String {
        let segments = path.split(separator: "/")
        return segments.isEmpty ? "" : "/" + segments.joined(separator: "/")
    }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            if self[start...].hasPrefix(text) { return start..<self.index(start, offsetBy: text.count) }
            start = self.index(after: start)
        }
        return nil
    }
}
