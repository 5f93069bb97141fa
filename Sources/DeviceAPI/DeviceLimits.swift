// SPDX-License-Identifier: Apache-2.0
internal import HTTPEngine
package import ServiceRuntime

/// How often devices may ask: about one device, order or link from one address, and from one address at all.
///
/// Both are judged by what the request itself says, before anything is looked up: so they are the same for orders that exist
/// and for others, for right tokens and wrong ones. The narrow one is judged first, and a request that it refuses costs the
/// address nothing: of many phones behind one address, one that has gone wild takes nothing from the others. Who invents a new
/// identifier for each request passes the narrow one, and meets that of the address.
package struct DeviceLimits: Sendable {
    /// What a registration counts for. It writes, and makes a row that stays; the other requests read.
    internal static let registrationCost = 5

    /// Of requests about one device, order or link from one address.
    private let subjects: RequestLimit
    /// Of requests from one address.
    private let addresses: RequestLimit

    /// Makes limits; 0 is no limit.
    ///
    /// - Parameters:
    ///   - requestsPerDevice: requests a minute about one device, order or link, from one address.
    ///   - requestsPerAddress: requests a minute from one address to the routes, an IPv6 /64 counted as one.
    ///   - metrics: where refusals are counted.
    ///   - clock: tells the time that passes.
    package init(
        requestsPerDevice: Int = 0,
        requestsPerAddress: Int = 0,
        logger: Logger,
        metrics: Metrics = .shared,
        clock: @escaping @Sendable () -> MonotonicTime = { .now() }
    ) {
        self.subjects = RequestLimit(
            "device",
            of: "requests about one device, order or link from one address",
            perMinute: requestsPerDevice,
            clients: 28_000,
            logger: logger,
            metrics: metrics,
            clock: clock
        )
        self.addresses = RequestLimit(
            "device-address",
            of: "requests from one address",
            perMinute: requestsPerAddress,
            clients: 14_000,
            logger: logger,
            metrics: metrics,
            clock: clock
        )
    }

    /// Puts other numbers in force.
    package func set(requestsPerDevice: Int, requestsPerAddress: Int) {
        self.subjects.perMinute = requestsPerDevice
        self.addresses.perMinute = requestsPerAddress
    }

    /// Lets a request pass that comes not too soon after others like it.
    ///
    /// - Parameters:
    ///   - subject: what of the path names whom it is about; nil when nothing does.
    ///   - cost: how many plain requests it counts for.
    /// - Throws: the 429 problem.
    internal func check(_ request: HTTPRequest, about subject: Subject?, cost: Int = 1) throws {
        // All clients behind a Unix socket have the same address, when its proxy is not trusted to tell theirs.
        let holder = AddressHolder.of(request.remoteAddress)
        if let subject {
            let key = RateLimiter.Key(subject.identifier, subject.scope, holder ?? "")
            if let problem = self.subjects.refusal(of: key, cost: cost) { throw problem }
        }
        guard let holder else { return }
        if let problem = self.addresses.refusal(of: RateLimiter.Key(holder), cost: cost) { throw problem }
    }

    /// Whom a request is about.
    internal struct Subject: Sendable {
        let identifier: String
        let scope: String

        /// A device, whatever order types it asks for.
        static func device(_ parameters: RouteParameters) -> Self { Self(identifier: parameters["device"], scope: "") }

        /// An order.
        static func order(_ parameters: RouteParameters) -> Self {
            Self(identifier: parameters["order"], scope: parameters["type"])
        }

        /// A share link.
        static func link(_ parameters: RouteParameters) -> Self { Self(identifier: parameters["token"], scope: "/o/") }
    }
}
