// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// TLS settings of a client that trusts one root and nothing else.
package enum TLSClientTrust {
    /// Makes the settings.
    package static func context(_ root: Certificate, alpn: [String] = ["h2", "http/1.1"]) throws -> TLSContext {
        try TLSContext.client(trust: .certificates([root]), alpn: alpn, identity: nil)
    }
}
