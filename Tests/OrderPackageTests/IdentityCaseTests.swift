// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import Testing

@testable import OrderPackage

/// What people were given generic errors for, each with the message that would have helped.
@Suite("Identities that failed elsewhere")
struct IdentityCaseTests {
    /// A leaf that names another issuer's key than the one that signed it.
    private func leaf(issuedBy identifier: [UInt8]) throws -> Certificate {
        let authority = try Fixtures.authority()
        var template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
        template.hasKeyIdentifiers = false
        template.privateExtensions.append(
            .init(oid: "2.5.29.35", der: DER.sequence([DER.value(0x80, identifier)]))
        )
        return try template.issue(
            for: authority.identity.key,
            issuer: (authority.intermediate, authority.intermediateKey)
        )
    }

    private func refusal(_ leaf: Certificate, _ intermediates: [Certificate]) throws -> OrderPackageError {
        let key = try Fixtures.authority().identity.key
        return try #require(
            #expect(throws: OrderPackageError.self) {
                try SigningIdentity(certificate: leaf, key: key, intermediates: intermediates)
            }
        )
    }

    private func apple(_ generation: String) throws -> Certificate {
        try #require(AppleAuthority.intermediates.first { $0.subject(.organizationalUnit) == generation })
    }

    @Test("B27 a G4 leaf with G3 is refused and told which one it needs")
    func wrongIntermediate() throws {
        let leaf = try leaf(issuedBy: try #require(try apple("G4").subjectKeyIdentifier))
        let error = try refusal(leaf, [try apple("G3")])
        #expect(error.code == .wrongIntermediate)
        #expect(error.message.contains("needs Apple WWDR G4 (key id 5B:D9:FA:1D:"))
        #expect(error.message.contains("not Apple WWDR G3 (key id 09:FE:C0:15:"))
        // With none given the right one is found; here it did not really sign, which is told instead.
        #expect(try refusal(leaf, []).code == .brokenChain)
    }

    @Test("B28 a G1 leaf with G4 is refused and told that it needs G1")
    func oldLeaf() throws {
        let old = try #require(Hex.decode("88271709a9b618608becebbaf64759c55254a3b7"))
        let leaf = try leaf(issuedBy: old)
        let error = try refusal(leaf, [try apple("G4")])
        #expect(error.code == .wrongIntermediate)
        #expect(error.message.contains("needs Apple WWDR G1 (key id 88:27:17:09:"))
        #expect(try refusal(leaf, []).code == .unknownIssuer)
    }

    @Test("B29 an RSA leaf with an intermediate on a curve, as G6 is, is refused for that")
    func curve() throws {
        let authority = try Fixtures.authority()
        let template = TestCertificates.intermediate("G6", Fixtures.now)
        let g6 = try template.issue(for: .generateP256(), issuer: (authority.root, authority.rootKey))
        let error = try refusal(try leaf(issuedBy: try #require(try apple("G4").subjectKeyIdentifier)), [g6])
        #expect(error.code == .wrongIntermediate)
        #expect(error.message.contains("EC key") && error.message.contains("needs Apple WWDR G4"))
    }

    @Test("B30 an end within 30 days is a warning with the date; after it new things are refused, and old ones built")
    func expiry() throws {
        let identity = try Fixtures.authority().identity
        #expect(identity.findings(at: Fixtures.now).isEmpty)
        let finding = try #require(identity.findings(at: identity.notAfter - 29 * 86_400).first)
        #expect(finding.code == "identity-ending" && finding.severity == .warning)
        #expect(finding.message.contains("2027-01-31T00:00:00Z, in 29 days"))
        #expect(throws: Never.self) { try identity.checkValidity(at: Fixtures.now) }
        let expired = #expect(throws: OrderPackageError.self) { try identity.checkValidity(at: identity.notAfter + 1) }
        #expect(expired?.code == .expired && expired?.message.contains("2027-01-31T00:00:00Z") == true)
        let early = #expect(throws: OrderPackageError.self) { try identity.checkValidity(at: identity.notBefore - 1) }
        #expect(early?.code == .notYetValid && early?.message.contains("2025-12-31T00:00:00Z") == true)
        // Whatever the clock says by then.
        #expect(throws: Never.self) { try Fixtures.package(at: identity.notAfter) }
    }

    @Test("B33 a leaf that its issuer did not sign is refused with the advice to ask for a new one")
    func brokenLeaf() throws {
        let authority = try Fixtures.authority()
        var bytes = authority.identity.certificate.der
        bytes[bytes.count - 1] ^= 1
        let error = try refusal(try Certificate(der: bytes), [authority.intermediate])
        #expect(error.code == .brokenChain && error.message.contains("ask for a new certificate"))
    }

    @Test("B34 a key that is not the leaf's is refused at load")
    func foreignKey() throws {
        let authority = try Fixtures.authority()
        let error = #expect(throws: OrderPackageError.self) {
            try SigningIdentity(
                certificate: authority.identity.certificate,
                key: authority.rootKey,
                intermediates: [authority.intermediate]
            )
        }
        #expect(error?.code == .keyMismatch)
        #expect(error?.message.contains("does not belong to the certificate") == true)
    }

    @Test("B39 a small key, a SHA-1 leaf and a key on a curve are refused, each with its reason")
    func weak() throws {
        let authority = try Fixtures.authority()
        var sha1 = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
        sha1.signature = .sha1
        let plain = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
        for (template, key, code, words) in [
            (plain, try PrivateKey.generateRSA(bits: 1_024), .weakKey, "1024 bits"),
            (sha1, authority.identity.key, .weakSignature, "SHA-1"),
            (plain, try PrivateKey.generateP256(), .notRSA, "not RSA"),
        ] as [(CertificateTemplate, PrivateKey, OrderPackageError.Code, String)] {
            let leaf = try template.issue(for: key, issuer: (authority.intermediate, authority.intermediateKey))
            let error = #expect(throws: OrderPackageError.self) {
                try SigningIdentity(certificate: leaf, key: key, intermediates: [authority.intermediate])
            }
            #expect(error?.code == code && error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
    }

    @Test("B40 an order of another type than the leaf's is refused before anything is signed, and both are named")
    func otherType() throws {
        let order = String(decoding: Fixtures.order, as: UTF8.self)
            .replacing("order.com.example.shop", with: "order.com.example.other")
        let error = #expect(throws: OrderPackageError.self) { try Fixtures.package(order: Array(order.utf8)) }
        #expect(error?.code == .orderTypeMismatch)
        #expect(error?.message.contains("order.com.example.other") == true)
        #expect(error?.message.contains("order.com.example.shop") == true)
    }

    @Test("B41 the leaf is fit for TLS as a client, whatever its common name: APNs takes it")
    func clientAuthentication() async throws {
        let authority = try Fixtures.authority()
        let folder = try TemporaryFolder()
        try folder.write(authority.identity.certificate.pem(), to: "leaf.pem")
        try folder.write(authority.intermediate.pem(), to: "intermediate.pem")
        try folder.write(authority.root.pem(), to: "root.pem")
        let verified = try await shell(
            "cd \(folder.path) && openssl verify -attime \(Fixtures.now) -purpose sslclient -CAfile root.pem"
                + " -untrusted intermediate.pem leaf.pem"
        )
        #expect(verified.status == 0, "\(verified.output)")
        #expect(authority.identity.certificate.subject(.commonName) == "Order Type ID: order.com.example.shop")
        var template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
        template.subject[1].value = "Something Else"
        #expect(throws: Never.self) { try authority.issue(template, key: authority.identity.key) }
        withExtendedLifetime(folder) {}
    }
}
