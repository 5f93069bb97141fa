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
    internal let limits: DeviceLimits
    internal let logger: Logger

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - reads: counts what devices fetched; a service of its own that must run.
    ///   - limits: how often devices may ask; nil: as often as they like.
    ///   - metrics: where log lines are counted by kind.
    package init(
        store: OrderStore,
        packages: SignedPackages,
        reads: PackageReads,
        limits: DeviceLimits? = nil,
        logger: Logger,
        metrics: Metrics = .shared
    ) {
        self.store = store
        self.packages = packages
        self.reads = reads
        self.logs = DeviceLogs(metrics: metrics)
        self.limits = limits ?? DeviceLimits(logger: logger, metrics: metrics)
        self.logger = logger
    }

    /// The routes, at the root and under each path that a web service URL has before `/v1`.
    package func router(prefixes: [String] = []) -> Router {
        var router = Router(tolerant: true)
        // A prefix that no request can have needs no routes.
        for prefix in Set(prefixes.compactMap { try? PathPrefix($0) }).union([.root]) {
            let registration = "/v1/devices/{device}/registrations/{type}/{order}"
            router.on(.post, registration, under: prefix, bodyLimit: 64 << 10, name: "register") {
                request,
                parameters in
                try self.limits.check(request, about: .device(parameters), cost: DeviceLimits.registrationCost)
                return try await self.answering { try await self.register(request, parameters) }
            }
            router.on(.delete, registration, under: prefix, name: "unregister") { request, parameters in
                try self.limits.check(request, about: .device(parameters))
                return try await self.answering { try await self.unregister(request, parameters) }
            }
            router.on(.get, "/v1/devices/{device}/registrations/{type}", under: prefix, name: "changed-orders") {
                request,
                parameters in
                try self.limits.check(request, about: .device(parameters))
                return try await self.answering { try await self.changedOrders(request, parameters) }
            }
            router.on(.get, "/v1/orders/{type}/{order}", under: prefix, name: "package") { request, parameters in
                try self.limits.check(request, about: .order(parameters))
                return try await self.answering { try await self.package(request, parameters) }
            }
            router.on(.post, "/v1/log", under: prefix, bodyLimit: 64 << 10, name: "log") { request, _ in
                try self.limits.check(request, about: nil)
                return try await self.receiveLog(request)
            }
            router.on(.get, "/o/{token}/{name}", under: prefix, name: "share-link") { request, parameters in
                try self.limits.check(request, about: .link(parameters))
                return try await self.answering { try await self.sharedPackage(request, parameters) }
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

    /// The path of a web service URL in one spelling, without a trailing slash: `https://example.com/api/orders/` is
    /// `/api/orders`, `…/caf%c3%a9` is `/caf%C3%A9`. A path that no request can have stays as it is.
    package static func pathPrefix(of url: String) -> String {
        let path = self.path(of: url)
        return (try? PathPrefix(path))?.text ?? path
    }

    /// Why no request can come to the path of a web service URL; nil when it can. Clients take dot segments out before they
    /// ask, and escapes have to stand for text.
    package static func pathFault(of url: String) -> String? {
        do throws(Problem) {
            _ = try PathPrefix(self.path(of: url))
            return nil
        } catch {
            return error.detail
        }
    }

    /// From the first slash behind the host.
    private static func path(of url: String) -> String {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = address.range(of: "://") else { return "" }
        guard let slash = address[scheme.upperBound...].firstIndex(of: "/") else { return "" }
        return String(address[slash...])
    }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            // short: a setting.
            if self[start...].hasPrefix(text) { return start..<self.index(start, offsetBy: text.count) }
            start = self.index(after: start)
        }
        return nil
    }
}
