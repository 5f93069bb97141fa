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
            router.on(.post, registration, bodyLimit: 64 << 10, name: "register") { try await self.register($0, $1) }
            router.on(.delete, registration, name: "unregister") { try await self.unregister($0, $1) }
            router.on(.get, "\(prefix)/v1/devices/{device}/registrations/{type}", name: "changed-orders") {
                try await self.changedOrders($0, $1)
            }
            router.on(.get, "\(prefix)/v1/orders/{type}/{order}", name: "package") { try await self.package($0, $1) }
            router.on(.post, "\(prefix)/v1/log", bodyLimit: 64 << 10, name: "log") { try await self.receiveLog($0, $1) }
        }
        router.on(.get, "/o/{token}/{name}", name: "share-link") { try await self.sharedPackage($0, $1) }
        return router
    }

    /// The path of a web service URL without a trailing slash: `https://example.com/api/orders/` is `/api/orders`.
    package static func pathPrefix(of url: String) -> String {
        guard let scheme = url.range(of: "://") else { return "" }
        guard let slash = url[scheme.upperBound...].firstIndex(of: "/") else { return "" }
        return self.normalized(String(url[slash...]))
    }

    private static func normalized(_ path: String) -> String {
        let segments = path.split(separator: "/")
        return segments.isEmpty ? "" : "/" + segments.joined(separator: "/")
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            if self[start...].hasPrefix(text) { return start..<self.index(start, offsetBy: text.count) }
            start = self.index(after: start)
        }
        return nil
    }
}
