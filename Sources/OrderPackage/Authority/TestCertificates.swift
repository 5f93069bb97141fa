// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel

/// The layouts of Apple's certificates, under invented names.
enum TestCertificates {
    private static let day: Int64 = 86_400

    static func root(_ now: Int64) -> CertificateTemplate {
        CertificateTemplate.authority(
            subject: [
                (.commonName, "walletorders Test Root CA"), (.organizationalUnit, "Test Certification Authority"),
                (.organization, "Example Inc."), (.country, "US"),
            ],
            notBefore: now - day,
            notAfter: now + 3_650 * day
        )
    }

    static func intermediate(_ generation: String, _ now: Int64) -> CertificateTemplate {
        var template = CertificateTemplate.authority(
            subject: [
                (.commonName, "walletorders Test Developer Relations Certification Authority"),
                (.organizationalUnit, generation), (.organization, "Example Inc."), (.country, "US"),
            ],
            notBefore: now - day,
            notAfter: now + 3_000 * day
        )
        template.pathLength = 0
        template.privateExtensions = [.marker(WalletPolicy.intermediateMarker)]
        return template
    }

    /// The most characters that a common name may have (RFC 5280 A.1, ub-common-name).
    private static let nameLimit = 64

    /// Thirteen months, as Apple's. What names a long order type is the user identifier and the extension; the common name, for
    /// people, is cut.
    static func leaf(_ orderType: OrderTypeIdentifier, _ now: Int64) -> CertificateTemplate {
        var template = CertificateTemplate(
            subject: [
                (.userID, orderType.text), (.commonName, String("Order Type ID: \(orderType)".prefix(nameLimit))),
                (.organizationalUnit, "A1B2C3D4E5"), (.organization, "Example Inc."), (.country, "US"),
            ],
            notBefore: now - day,
            notAfter: now + 395 * day
        )
        template.extendedKeyUsage = [WalletPolicy.clientUsage, WalletPolicy.orderUsage]
        template.privateExtensions = [
            .text(WalletPolicy.orderType, orderType.text), .marker(WalletPolicy.pushMarker), accessInformation, policy,
            revocationList,
        ]
        return template
    }

    // The addresses are of nobody: they show where Apple's stand.
    private static let accessInformation = standard(
        "1.3.6.1.5.5.7.1.1",
        sequence([
            sequence([identifier("1.3.6.1.5.5.7.48.2"), address("http://certs.example.com/wwdrg4.der")]),
            sequence([identifier("1.3.6.1.5.5.7.48.1"), address("http://ocsp.example.com/ocsp03-wwdrg4")]),
        ])
    )
    private static let policy = standard("2.5.29.32", sequence([sequence([identifier("1.2.840.113635.100.5.1")])]))
    private static let revocationList = standard(
        "2.5.29.31",
        sequence([sequence([DER.value(0xA0, DER.value(0xA0, address("http://crl.example.com/wwdrg4.crl")))])])
    )

    private static func standard(_ oid: String, _ der: [UInt8]) -> CertificateTemplate.PrivateExtension {
        CertificateTemplate.PrivateExtension(oid: oid, der: der)
    }

    private static func sequence(_ values: [[UInt8]]) -> [UInt8] { DER.sequence(values) }

    private static func identifier(_ dotted: String) -> [UInt8] { DER.objectIdentifier(dotted) ?? [] }

    /// GeneralName, uniformResourceIdentifier.
    private static func address(_ url: String) -> [UInt8] { DER.value(0x86, Array(url.utf8)) }

    /// Thirteen months, the longest that Apple's systems take for TLS.
    static func server(_ now: Int64, hosts: [String] = []) -> CertificateTemplate {
        CertificateTemplate.server(
            dnsNames: ["localhost"] + hosts,
            notBefore: now - day,
            notAfter: now + 395 * day
        )
    }
}
