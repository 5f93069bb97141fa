// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Finds and checks the way from a certificate to a trusted root.
package enum CertificateChain {
    /// The chain from `leaf` to one of `roots`, both included, checked as of a moment: names, signatures, validity,
    /// who may issue, critical extensions, keys of at least 112 bits of strength (RSA 2048), no SHA-1 below the root.
    /// What the leaf may be used for is not looked at, nor revocation.
    /// - Parameters:
    ///   - leaf: where the chain begins.
    ///   - intermediates: what it may go through.
    ///   - roots: where it may end.
    ///   - mayEndBelowRoot: whether a chain may also end at one of `roots` that others issued: where the root isn't at hand.
    ///   - time: seconds since 1970; a certificate's last second is one of its validity.
    /// - Throws: `chain`, `expired`, `notYetValid`, `badSignature`, `weakKey`, `weakSignature`, each naming the
    ///   certificate.
    package static func build(
        leaf: Certificate,
        intermediates: [Certificate],
        roots: [Certificate],
        mayEndBelowRoot: Bool = false,
        at time: Int64
    ) throws(CryptographyError) -> [Certificate] {
        OpenSSLFailures.clear()
        guard let store = unsafe X509_STORE_new() else { fatalError("out of memory") }
        defer { unsafe X509_STORE_free(store) }
        for root in roots { unsafe X509_STORE_add_cert(store, root.pointer) }
        guard let context = unsafe X509_STORE_CTX_new() else { fatalError("out of memory") }
        defer { unsafe X509_STORE_CTX_free(context) }
        let untrusted = CertificateStack(intermediates)
        let verified = unsafe untrusted.withPointer { stack in
            guard unsafe X509_STORE_CTX_init(context, store, leaf.pointer, stack) == 1,
                let parameters = unsafe X509_STORE_CTX_get0_param(context)
            else { return false }
            unsafe X509_VERIFY_PARAM_set_time(parameters, Int(time))
            unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
            unsafe X509_STORE_CTX_set_verify_cb(context, leniency)
            if mayEndBelowRoot { unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) }
            return unsafe X509_verify_cert(context) == 1
        }
        guard verified else {
            let failures = OpenSSLFailures.drain()
            let fault = unsafe X509_STORE_CTX_get_error(context)
            let failed = unsafe X509_STORE_CTX_get_current_cert(context)
            let culprit = unsafe failed.flatMap { try? unsafe Certificate(sharing: $0) } ?? leaf
            var error = error(fault, culprit, given: intermediates + roots, failures)
            error.culprit = culprit
            throw error
        }
        return try unsafe CertificateStack.certificates(of: X509_STORE_CTX_get0_chain(context))
    }

    /// Takes what OpenSSL refuses and Apple's systems, or RFC 5280, don't.
    ///
    /// A certificate in its last second: validity is from notBefore through notAfter, inclusive (RFC 5280 4.1.2.5), but OpenSSL
    /// calls a certificate expired at notAfter itself. And Apple's own markers as critical extensions, which its systems
    /// know whatever they mark (Apple's open-source Security framework, `isAppleExtensionOID`).
    private static let leniency: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isFine, context in
        guard isFine == 0, let context = unsafe context,
            let culprit = unsafe X509_STORE_CTX_get_current_cert(context),
            let parameters = unsafe X509_STORE_CTX_get0_param(context)
        else { return isFine }
        switch unsafe X509_STORE_CTX_get_error(context) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            let end = unsafe ASN1Time.seconds(X509_get0_notAfter(culprit))
            return unsafe end == Int64(X509_VERIFY_PARAM_get_time(parameters)) ? 1 : 0
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION:
            for index in unsafe 0..<max(0, X509_get_ext_count(culprit)) {
                let found = unsafe X509_get_ext(culprit, index)
                if unsafe X509_EXTENSION_get_critical(found) == 0 || X509_supported_extension(found) == 1 { continue }
                let oid = unsafe ObjectIdentifier.dotted(X509_EXTENSION_get_object(found)) ?? ""
                guard oid.hasPrefix("1.2.840.113635.100.6.") else { return 0 }
            }
            return 1
        default: return 0
        }
    }

    private static func error(
        _ fault: Int32,
        _ culprit: Certificate,
        given: [Certificate],
        _ failures: OpenSSLFailures
    ) -> CryptographyError {
        let name = culprit.subjectDescription
        switch fault {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return failures.error(.expired, "\(name) expired at \(ASN1Time.text(culprit.notAfter))")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return failures.error(.notYetValid, "\(name) is valid only from \(ASN1Time.text(culprit.notBefore)) on")
        case X509_V_ERR_CERT_SIGNATURE_FAILURE,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE
        where culprit.isSelfIssued || given.contains { culprit.names($0) }:
            return failures.error(
                .badSignature,
                "the signature on \(name) is not its issuer's; ask for a new certificate"
            )
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL:
            return failures.error(.weakKey, "the key of \(name) has only \(culprit.keyBits) bits")
        case X509_V_ERR_CA_MD_TOO_WEAK:
            return failures.error(.weakSignature, "\(name) is signed with SHA-1")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            return failures.error(.chain, "the chain ends at \(name), which is not among the trusted roots")
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            let others = given.map { "\($0.subjectDescription)\(key($0.subjectKeyIdentifier))" }
            return failures.error(
                .chain,
                "the chain is incomplete: \(name) needs its issuer \(culprit.issuerDescription)"
                    + key(culprit.authorityKeyIdentifier)
                    + (others.isEmpty ? "; none was given" : "; given were \(others.joined(separator: " and "))")
            )
        default:
            let reason = unsafe String(cString: X509_verify_cert_error_string(Int(fault)))
            return failures.error(.chain, "\(name) can't be verified: \(reason)")
        }
    }

    private static func key(_ identifier: [UInt8]?) -> String {
        identifier.map { " (key id \(KeyIdentifier.text($0)))" } ?? ""
    }
}
