// SPDX-License-Identifier: Apache-2.0
@testable import HTTPEngine

extension HTTPLimits {
    /// The default limits, with deadlines that no test lives to see.
    static var untimed: HTTPLimits {
        var limits = HTTPLimits()
        limits.handshakeTimeout = .seconds(3_600)
        limits.headerTimeout = .seconds(3_600)
        limits.bodyGrace = .seconds(3_600)
        limits.idleTimeout = .seconds(3_600)
        limits.requestTimeout = .seconds(3_600)
        limits.writeTimeout = .seconds(3_600)
        return limits
    }
}
