// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// Apple's public certificate authority, as far as order signing touches it.
public enum AppleAuthority {
    /// The roots that Wallet trusts for orders.
    public static let roots = read([
        AppleCertificates.rootCA, AppleCertificates.rootCAG2, AppleCertificates.rootCAG3,
    ])

    /// The Worldwide Developer Relations intermediates that are valid and known here: G3, G4 and G5.
    public static let intermediates = read([
        AppleCertificates.worldwideG3, AppleCertificates.worldwideG4, AppleCertificates.worldwideG5,
    ])

    /// The intermediate whose key a certificate names as its issuer's, when it is one of Apple's.
    public static func issuer(of certificate: Certificate) -> Certificate? {
        guard let identifier = certificate.authorityKeyIdentifier else { return nil }
        return intermediates.first { $0.subjectKeyIdentifier == identifier }
    }

    /// The root that an intermediate names as its issuer, when it is one of Apple's.
    static func root(of intermediate: Certificate) -> Certificate? {
        guard let identifier = intermediate.authorityKeyIdentifier else { return nil }
        return roots.first { $0.subjectKeyIdentifier == identifier }
    }

    /// The name of the authority that issued a certificate, with its key identifier, for messages.
    static func describeIssuer(of certificate: Certificate) -> String {
        guard let identifier = certificate.authorityKeyIdentifier else { return certificate.issuerDescription }
        return "\(generation(identifier) ?? certificate.issuerDescription) (key id \(KeyIdentifier.text(identifier)))"
    }

    /// The name of a certificate with its key identifier, for messages.
    static func describe(_ certificate: Certificate) -> String {
        guard let identifier = certificate.subjectKeyIdentifier else { return certificate.subjectDescription }
        return "\(generation(identifier) ?? certificate.subjectDescription) (key id \(KeyIdentifier.text(identifier)))"
    }

    /// Apple's short name for an intermediate's key. G1 is known only by name: it expired on 2023-02-07.
    private static func generation(_ identifier: [UInt8]) -> String? {
        switch KeyIdentifier.text(identifier) {
        case "88:27:17:09:A9:B6:18:60:8B:EC:EB:BA:F6:47:59:C5:52:54:A3:B7": return "Apple WWDR G1"
        default: break
        }
        guard let known = intermediates.first(where: { $0.subjectKeyIdentifier == identifier }) else { return nil }
        return known.subject(.organizationalUnit).map { "Apple WWDR \($0)" }
    }

    /// The certificates are constants that a test reads; one that couldn't be read would be missing here.
    private static func read(_ texts: [String]) -> [Certificate] {
        texts.compactMap { try? Certificate(pem: Array($0.utf8)) }
    }
}
