// SPDX-License-Identifier: Apache-2.0
internal import HTTPEngine
package import ServiceRuntime

/// How often merchants may ask: with one key, and without a valid one from one address.
///
/// A key is judged by its own bucket alone, so that nobody's wrong keys, from the same proxy or not, shut a good one out. Each
/// request counts as one, a bulk request as one for each of its events: what costs is the change of an order.
package struct MerchantLimits: Sendable {
    /// Of requests with one key.
    internal let keys: RequestLimit
    /// Of requests without a valid key, from one address.
    internal let failures: RequestLimit

    /// Makes limits; 0 is no limit.
    ///
    /// - Parameters:
    ///   - requestsPerKey: requests a minute with one key.
    ///   - failuresPerAddress: requests a minute without a valid key, from one address.
    ///   - metrics: where refusals are counted.
    ///   - clock: tells the time that passes.
    package init(
        requestsPerKey: Int = 0,
        failuresPerAddress: Int = 0,
        logger: Logger,
        metrics: Metrics = .shared,
        clock: @escaping @Sendable () -> MonotonicTime = { .now() }
    ) {
        self.keys = RequestLimit(
            "merchant-key",
            of: "requests with one merchant key",
            perMinute: requestsPerKey,
            clients: 1_700,
            logger: logger,
            metrics: metrics,
            clock: clock
        )
        self.failures = RequestLimit(
            "merchant-failures",
            of: "requests without a valid key from one address",
            perMinute: failuresPerAddress,
            clients: 7_000,
            logger: logger,
            metrics: metrics,
            clock: clock
        )
    }

    /// Puts other numbers in force.
    package func set(requestsPerKey: Int, failuresPerAddress: Int) {
        self.keys.perMinute = requestsPerKey
        self.failures.perMinute = failuresPerAddress
    }
}
