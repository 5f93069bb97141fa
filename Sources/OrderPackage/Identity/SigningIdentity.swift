// SPDX-License-Identifier: Apache-2.0

public import Cryptography
public import OrderModel
import ServiceRuntime

/// An Order Type ID certificate with its key and the intermediate that issued it: everything that signs a package.
///
/// Made only when each check that Wallet would make later has been made: a wrong file is refused at start with its own
/// message, not by a customer's phone with a generic one. Whether the certificates are in date is the one thing that
/// changes afterwards; ask ``validity(at:)``.
public struct SigningIdentity: Sendable {
    /// The Order Type ID certificate.
    public let certificate: Certificate
    /// Its private key.
    package let key: PrivateKey
    /// The intermediate that issued the certificate; it travels in every package.
    public let intermediate: Certificate
    /// Whose orders it signs, as Wallet compares it: extension 1.2.840.113635.100.14.2 and the subject's UID.
    public let orderTypeIdentifier: OrderTypeIdentifier
    /// The ten-character team from the subject's OU, or "" where there is none.
    public let teamIdentifier: String
    /// The certificate, its issuer, and the root where it is one of Apple's.
    let chain: [Certificate]
    /// Whether the chain ends at a root of Apple, and so works on customers' devices.
    public let isApple: Bool
    /// The earliest moment at which every certificate of the chain is valid, in seconds since 1970.
    public let chainNotBefore: Int64
    /// The last moment at which every certificate of the chain is valid, in seconds since 1970.
    public let chainNotAfter: Int64
    /// Signs manifests; what is the same in each signature is written already.
    let signer: CMSSigner
    /// Advice about the files it came from, such as a PKCS#12 file with outdated ciphers.
    public internal(set) var findings: [Finding] = []
    /// The file it was read from, for findings.
    var source = "identity"

    /// Checks a certificate, its key and its issuer.
    ///
    /// - Parameters:
    ///   - certificate: the order type's certificate.
    ///   - key: its private key.
    ///   - intermediates: where the issuer is looked for; when empty, among Apple's own.
    /// - Throws: `notRSA`, `weakKey`, `weakSignature`, `notAnOrderCertificate`, `identifierMismatch`, `keyMismatch`,
    ///   `wrongIntermediate`, `unknownIssuer`, `unfitIntermediate`, `brokenChain`.
    public init(
        certificate: Certificate,
        key: PrivateKey,
        intermediates: [Certificate] = []
    ) throws(OrderPackageError) {
        try self.init(certificate: certificate, key: key, given: intermediates, found: [], findings: [])
    }

    /// - Parameters:
    ///   - given: chosen by the operator: one of them must be the issuer.
    ///   - found: came along in the identity's file: used where one fits.
    ///   - second: when the issuer is to be in date, where there are several; nil for now.
    init(
        certificate: Certificate,
        key: PrivateKey,
        given: [Certificate],
        found: [Certificate],
        findings: [Finding],
        at second: Int64? = nil
    ) throws(OrderPackageError) {
        try Self.checkKey(certificate, key)
        orderTypeIdentifier = try Self.checkNames(certificate)
        let intermediate = try Self.findIssuer(
            of: certificate,
            given: given,
            found: found,
            at: second ?? WallTime.now().seconds
        )
        let root = AppleAuthority.root(of: intermediate)
        try Self.checkChain(certificate, intermediate, root)
        let chain = [certificate, intermediate] + (root.map { [$0] } ?? [])
        do throws(CryptographyError) {
            signer = try CMSSigner(certificate: certificate, key: key, intermediates: [intermediate])
        } catch {
            throw OrderPackageError(error)
        }
        self.certificate = certificate
        self.key = key
        self.intermediate = intermediate
        self.findings = findings
        self.chain = chain
        teamIdentifier = certificate.subject(.organizationalUnit) ?? ""
        isApple = root != nil
        chainNotBefore = chain.map(\.notBefore).reduce(.min, max)
        chainNotAfter = chain.map(\.notAfter).reduce(.max, min)
    }

    /// The certificate's serial number in lower-case hexadecimal digits, to tell identities apart in logs.
    public var serial: String { certificate.serialHex }

    /// When the certificate itself becomes valid, in seconds since 1970.
    public var notBefore: Int64 { certificate.notBefore }

    /// When the certificate itself ends, in seconds since 1970.
    public var notAfter: Int64 { certificate.notAfter }

    /// The signing time of something that happened at `second`: moved up to where the whole chain is valid, since
    /// Wallet judges certificates at the signing time.
    public func signingTime(for second: Int64) -> Int64 { max(second, chainNotBefore) }

    // MARK: The checks

    private static func checkKey(_ certificate: Certificate, _ key: PrivateKey) throws(OrderPackageError) {
        let name = certificate.subjectDescription
        guard certificate.isRSA else {
            throw OrderPackageError(
                .notRSA,
                "the key of \(name) is not RSA; request the certificate with an RSA key of 2048 bits"
            )
        }
        guard certificate.keyBits >= WalletPolicy.smallestKey else {
            throw OrderPackageError(
                .weakKey,
                "the key of \(name) has \(certificate.keyBits) bits; request a certificate with an RSA key of 2048 bits"
            )
        }
        guard !certificate.signatureUsesSHA1 else {
            throw OrderPackageError(
                .weakSignature,
                "\(name) is signed with SHA-1 or MD5, which devices refuse; ask for a new certificate"
            )
        }
        guard certificate.matches(key) else {
            throw OrderPackageError(
                .keyMismatch,
                "the private key does not belong to the certificate \(name); use the key that its request was made with"
            )
        }
    }

    private static func checkNames(_ certificate: Certificate) throws(OrderPackageError) -> OrderTypeIdentifier {
        let name = certificate.subjectDescription
        guard let text = certificate.extensionString(WalletPolicy.orderType) else {
            let isPass = certificate.extensionValue(WalletPolicy.passType) != nil
            throw OrderPackageError(
                .notAnOrderCertificate,
                isPass
                    ? "\(name) is a Pass Type ID certificate; orders need an Order Type ID certificate"
                    : "\(name) is no Order Type ID certificate (it lacks extension \(WalletPolicy.orderType))"
            )
        }
        guard certificate.extendedKeyUsage.contains(WalletPolicy.orderUsage) else {
            throw OrderPackageError(
                .notAnOrderCertificate,
                "\(name) may not sign orders (it lacks the key usage \(WalletPolicy.orderUsage))"
            )
        }
        guard certificate.keyUsageDigitalSignature else {
            throw OrderPackageError(
                .notAnOrderCertificate,
                "\(name) may not sign (its key usage lacks digital signature)"
            )
        }
        let user = certificate.subject(.userID)
        guard user == text else {
            throw OrderPackageError(
                .identifierMismatch,
                "\(name) names two order types: \(user ?? "none") in its subject, \(text) in its extension"
            )
        }
        do throws(IdentifierError) {
            return try OrderTypeIdentifier(text)
        } catch {
            throw OrderPackageError(.notAnOrderCertificate, "\(name) has an unusable order type: \(error.message)")
        }
    }

    private static func findIssuer(
        of certificate: Certificate,
        given: [Certificate],
        found: [Certificate],
        at second: Int64
    ) throws(OrderPackageError) -> Certificate {
        func issues(_ candidate: Certificate) -> Bool {
            guard let wanted = certificate.authorityKeyIdentifier, let own = candidate.subjectKeyIdentifier else {
                return candidate.subjectDescription == certificate.issuerDescription
            }
            return wanted == own
        }
        // An authority may have its key certified again, under the same name. Of those that signed, the one that is in date and
        // ends last is taken; one that only has the right names is told of later.
        func best(_ candidates: [Certificate]) -> Certificate? {
            let named = candidates.filter(issues)
            return named.filter { certificate.isSigned(by: $0) }.max { $1.isBetter(than: $0, at: second) }
                ?? named.first
        }
        if let issuer = best(given) { return issuer }
        let needed = AppleAuthority.describeIssuer(of: certificate)
        if !given.isEmpty {
            let others = given.map(AppleAuthority.describe).joined(separator: " and ")
            let advice =
                AppleAuthority.issuer(of: certificate) == nil
                ? "give that intermediate instead" : "leave the intermediate out, and the right one is taken"
            // G6 is often taken for "the newest": it has an EC key and issues no certificates of this kind.
            let curve =
                given.contains { !$0.isRSA } ? " (an intermediate with an EC key issues no RSA certificates)" : ""
            throw OrderPackageError(
                .wrongIntermediate,
                "the certificate needs \(needed), not \(others)\(curve); \(advice)"
            )
        }
        if let issuer = best(found + AppleAuthority.intermediates) { return issuer }
        throw OrderPackageError(
            .unknownIssuer,
            "the certificate needs \(needed), which is not known here; give that intermediate"
        )
    }

    private static func checkChain(
        _ certificate: Certificate,
        _ intermediate: Certificate,
        _ root: Certificate?
    ) throws(OrderPackageError) {
        let name = AppleAuthority.describe(intermediate)
        guard intermediate.isCA, intermediate.extensionValue(WalletPolicy.intermediateMarker) != nil else {
            throw OrderPackageError(
                .unfitIntermediate,
                "\(name) is no Worldwide Developer Relations intermediate (it lacks \(WalletPolicy.intermediateMarker))"
            )
        }
        guard intermediate.isRSA ? intermediate.keyBits >= WalletPolicy.smallestKey : intermediate.keyBits >= 256 else {
            throw OrderPackageError(.weakKey, "the key of \(name) has only \(intermediate.keyBits) bits")
        }
        guard !intermediate.signatureUsesSHA1 else {
            throw OrderPackageError(
                .weakSignature,
                "\(name) is signed with SHA-1 or MD5, which devices refuse; give the intermediate as Apple publishes it now"
            )
        }
        guard certificate.isSigned(by: intermediate) else {
            throw OrderPackageError(
                .brokenChain,
                "\(certificate.subjectDescription) is not really signed by \(name); ask for a new certificate"
            )
        }
        if let root, !intermediate.isSigned(by: root) {
            throw OrderPackageError(
                .brokenChain,
                "\(name) is not really signed by \(root.subjectDescription); download the intermediate again"
            )
        }
        // The checks above name each fault by itself; OpenSSL's own are the safety net beneath (who may issue, path lengths,
        // critical extensions, name constraints), as they are where packages are verified.
        let time = [certificate, intermediate].map(\.notBefore).reduce(root?.notBefore ?? .min, max)
        do throws(CryptographyError) {
            _ = try CertificateChain.build(
                leaf: certificate,
                intermediates: [intermediate],
                roots: [root ?? intermediate],
                mayEndBelowRoot: root == nil,
                at: time
            )
        } catch {
            throw OrderPackageError(
                OrderPackageError(error).code,
                "devices would refuse the certificates: \(error.message); ask for a new certificate, or give its issuer as"
                    + " Apple publishes it"
            )
        }
    }
}
