// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ServiceRuntime

/// Remembers certificates and what was proved about them, so that the thousandth package of a signer costs one signature's check
/// instead of five.
///
/// Only proofs are kept, and only such as hold whatever the time and whoever is trusted: that a certificate is signed by
/// another, and that OpenSSL takes a chain while each of its certificates is in date. Keys are the whole certificates,
/// byte for byte. Whether a root is trusted, dates, and Apple's policy are judged anew each time. Any thread may use it.
final class ChainMemory: Sendable {
    private struct Link: Hashable {
        let certificate: Certificate
        let issuer: Certificate
    }

    /// A certificate's bytes. They are compared whole, but hashed by their end alone, which is a signature's: to sum up all of
    /// them costs more than to look the certificate up.
    private struct Encoding: Hashable {
        let der: [UInt8]

        func hash(into hasher: inout Hasher) { hasher.combine(Array(der.suffix(16))) }
    }

    private struct Proofs: Sendable {
        var certificates: [Encoding: Certificate] = [:]
        var links: Set<Link> = []
        var chains: Set<[Certificate]> = []
    }

    /// Strangers' packages may bring any number of certificates.
    private static let limit = 64
    private let proofs = Locked(Proofs())

    /// A certificate read from its bytes, or remembered.
    ///
    /// - Throws: `notDER`.
    func certificate(der: [UInt8]) throws(CryptographyError) -> Certificate {
        let encoding = Encoding(der: der)
        if let known = proofs.withLock({ $0.certificates[encoding] }) { return known }
        let certificate = try Certificate(der: der)
        proofs.withLock { proofs in
            if proofs.certificates.count >= Self.limit { proofs.certificates.removeAll() }
            proofs.certificates[encoding] = certificate
        }
        return certificate
    }

    /// Whether `issuer` signed `certificate`.
    func isSigned(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        let link = Link(certificate: certificate, issuer: issuer)
        if proofs.withLock({ $0.links.contains(link) }) { return true }
        guard certificate.isSigned(by: issuer) else { return false }
        proofs.withLock { proofs in
            if proofs.links.count >= Self.limit { proofs.links.removeAll() }
            proofs.links.insert(link)
        }
        return true
    }

    /// Checks a chain whose certificates are all in date at `time`.
    ///
    /// - Returns: the number of its certificates.
    /// - Throws: why OpenSSL refuses it.
    func check(
        _ leaf: Certificate,
        _ issuer: Certificate,
        _ root: Certificate,
        at time: Int64
    ) throws(CryptographyError) -> Int {
        let key = [leaf, issuer, root]
        if proofs.withLock({ $0.chains.contains(key) }) { return key.count }
        let chain = try CertificateChain.build(leaf: leaf, intermediates: [issuer], roots: [root], at: time)
        guard chain == key else { return chain.count }
        proofs.withLock { proofs in
            if proofs.chains.count >= Self.limit { proofs.chains.removeAll() }
            proofs.chains.insert(key)
        }
        return key.count
    }
}
