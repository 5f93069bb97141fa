// SPDX-License-Identifier: Apache-2.0

import Cryptography
public import OrderModel
import ServiceRuntime

extension SigningIdentity {
    /// Whether the chain is in date.
    public enum Validity: Sendable, Hashable {
        /// It is, for at least thirty days to come.
        case valid
        /// It is, for this many more whole days, fewer than thirty.
        case ending(days: Int)
        /// No longer: what happens from now on can't be signed.
        case expired
        /// Not yet; the clock may be wrong.
        case notYetValid
    }

    /// Whether the chain is in date at a second since 1970.
    public func validity(at second: Int64) -> Validity {
        if second > chainNotAfter { return .expired }
        if second < chainNotBefore { return .notYetValid }
        let days = (chainNotAfter - second) / 86_400
        return days < 30 ? .ending(days: Int(days)) : .valid
    }

    /// Refuses a chain that is out of date at a second since 1970.
    ///
    /// For whoever signs something new. A server doesn't ask: what was made while the chain was valid is still built.
    /// - Throws: `expired`, `notYetValid`, each with the certificate and the date.
    public func checkValidity(at second: Int64) throws(OrderPackageError) {
        switch validity(at: second) {
        case .valid, .ending: return
        case .expired:
            throw OrderPackageError(
                .expired,
                "\(ending.subjectDescription) expired on \(WallTime(seconds: ending.notAfter).rfc3339); make a new"
                    + " request with walletorders identity request, and a new certificate from it in Apple's portal"
            )
        case .notYetValid:
            let late = chain.max { $0.notBefore < $1.notBefore } ?? certificate
            throw OrderPackageError(
                .notYetValid,
                "\(late.subjectDescription) is valid only from \(WallTime(seconds: late.notBefore).rfc3339) on;"
                    + " check this machine's clock"
            )
        }
    }

    /// Advice about the identity at a second since 1970: outdated ciphers of its file, and an end within thirty days.
    public func findings(at second: Int64) -> [Finding] {
        guard case .ending(let days) = validity(at: second) else { return findings }
        let finding = Finding(
            severity: .warning,
            code: "identity-ending",
            path: source,
            message: "\(ending.subjectDescription) ends on \(WallTime(seconds: ending.notAfter).rfc3339), in"
                + " \(days) \(days == 1 ? "day" : "days").",
            fix: "Make a new certificate in Apple's portal now; walletorders identity request makes its request."
        )
        return findings + [finding]
    }

    /// The certificate of the chain that ends first.
    private var ending: Certificate { chain.min { $0.notAfter < $1.notAfter } ?? certificate }
}
