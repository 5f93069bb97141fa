// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import ServiceRuntime

/// Checks the signer's certificates as Wallet's trust policy for orders does, every point by itself.
///
/// Source: Apple's open-source Security framework, `SecPolicyCreateOrderBundleSigner`; revocation is not looked at.
struct ChainCheck {
    private(set) var list = FindingList()
    private let time: Int64
    /// What `time` is, for people.
    private var moment: String { isAskedFor ? "the time asked for" : "the signing time" }
    private let isAskedFor: Bool
    private let embedded: [Certificate]
    private let known: [Certificate]
    private let roots: [Certificate]
    private let memory: ChainMemory

    private static let path = SignatureCheck.path
    private static let withOrderCertificate = "Sign with the Order Type ID certificate of this order type."
    private static let withAppleIntermediate =
        "Sign with a certificate that Apple's Worldwide Developer Relations intermediate issued."

    /// - Parameters:
    ///   - leaf: the certificate that signed.
    ///   - embedded: the certificates in the signature.
    ///   - known: further intermediates: Apple's, and those given.
    ///   - time: the moment at which validity is judged: the signing time, unless another was asked for.
    ///   - isAskedFor: whether it is another.
    init(
        leaf: Certificate,
        embedded: [Certificate],
        known: [Certificate],
        roots: [Certificate],
        at time: Int64,
        isAskedFor: Bool,
        memory: ChainMemory
    ) {
        self.time = time
        self.isAskedFor = isAskedFor
        self.memory = memory
        self.embedded = embedded.filter { $0 != leaf }
        self.known = known
        self.roots = roots
        checkLeaf(leaf)
        checkValidity(leaf)
        guard let issuer = findIssuer(of: leaf) else { return }
        checkIntermediate(issuer)
        checkValidity(issuer)
        noteOthers(than: issuer)
        guard let root = findRoot(of: issuer) else { return }
        checkValidity(root)
        guard !list.findings.contains(where: \.isError) else { return }
        // The checks above name each fault by itself; OpenSSL's own are the safety net beneath (path lengths,
        // critical extensions, name constraints).
        do throws(CryptographyError) {
            let count = try memory.check(leaf, issuer, root, at: time)
            if count != 3 { addLength(count) }
        } catch {
            let isOfIssuer = error.culprit == issuer
            list.error(
                "chain-refused",
                Self.path,
                ArchiveCheck.sentence(error.message),
                fix: isOfIssuer
                    ? "Embed the issuer as Apple publishes it; a new certificate of your own changes nothing."
                    : "Ask for a new certificate."
            )
        }
    }

    private mutating func checkLeaf(_ leaf: Certificate) {
        if let type = leaf.extensionString(WalletPolicy.orderType) {
            if leaf.subject(.userID) != type {
                list.warning(
                    "certificate-subject",
                    Self.path,
                    "The certificate's subject names another order type than its extension, \(type).",
                    fix: "Ask for a new certificate; devices go by the extension, APNs by the subject."
                )
            }
        } else {
            let name = leaf.subjectDescription
            let isPass = leaf.extensionValue(WalletPolicy.passType) != nil
            list.error(
                "certificate-kind",
                Self.path,
                isPass ? "\(name) is a Pass Type ID certificate." : "\(name) is no Order Type ID certificate.",
                fix: Self.withOrderCertificate
            )
        }
        if !leaf.extendedKeyUsage.contains(WalletPolicy.orderUsage) {
            list.error(
                "certificate-usage",
                Self.path,
                "The certificate may not sign orders: it lacks the extended key usage \(WalletPolicy.orderUsage).",
                fix: Self.withOrderCertificate
            )
        }
        if !leaf.keyUsageDigitalSignature {
            list.error(
                "certificate-key-usage",
                Self.path,
                "The certificate's key usage lacks digital signature.",
                fix: Self.withOrderCertificate
            )
        }
        if !leaf.isRSA {
            list.error(
                "certificate-not-rsa",
                Self.path,
                "The certificate's key isn't RSA.",
                fix: "Request the certificate with an RSA key of 2048 bits."
            )
        } else if leaf.keyBits < WalletPolicy.smallestKey {
            addWeakKey(leaf)
        }
        checkDigest(leaf)
        checkExtensions(leaf)
    }

    private mutating func addWeakKey(_ certificate: Certificate) {
        list.error(
            "certificate-weak-key",
            Self.path,
            "The key of \(AppleAuthority.describe(certificate)) has only \(certificate.keyBits) bits.",
            fix: "Request the certificate with an RSA key of 2048 bits."
        )
    }

    private mutating func checkDigest(_ certificate: Certificate) {
        guard certificate.signatureUsesSHA1 else { return }
        list.error(
            "certificate-weak-signature",
            Self.path,
            "\(certificate.subjectDescription) is signed with SHA-1 or MD5.",
            fix: "Ask for a new certificate."
        )
    }

    private mutating func checkExtensions(_ certificate: Certificate) {
        let repeated = certificate.repeatedExtensions
        guard !repeated.isEmpty else { return }
        list.warning(
            "certificate-extension-repeated",
            Self.path,
            "\(certificate.subjectDescription) has more than one of the extension \(repeated.joined(separator: " and ")).",
            fix: "Ask for a new certificate: readers differ in which of them counts (RFC 5280 4.2)."
        )
    }

    private mutating func checkValidity(_ certificate: Certificate) {
        if time > certificate.notAfter {
            let name = certificate.subjectDescription
            list.error(
                "certificate-expired",
                Self.path,
                "\(name) had expired on \(text(certificate.notAfter)), before \(moment), \(text(time)).",
                fix: "Renew the certificate and build the package anew."
            )
        }
        if time < certificate.notBefore {
            let name = certificate.subjectDescription
            list.error(
                "certificate-not-yet-valid",
                Self.path,
                "\(name) is valid from \(text(certificate.notBefore)) on, after \(moment), \(text(time)).",
                fix: isAskedFor ? "Ask for a later time." : "Set the signing machine's clock."
            )
        }
    }

    private func text(_ second: Int64) -> String { WallTime(seconds: second).rfc3339 }

    /// The certificate that really issued the leaf, from the package or from what is known here.
    private mutating func findIssuer(of leaf: Certificate) -> Certificate? {
        if leaf.isSelfIssued {
            list.error(
                "certificate-self-signed",
                Self.path,
                "\(leaf.subjectDescription) is signed by itself, not by Apple.",
                fix: Self.withOrderCertificate
            )
            return nil
        }
        let own = signer(of: leaf, among: embedded)
        if let own, isInDate(own) { return own }
        let issuer = signer(of: leaf, among: known)
        if let own {
            guard let issuer, isInDate(issuer) else { return own }
            list.warning(
                "intermediate-wrong",
                Self.path,
                "The signature embeds \(AppleAuthority.describe(own)) as it was valid at another time, not at \(moment).",
                fix: "Embed the one that is valid now, which has the same key."
            )
            return issuer
        }
        let needed = AppleAuthority.describeIssuer(of: leaf)
        let wrong = embedded.filter { $0.isCA && !$0.isSelfIssued }
        if let named = (wrong + known).first(where: { names($0, leaf) }), issuer == nil {
            list.error(
                "chain-broken",
                Self.path,
                "The certificate names \(AppleAuthority.describe(named)) as its issuer, but isn't signed by it.",
                fix: "Ask for a new certificate."
            )
            return nil
        }
        if wrong.isEmpty {
            list.warning(
                "intermediate-missing",
                Self.path,
                "The signature doesn't embed the certificate's issuer, \(needed).",
                fix: "Embed it, so that devices needn't look for it."
            )
        } else {
            let given = wrong.map(AppleAuthority.describe).joined(separator: " and ")
            list.warning(
                "intermediate-wrong",
                Self.path,
                "The signature embeds \(given), but the certificate was issued by \(needed).",
                fix: "Embed the issuer instead."
            )
        }
        if let issuer { return issuer }
        if roots.contains(where: { memory.isSigned(leaf, by: $0) }) {
            addLength(2)
            return nil
        }
        list.error(
            "chain-incomplete",
            Self.path,
            "The chain is incomplete: \(leaf.subjectDescription) needs \(needed).",
            fix: "Embed that intermediate in the signature."
        )
        return nil
    }

    /// Who signed a certificate. An authority may have its key certified again, so of several that one counts which is in
    /// date, as it does for whoever builds paths; where none is, the first.
    private func signer(of certificate: Certificate, among candidates: [Certificate]) -> Certificate? {
        var first: Certificate?
        for candidate in candidates where memory.isSigned(certificate, by: candidate) {
            if isInDate(candidate) { return candidate }
            first = first ?? candidate
        }
        return first
    }

    private func isInDate(_ certificate: Certificate) -> Bool {
        time >= certificate.notBefore && time <= certificate.notAfter
    }

    /// Tells of embedded certificates that are no part of the chain. Roots are told of with the signature's form.
    private mutating func noteOthers(than issuer: Certificate) {
        guard embedded.contains(issuer) else { return }
        for other in embedded where other != issuer && !other.isSelfIssued && !memory.isSigned(issuer, by: other) {
            let hasSameKey = other.subjectKeyIdentifier.map { $0 == issuer.subjectKeyIdentifier } ?? false
            list.note(
                "certificate-unneeded",
                Self.path,
                "The signature embeds \(AppleAuthority.describe(other)), "
                    + (hasSameKey ? "and another of the same key, which counts." : "which is no part of the chain."),
                fix: "Embed the signing certificate and its intermediate only."
            )
        }
    }

    private func names(_ issuer: Certificate, _ leaf: Certificate) -> Bool {
        guard let wanted = leaf.authorityKeyIdentifier, let own = issuer.subjectKeyIdentifier else { return false }
        return wanted == own
    }

    private mutating func checkIntermediate(_ issuer: Certificate) {
        if issuer.extensionValue(WalletPolicy.intermediateMarker) == nil {
            let name = AppleAuthority.describe(issuer)
            list.error(
                "intermediate-marker",
                Self.path,
                "\(name) is no Worldwide Developer Relations intermediate: it lacks \(WalletPolicy.intermediateMarker).",
                fix: Self.withAppleIntermediate
            )
        }
        if !issuer.isCA {
            let name = AppleAuthority.describe(issuer)
            list.error(
                "intermediate-not-authority",
                Self.path,
                "\(name) may not issue certificates.",
                fix: Self.withAppleIntermediate
            )
        }
        if issuer.isRSA ? issuer.keyBits < WalletPolicy.smallestKey : issuer.keyBits < 256 {
            addWeakKey(issuer)
        }
        checkDigest(issuer)
        checkExtensions(issuer)
    }

    private mutating func findRoot(of issuer: Certificate) -> Certificate? {
        if roots.contains(issuer) {
            guard !issuer.isSelfIssued else {
                addLength(2)
                return nil
            }
            list.error(
                "chain-length",
                Self.path,
                "What is trusted, \(AppleAuthority.describe(issuer)), is an intermediate: Wallet takes exactly three"
                    + " certificates, leaf, intermediate, root.",
                fix: "Trust the root that issued it (--trust root.pem), not the intermediate."
            )
            return nil
        }
        if let root = signer(of: issuer, among: roots) { return root }
        let above = (embedded + known).filter { $0 != issuer && memory.isSigned(issuer, by: $0) }
        if above.contains(where: { upper in roots.contains { memory.isSigned(upper, by: $0) } }) {
            addLength(4)
            return nil
        }
        list.error(
            "chain-untrusted",
            Self.path,
            "No trusted root issued \(AppleAuthority.describe(issuer)); it names \(issuer.issuerDescription).",
            fix: "Sign with a certificate of Apple's; for a test authority, trust its root (--trust root.pem)."
        )
        return nil
    }

    private mutating func addLength(_ count: Int) {
        list.error(
            "chain-length",
            Self.path,
            "The chain has \(count) certificates; Wallet takes exactly three: leaf, intermediate, root.",
            fix: Self.withAppleIntermediate
        )
    }
}
