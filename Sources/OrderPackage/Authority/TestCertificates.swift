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

    /// Thirteen months, as Apple's.
    static func leaf(_ orderType: OrderTypeIdentifier, _ now: Int64) -> CertificateTemplate {
        var template = CertificateTemplate(
            subject: [
                (.userID, orderType.text), (.commonName, "Order Type ID: \(orderType)"),
                (.organizationalUnit, "A1B2C3D4E5"), (.organization, "Example Inc."), (.country, "US"),
            ],
            notBefore: now - day,
            notAfter: now + 395 * day
        )
        template.extendedKeyUsage = [WalletPolicy.clientUsage, WalletPolicy.orderUsage]
        template.privateExtensions = [
            .text(WalletPolicy.orderType, orderType.text), .marker(WalletPolicy.pushMarker),
        ]
        return template
    }

    /// Thirteen months, the longest that Apple's systems take for TLS.
    static func server(_ now: Int64) -> CertificateTemplate {
        CertificateTemplate.server(notBefore: now - day, notAfter: now + 395 * day)
    }
}
