// SPDX-License-Identifier: Apache-2.0

import Cryptography

@testable import OrderPackage

extension BrokenPackage {
    private static let day: Int64 = 86_400

    /// Signs with a leaf that was spoilt before it was issued.
    private static func leaf(
        _ title: String,
        _ expected: [String],
        _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> BrokenPackage {
        BrokenPackage(title, expected) {
            let authority = try Fixtures.authority()
            var template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            change(&template)
            let key = authority.identity.key
            $0.leaf = (try template.issue(for: key, issuer: (authority.intermediate, authority.intermediateKey)), key)
        }
    }

    /// Signs with a good leaf of an intermediate that was spoilt before it was issued.
    private static func intermediate(
        _ title: String,
        _ expected: [String],
        key: PrivateKey? = nil,
        _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> BrokenPackage {
        BrokenPackage(title, expected.map { "\($0) signature" }) {
            let authority = try Fixtures.authority()
            var template = TestCertificates.intermediate("G5", Fixtures.now)
            change(&template)
            let key = try key ?? PrivateKey.generateRSA()
            let middle = try template.issue(for: key, issuer: (authority.root, authority.rootKey))
            let leaf = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            let own = authority.identity.key
            $0.leaf = (try leaf.issue(for: own, issuer: (middle, key)), own)
            $0.embedded = [middle]
        }
    }

    private static func embedded(
        _ title: String,
        _ expected: [String],
        _ certificates: @escaping @Sendable (TestAuthority) throws -> [Certificate]
    ) -> BrokenPackage {
        BrokenPackage(title, expected.map { "\($0) signature" }) {
            $0.embedded = try certificates(try Fixtures.authority())
        }
    }

    /// The certificates in the signature.
    static let certificates: [BrokenPackage] = [
        leaf("a leaf that may not sign orders", ["error certificate-usage signature"]) {
            $0.extendedKeyUsage = [WalletPolicy.clientUsage]
        },
        leaf("a pass certificate", ["error certificate-kind signature", "error certificate-usage signature"]) {
            $0.privateExtensions = [.text(WalletPolicy.passType, "pass.com.example.shop")]
            $0.extendedKeyUsage = ["1.2.840.113635.100.4.14"]
        },
        leaf("a leaf without the order type", ["error certificate-kind signature"]) { $0.privateExtensions = [] },
        leaf("a leaf that may not sign", ["error certificate-key-usage signature"]) { $0.keyUsage = .keyEncipherment },
        leaf("a leaf signed with SHA-1", ["error certificate-weak-signature signature"]) { $0.signature = .sha1 },
        leaf(
            "a leaf of another order type",
            ["error order-type-mismatch /orderTypeIdentifier", "warning certificate-subject signature"]
        ) { $0.privateExtensions[0] = .text(WalletPolicy.orderType, "order.com.example.other") },
        leaf("a leaf whose subject names another type", ["warning certificate-subject signature"]) {
            $0.subject[0].value = "order.com.example.other"
        },
        leaf("a leaf with two order types", ["warning certificate-extension-repeated signature"]) {
            $0.privateExtensions.append(.text(WalletPolicy.orderType, "order.com.example.other"))
        },
        leaf("an expired leaf", ["error certificate-expired signature"]) { $0.notAfter = Fixtures.now - 1 },
        leaf("a leaf from tomorrow", ["error certificate-not-yet-valid signature"]) {
            $0.notBefore = Fixtures.now + day
        },
        leaf("a leaf with a critical extension that nobody knows", ["error chain-refused signature"]) {
            $0.privateExtensions.append(.init(oid: "1.2.3.4.5", der: DER.null, isCritical: true))
        },
        leaf("a leaf whose push marker is critical, which Apple's systems know", []) { template in
            for index in template.privateExtensions.indices
            where template.privateExtensions[index].oid == WalletPolicy.pushMarker {
                template.privateExtensions[index].isCritical = true
            }
        },
        leaf("a leaf whose order type is critical", ["error chain-refused signature"]) {
            $0.privateExtensions[0].isCritical = true
        },
        leaf("a leaf with a critical marker, and another critical extension", ["error chain-refused signature"]) {
            $0.privateExtensions.append(.init(oid: "1.2.840.113635.100.6.99", der: DER.null, isCritical: true))
            $0.privateExtensions.append(.init(oid: "1.2.840.113635.100.60.1", der: DER.null, isCritical: true))
        },
        BrokenPackage("a leaf with a key of 1,024 bits", ["error certificate-weak-key signature"]) {
            let authority = try Fixtures.authority()
            let key = try PrivateKey.generateRSA(bits: 1_024)
            let template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            $0.leaf = (try template.issue(for: key, issuer: (authority.intermediate, authority.intermediateKey)), key)
        },
        BrokenPackage(
            "a leaf on an elliptic curve",
            ["error certificate-not-rsa signature", "error signature-algorithm signature"]
        ) {
            let authority = try Fixtures.authority()
            let key = try PrivateKey.generateP256()
            let template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            let leaf = try template.issue(for: key, issuer: (authority.intermediate, authority.intermediateKey))
            try $0.forge {
                $0.signer = (leaf, key)
                $0.certificates[0] = leaf
                $0.signatureAlgorithm = "1.2.840.10045.4.3.2"
            }
        },
        BrokenPackage("a leaf that signed itself", ["error certificate-self-signed signature"]) {
            let key = try Fixtures.authority().identity.key
            let template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            let leaf = try template.issue(for: key, issuer: nil)
            try $0.forge {
                $0.signer = (leaf, key)
                $0.certificates[0] = leaf
            }
        },
        BrokenPackage("a leaf whose issuer's signature was damaged", ["error chain-broken signature"]) {
            let identity = try Fixtures.authority().identity
            var der = identity.certificate.der
            der[der.count - 9] ^= 1
            let leaf = try Certificate(der: der)
            try $0.forge {
                $0.signer = (leaf, identity.key)
                $0.certificates[0] = leaf
            }
        },
        embedded("no intermediate", ["error chain-incomplete", "warning intermediate-missing"]) { _ in [] },
        embedded("a look-alike of the intermediate", ["error chain-incomplete", "warning intermediate-wrong"]) {
            [try $0.lookAlikeIntermediate()]
        },
        embedded("Apple's intermediate over a test leaf", ["error chain-incomplete", "warning intermediate-wrong"]) {
            _ in
            [AppleAuthority.intermediates[0]]
        },
        embedded("an intermediate too many", ["note certificate-unneeded"]) {
            [$0.intermediate, try $0.lookAlikeIntermediate()]
        },
        BrokenPackage("another authority", ["error chain-untrusted signature"]) {
            let other = try TestAuthority.make(orderType: try Fixtures.orderType(), now: Fixtures.now)
            $0.leaf = (other.identity.certificate, other.identity.key)
            $0.embedded = [other.intermediate]
        },
        BrokenPackage(
            "a leaf that the root issued",
            ["error chain-length signature", "warning intermediate-missing signature"]
        ) {
            let authority = try Fixtures.authority()
            let key = authority.identity.key
            let template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            $0.leaf = (try template.issue(for: key, issuer: (authority.root, authority.rootKey)), key)
            $0.embedded = []
        },
        BrokenPackage("a chain of four", ["error chain-length signature"]) {
            let authority = try Fixtures.authority()
            let key = authority.identity.key
            let middleKey = try PrivateKey.generateRSA()
            let middle = try TestCertificates.intermediate("G5", Fixtures.now)
                .issue(for: middleKey, issuer: (authority.intermediate, authority.intermediateKey))
            let template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            $0.leaf = (try template.issue(for: key, issuer: (middle, middleKey)), key)
            $0.embedded = [middle, authority.intermediate]
        },
        intermediate("an intermediate without the marker", ["error intermediate-marker"]) { $0.privateExtensions = [] },
        intermediate("an intermediate that may not issue", ["error intermediate-not-authority"]) { $0.isCA = false },
        intermediate("an intermediate whose marker is critical, which Apple's systems know", []) {
            $0.privateExtensions[0].isCritical = true
        },
        intermediate("an intermediate with a critical extension that nobody knows", ["error chain-refused"]) {
            $0.privateExtensions.append(.init(oid: "1.2.3.4.5", der: DER.null, isCritical: true))
        },
        intermediate("an intermediate with its marker twice", ["warning certificate-extension-repeated"]) {
            $0.privateExtensions.append(.marker(WalletPolicy.intermediateMarker))
        },
        intermediate("an expired intermediate", ["error certificate-expired"]) { $0.notAfter = Fixtures.now - 1 },
        intermediate("an intermediate signed with SHA-1", ["error certificate-weak-signature"]) {
            $0.signature = .sha1
        },
    ]
}
