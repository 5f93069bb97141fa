// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import Testing

@testable import OrderPackage

/// A leaf that is wrong in one way.
struct WrongLeaf: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: OrderPackageError.Code
    let words: String
    let change: @Sendable (inout CertificateTemplate) -> Void

    static let all: [WrongLeaf] = [
        WrongLeaf(testDescription: "SHA-1", code: .weakSignature, words: "SHA-1") { $0.signature = .sha1 },
        WrongLeaf(testDescription: "no order type", code: .notAnOrderCertificate, words: WalletPolicy.orderType) {
            $0.privateExtensions.removeFirst()
        },
        WrongLeaf(testDescription: "a pass's certificate", code: .notAnOrderCertificate, words: "Pass Type ID") {
            $0.privateExtensions = [.text(WalletPolicy.passType, "pass.com.example.shop")]
        },
        WrongLeaf(testDescription: "no order usage", code: .notAnOrderCertificate, words: WalletPolicy.orderUsage) {
            $0.extendedKeyUsage = [WalletPolicy.clientUsage]
        },
        WrongLeaf(testDescription: "no digital signature", code: .notAnOrderCertificate, words: "digital signature") {
            $0.keyUsage = .keyEncipherment
        },
        WrongLeaf(testDescription: "an extension unknown and critical", code: .brokenChain, words: "critical extension")
        {
            $0.privateExtensions.append(.init(oid: "1.2.3.4.5", der: DER.null, isCritical: true))
        },
        WrongLeaf(testDescription: "two order types", code: .identifierMismatch, words: "order.com.example.other") {
            $0.subject[0].value = "order.com.example.other"
        },
        WrongLeaf(testDescription: "an order type that is none", code: .notAnOrderCertificate, words: "unusable") {
            $0.subject[0].value = "shop"
            $0.privateExtensions[0] = .text(WalletPolicy.orderType, "shop")
        },
    ]
}

/// An intermediate that is wrong in one way, over a good leaf.
struct WrongIntermediate: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: OrderPackageError.Code
    let words: String
    let change: @Sendable (inout CertificateTemplate) -> Void

    /// Permits subjects of another organization only.
    private static let constraints: [UInt8] = {
        let organization = DER.sequence([DER.objectIdentifier("2.5.4.10") ?? [], DER.utf8String("Other")])
        let name = DER.sequence([DER.value(0x31, organization)])
        return DER.sequence([DER.value(0xA0, DER.sequence([DER.value(0xA4, name)]))])
    }()

    static let all: [WrongIntermediate] = [
        WrongIntermediate(testDescription: "SHA-1", code: .weakSignature, words: "SHA-1") { $0.signature = .sha1 },
        WrongIntermediate(
            testDescription: "an extension unknown and critical",
            code: .brokenChain,
            words: "critical extension"
        ) { $0.privateExtensions.append(.init(oid: "1.2.3.4.5", der: DER.null, isCritical: true)) },
        WrongIntermediate(testDescription: "constraints on names", code: .brokenChain, words: "permitted subtree") {
            $0.privateExtensions.append(.init(oid: "2.5.29.30", der: constraints, isCritical: true))
        },
        WrongIntermediate(testDescription: "no marker", code: .unfitIntermediate, words: "lacks") {
            $0.privateExtensions = []
        },
        WrongIntermediate(testDescription: "an end before the leaf's begin", code: .expired, words: "expired") {
            $0.notAfter = Fixtures.now - 90_000
        },
    ]
}

@Suite("Signing identity")
struct SigningIdentityTests {
    private func template() throws -> CertificateTemplate {
        TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
    }

    @Test("what the certificate says is read")
    func facts() throws {
        let identity = try Fixtures.authority().identity
        #expect(identity.orderTypeIdentifier.text == "order.com.example.shop")
        #expect(identity.teamIdentifier == "A1B2C3D4E5")
        #expect(identity.chainNotBefore == Fixtures.now - 86_400)
        #expect(identity.chainNotAfter == identity.notAfter)
        #expect(!identity.isApple)
        #expect(identity.validity(at: Fixtures.now) == .valid)
        #expect(identity.validity(at: identity.notAfter - 10 * 86_400) == .ending(days: 10))
        #expect(identity.validity(at: identity.notAfter) == .ending(days: 0))
        #expect(identity.validity(at: identity.notAfter + 1) == .expired)
        #expect(identity.validity(at: identity.chainNotBefore - 1) == .notYetValid)
    }

    @Test("a leaf that Wallet would refuse is refused, with the reason", arguments: WrongLeaf.all)
    func wrongLeaf(fault: WrongLeaf) throws {
        let authority = try Fixtures.authority()
        var template = try template()
        fault.change(&template)
        let key = authority.identity.key
        let leaf = try template.issue(for: key, issuer: (authority.intermediate, authority.intermediateKey))
        let error = #expect(throws: OrderPackageError.self) {
            try SigningIdentity(certificate: leaf, key: key, intermediates: [authority.intermediate])
        }
        #expect(error?.code == fault.code)
        #expect(error?.message.contains(fault.words) == true, "\(error?.message ?? "")")
    }

    @Test(
        "an intermediate over which a verifier would refuse every package is refused at load",
        arguments: WrongIntermediate.all
    )
    func wrongIntermediate(fault: WrongIntermediate) throws {
        let authority = try Fixtures.authority()
        var template = TestCertificates.intermediate("G5", Fixtures.now)
        template.notBefore -= 100_000
        fault.change(&template)
        let key = authority.identity.key
        let middle = try template.issue(for: key, issuer: (authority.root, authority.rootKey))
        let leaf = try self.template().issue(for: key, issuer: (middle, key))
        let error = #expect(throws: OrderPackageError.self) {
            try SigningIdentity(certificate: leaf, key: key, intermediates: [middle])
        }
        #expect(error?.code == fault.code)
        #expect(error?.message.contains(fault.words) == true, "\(error?.message ?? "")")
    }

    @Test("a look-alike intermediate is refused, and both are named; without any, the needed one is")
    func intermediates() throws {
        let authority = try Fixtures.authority()
        let leaf = authority.identity.certificate
        let wrong = try authority.lookAlikeIntermediate("G3")
        let needed = KeyIdentifier.text(try #require(leaf.authorityKeyIdentifier))
        let given = KeyIdentifier.text(try #require(wrong.subjectKeyIdentifier))
        let error = #expect(throws: OrderPackageError.self) {
            try SigningIdentity(certificate: leaf, key: authority.identity.key, intermediates: [wrong])
        }
        #expect(error?.code == .wrongIntermediate)
        #expect(error?.message.contains(needed) == true && error?.message.contains(given) == true)
        let missing = #expect(throws: OrderPackageError.self) {
            try SigningIdentity(certificate: leaf, key: authority.identity.key)
        }
        #expect(missing?.code == .unknownIssuer)
        #expect(missing?.message.contains(needed) == true)
        #expect(throws: Never.self) {
            try SigningIdentity(
                certificate: leaf,
                key: authority.identity.key,
                intermediates: [wrong, authority.intermediate]
            )
        }
    }

    @Test("an issuer that is no marked intermediate is refused")
    func unfitIssuer() throws {
        let authority = try Fixtures.authority()
        let key = authority.identity.key
        let direct = try template().issue(for: key, issuer: (authority.root, authority.rootKey))
        let unfit = #expect(throws: OrderPackageError.self) {
            try SigningIdentity(certificate: direct, key: key, intermediates: [authority.root])
        }
        #expect(unfit?.code == .unfitIntermediate)
    }

    @Test("Apple's certificates are the published ones, and each intermediate is really signed by its root")
    func apple() throws {
        #expect(
            AppleAuthority.roots.map { KeyIdentifier.text($0.fingerprint.bytes) } == [
                "B0:B1:73:0E:CB:C7:FF:45:05:14:2C:49:F1:29:5E:6E:DA:6B:CA:ED:7E:2C:68:C5:BE:91:B5:A1:10:01:F0:24",
                "C2:B9:B0:42:DD:57:83:0E:7D:11:7D:AC:55:AC:8A:E1:94:07:D3:8E:41:D8:8F:32:15:BC:3A:89:04:44:A0:50",
                "63:34:3A:BF:B8:9A:6A:03:EB:B5:7E:9B:3F:5F:A7:BE:7C:4F:5C:75:6F:30:17:B3:A8:C4:88:C3:65:3E:91:79",
            ]
        )
        #expect(
            AppleAuthority.intermediates.map { KeyIdentifier.text($0.fingerprint.bytes) } == [
                "DC:F2:18:78:C7:7F:41:98:E4:B4:61:4F:03:D6:96:D8:9C:66:C6:60:08:D4:24:4E:1B:99:16:1A:AC:91:60:1F",
                "EA:47:57:88:55:38:DD:8C:B5:9F:F4:55:6F:67:60:87:D8:3C:85:E7:09:02:C1:22:E4:2C:08:08:B5:BC:E1:4C",
                "53:FD:00:82:78:E5:A5:95:FE:1E:90:8A:E9:C5:E5:67:5F:26:24:32:64:A5:A6:43:8C:02:3E:3C:E2:87:07:60",
            ]
        )
        for intermediate in AppleAuthority.intermediates {
            let root = try #require(AppleAuthority.root(of: intermediate))
            #expect(intermediate.isSigned(by: root))
            #expect(intermediate.extensionValue(WalletPolicy.intermediateMarker) != nil)
        }
        #expect(
            AppleAuthority.describe(AppleAuthority.intermediates[1]).hasPrefix("Apple WWDR G4 (key id 5B:D9:FA:1D:")
        )
    }
}
