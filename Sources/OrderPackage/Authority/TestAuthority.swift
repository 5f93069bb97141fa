// SPDX-License-Identifier: Apache-2.0

public import Cryptography
public import OrderModel
import ServiceRuntime

/// A certificate authority of one's own, laid out exactly like Apple's: for tests, demonstrations and development.
///
/// Root, intermediate with the Worldwide Developer Relations marker, and a leaf with the subject, key usages and
/// extensions of an Order Type ID certificate. Real devices don't trust it; our verifier does when it is told to.
public struct TestAuthority: Sendable {
    let issuers: Issuers
    /// The root, to be trusted by whoever checks.
    public var root: Certificate { issuers.root }
    var rootKey: PrivateKey { issuers.rootKey }
    /// The intermediate that issues order certificates.
    public var intermediate: Certificate { issuers.intermediate }
    var intermediateKey: PrivateKey { issuers.intermediateKey }
    /// A certificate for one order type, ready to sign.
    public let identity: SigningIdentity
    /// A TLS certificate for `localhost` and the loopback addresses, issued by the root itself.
    package let server: ServerIdentity

    /// What a TLS server shows.
    package struct ServerIdentity: Sendable {
        package let certificate: Certificate
        /// The intermediates below the root; none, since the root issues it.
        package let chain: [Certificate]
        package let key: PrivateKey
    }

    /// Makes an authority with new keys.
    ///
    /// - Parameters:
    ///   - orderType: the order type of ``identity``.
    ///   - now: the moment, in seconds since 1970; nil for the clock. Validity begins a day before.
    /// - Throws: `signing` when OpenSSL can't make keys.
    public static func make(
        orderType: OrderTypeIdentifier,
        now: Int64? = nil
    ) throws(OrderPackageError) -> TestAuthority {
        let now = now ?? WallTime.now().seconds
        let issuers: Issuers
        do throws(CryptographyError) {
            issuers = try Issuers(now: now)
        } catch {
            throw OrderPackageError(.signing, "the test authority can't be made: \(error.message)")
        }
        return try issue(orderType, from: issuers, now: now)
    }

    /// Issues what is not an issuer itself.
    static func issue(
        _ orderType: OrderTypeIdentifier,
        from issuers: Issuers,
        now: Int64
    ) throws(OrderPackageError) -> TestAuthority {
        do throws(CryptographyError) {
            let leafKey = try PrivateKey.generateRSA()
            let leaf = try TestCertificates.leaf(orderType, now)
                .issue(for: leafKey, issuer: (issuers.intermediate, issuers.intermediateKey))
            return TestAuthority(
                issuers: issuers,
                identity: try Self.identity(leaf, leafKey, issuers.intermediate),
                server: try server(for: [], by: issuers, now: now)
            )
        } catch {
            throw OrderPackageError(.signing, "the test authority's certificates can't be made: \(error.message)")
        }
    }

    /// Issues a certificate for a further order type.
    ///
    /// - Parameters:
    ///   - orderType: the order type that the certificate names.
    ///   - now: the moment, in seconds since 1970; nil for the clock.
    /// - Throws: `signing` when OpenSSL can't make a key.
    public func identity(
        for orderType: OrderTypeIdentifier,
        now: Int64? = nil
    ) throws(OrderPackageError) -> SigningIdentity {
        try issue(TestCertificates.leaf(orderType, now ?? WallTime.now().seconds))
    }

    /// Issues a TLS certificate for a server that is reached by other names than `localhost`.
    ///
    /// - Parameters:
    ///   - hosts: DNS names; `localhost` and the loopback addresses are always added.
    ///   - now: the moment, in seconds since 1970; nil for the clock.
    /// - Throws: `signing` when OpenSSL can't make a key.
    package func server(hosts: [String], now: Int64? = nil) throws(OrderPackageError) -> ServerIdentity {
        do throws(CryptographyError) {
            return try Self.server(for: hosts, by: issuers, now: now ?? WallTime.now().seconds)
        } catch {
            throw OrderPackageError(error)
        }
    }

    private static func server(
        for hosts: [String],
        by issuers: Issuers,
        now: Int64
    ) throws(CryptographyError) -> ServerIdentity {
        let key = try PrivateKey.generateP256()
        let certificate = try TestCertificates.server(now, hosts: hosts)
            .issue(for: key, issuer: (issuers.root, issuers.rootKey))
        return ServerIdentity(certificate: certificate, chain: [], key: key)
    }

    /// Issues whatever leaf a test needs, wrong ones too, and takes it as an identity.
    ///
    /// - Throws: what ``SigningIdentity`` finds wrong with it.
    package func issue(
        _ template: CertificateTemplate,
        key: PrivateKey? = nil
    ) throws(OrderPackageError) -> SigningIdentity {
        do throws(CryptographyError) {
            let key = if let key { key } else { try PrivateKey.generateRSA() }
            let leaf = try template.issue(for: key, issuer: (intermediate, intermediateKey))
            return try Self.identity(leaf, key, intermediate)
        } catch {
            throw OrderPackageError(error)
        }
    }

    /// The template of an order certificate, for tests to spoil.
    package static func leafTemplate(_ orderType: OrderTypeIdentifier, now: Int64) -> CertificateTemplate {
        TestCertificates.leaf(orderType, now)
    }

    /// An intermediate that looks like the real one, is signed by the same root, and yet isn't the issuer: what people
    /// embed when they take G3 for G4.
    ///
    /// - Throws: `signing` when OpenSSL can't make a key.
    package func lookAlikeIntermediate(_ generation: String = "G3") throws(OrderPackageError) -> Certificate {
        do throws(CryptographyError) {
            let key = try PrivateKey.generateRSA()
            return try TestCertificates.intermediate(generation, intermediate.notBefore + 86_400)
                .issue(for: key, issuer: (root, rootKey))
        } catch {
            throw OrderPackageError(error)
        }
    }

    private static func identity(
        _ leaf: Certificate,
        _ key: PrivateKey,
        _ intermediate: Certificate
    ) throws(CryptographyError) -> SigningIdentity {
        do throws(OrderPackageError) {
            return try SigningIdentity(certificate: leaf, key: key, intermediates: [intermediate])
        } catch {
            throw CryptographyError(.failed, error.message)
        }
    }
}
