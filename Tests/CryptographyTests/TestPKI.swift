// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// A small authority in the layout of Apple's, made once for all tests.
struct TestPKI: Sendable {
    static let orderType = "order.com.example.shop"
    static let now: Int64 = 1_767_225_600  // 2026-01-01T00:00:00Z
    private static let made = Result { try TestPKI() }

    /// The one authority, or why it could not be made.
    static func shared() throws -> TestPKI { try made.get() }

    let rootKey: PrivateKey
    let root: Certificate
    let intermediateKey: PrivateKey
    let intermediate: Certificate
    let leafKey: PrivateKey
    let leaf: Certificate
    let serverKey: PrivateKey
    let server: Certificate

    private init() throws {
        rootKey = try PrivateKey.generateRSA()
        var template = CertificateTemplate.authority(
            subject: [(.commonName, "Example Root CA"), (.organization, "Example Inc."), (.country, "US")],
            notBefore: Self.now - 400_000_000,
            notAfter: Self.now + 4_000_000_000
        )
        root = try template.issue(for: rootKey, issuer: nil)
        intermediateKey = try PrivateKey.generateRSA()
        template.subject = [
            (.commonName, "Example Developer Relations"), (.organizationalUnit, "G4"), (.organization, "Example Inc."),
            (.country, "US"),
        ]
        template.pathLength = 0
        template.privateExtensions = [.marker("1.2.840.113635.100.6.2.1")]
        intermediate = try template.issue(for: intermediateKey, issuer: (root, rootKey))
        leafKey = try PrivateKey.generateRSA()
        leaf = try Self.leafTemplate().issue(for: leafKey, issuer: (intermediate, intermediateKey))
        serverKey = try PrivateKey.generateP256()
        let serverTemplate = CertificateTemplate.server(
            notBefore: Self.now - 86_400,
            notAfter: Self.now + 4_000_000_000
        )
        server = try serverTemplate.issue(for: serverKey, issuer: (intermediate, intermediateKey))
    }

    /// An order signing certificate, laid out as Apple does.
    static func leafTemplate(_ orderType: String = TestPKI.orderType) -> CertificateTemplate {
        var template = CertificateTemplate(
            subject: [
                (.userID, orderType), (.commonName, "Order Type ID: \(orderType)"),
                (.organizationalUnit, "A1B2C3D4E5"), (.organization, "Beispiel Bäckerei"), (.country, "US"),
            ],
            notBefore: now - 86_400,
            notAfter: now + 4_000_000_000
        )
        template.extendedKeyUsage = ["1.3.6.1.5.5.7.3.2", "1.2.840.113635.100.4.19"]
        template.privateExtensions = [
            .text("1.2.840.113635.100.14.2", orderType), .marker("1.2.840.113635.100.6.3.2"),
        ]
        return template
    }
}
