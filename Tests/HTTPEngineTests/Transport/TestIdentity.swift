// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ServiceRuntime

/// A TLS identity for localhost, made once a test run, and contexts for both sides.
struct TestIdentity {
    let certificate: Certificate
    let key: PrivateKey

    static let shared: Result<TestIdentity, any Error> = Result {
        let key = try PrivateKey.generateRSA()
        let now = WallTime.now().seconds
        let template = CertificateTemplate.server(notBefore: now - 3600, notAfter: now + 86_400)
        return TestIdentity(certificate: try template.issue(for: key, issuer: nil), key: key)
    }

    static func server(alpn: [String] = ["h2", "http/1.1"]) throws -> TLSContext {
        let identity = try shared.get()
        return try TLSContext.server(
            certificate: identity.certificate,
            chain: [],
            key: identity.key,
            alpn: alpn,
            clientCertificates: .none
        )
    }

    static func client(alpn: [String] = ["h2", "http/1.1"]) throws -> TLSContext {
        let identity = try shared.get()
        return try TLSContext.client(trust: .certificates([identity.certificate]), alpn: alpn, identity: nil)
    }

    /// Trusts some other certificate than the server's.
    static func strangersClient() throws -> TLSContext {
        let key = try PrivateKey.generateRSA()
        let now = WallTime.now().seconds
        let other = try CertificateTemplate.server(notBefore: now - 3600, notAfter: now + 86_400)
            .issue(for: key, issuer: nil)
        return try TLSContext.client(trust: .certificates([other]), alpn: [], identity: nil)
    }
}
