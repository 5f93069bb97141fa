// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import Testing
import ZipFiles

@testable import OrderPackage

/// What people really hit with signatures and packages, by the numbers of the list of cases.
@Suite("Package cases")
struct PackageCaseTests {
    private func verifier(_ intermediates: [Certificate] = []) throws -> PackageVerifier {
        PackageVerifier(trust: [try Fixtures.authority().root], intermediates: intermediates)
    }

    private func codes(_ report: VerificationReport) -> [String] { report.findings.map(\.code).sorted() }

    /// A file of a package that was built here.
    private func part(_ name: String, of package: OrderPackage) throws -> [UInt8] {
        let reader = try ZipReader(package.bytes)
        return try reader.contents(of: try #require(reader.entry(named: name)))
    }

    @Test("B04 a signature that is right by itself is no valid one over a chain that isn't; and nobody signs with it")
    func foreignChain() throws {
        let authority = try Fixtures.authority()
        let stranger = try authority.lookAlikeIntermediate("G1")
        var parts = PackageParts()
        parts.embedded = [stranger]
        let manifest = parts.honestManifest()
        let signature = try parts.honestSignature(manifest)
        let signer = try CMS.verifyDetached(signature, content: manifest)
        #expect(signer == authority.identity.certificate)
        let report = try verifier().verify(try parts.bytes())
        #expect(!report.isValid && codes(report) == ["chain-incomplete", "intermediate-wrong"])
        let error = #expect(throws: OrderPackageError.self) {
            try SigningIdentity(certificate: signer, key: authority.identity.key, intermediates: [stranger])
        }
        #expect(error?.code == .wrongIntermediate)
        for certificate in [stranger, authority.intermediate] {
            let name = KeyIdentifier.text(try #require(certificate.subjectKeyIdentifier))
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        }
    }

    @Test("B11 B23 the signature has content type, digest and time, and holds leaf and intermediate, not the root")
    func form() throws {
        let authority = try Fixtures.authority()
        let package = try Fixtures.package()
        let data = try CMS.parse(try part("signature", of: package))
        #expect(Set(data.certificates) == [authority.identity.certificate, authority.intermediate])
        let signer = try #require(data.signers.first)
        #expect(data.signers.count == 1 && signer.contentType == CMS.dataType)
        #expect(signer.messageDigest == SHA256.hash(try part("manifest.json", of: package)).bytes)
        #expect(signer.signingTime == Fixtures.now)
    }

    @Test("B13 an intermediate given by hand completes a chain, and without it the chain is incomplete")
    func byHand() throws {
        var parts = PackageParts()
        parts.embedded = []
        let bytes = try parts.bytes()
        let without = try verifier().verify(bytes)
        #expect(!without.isValid && codes(without) == ["chain-incomplete", "intermediate-missing"])
        let with = try verifier([try Fixtures.authority().intermediate]).verify(bytes)
        #expect(with.isValid && codes(with) == ["intermediate-missing"])
    }

    @Test(
        "B19 the signing time is the second asked for, as UTCTime and from 2050 on as GeneralizedTime",
        arguments: [
            (1_767_225_600, [0x17, 0x0D], "260101000000Z"), (2_524_607_999, [0x17, 0x0D], "491231235959Z"),
            (2_524_608_000, [0x18, 0x0F], "20500101000000Z"),
        ] as [(Int64, [UInt8], String)]
    )
    func signingTime(second: Int64, header: [UInt8], text: String) throws {
        let authority = try Fixtures.authority()
        let signature = try CMS.signDetached(
            Array("{}".utf8),
            signer: authority.identity.certificate,
            key: authority.identity.key,
            intermediates: [],
            signingTime: second
        )
        #expect(try CMS.parse(signature).signers.first?.signingTime == second)
        #expect(signature.firstRange(of: header + Array(text.utf8)) != nil)
    }

    @Test("B21 what is signed are the manifest's raw bytes: with line ends of another kind they are others")
    func rawBytes() throws {
        var parts = PackageParts()
        parts.replaceInManifest(",", ",\n")
        let manifest = try #require(parts.manifest)
        let signature = try parts.honestSignature(manifest)
        #expect(try CMS.parse(signature).signers.first?.messageDigest == SHA256.hash(manifest).bytes)
        #expect(try verifier().verify(try parts.bytes()).findings == [])
        parts.signature = signature
        parts.replaceInManifest("\n", "\r\n")
        let report = try verifier().verify(try parts.bytes())
        #expect(!report.isValid && codes(report) == ["signature-digest-mismatch"])
    }

    @Test("B24 no or hardly any output of signing is no signature: nothing is built, and a package with it is refused")
    func emptySignature() throws {
        for bytes in [[], [0x30], [UInt8](repeating: 0x30, count: 256), [UInt8](repeating: 0, count: 3_000)] {
            #expect { try PackageBuilder.checkForm(bytes) } throws: { ($0 as? OrderPackageError)?.code == .signing }
            var builder = PackageBuilder(identity: try Fixtures.authority().identity)
            builder.sign = { _, _ in bytes }
            let error = #expect(throws: OrderPackageError.self) {
                try builder.build(order: Fixtures.order, signingTime: Fixtures.now)
            }
            #expect(error?.code == .signing && error?.message.contains("\(bytes.count) bytes") == true)
        }
        #expect(throws: Never.self) { try PackageBuilder.checkForm(try part("signature", of: Fixtures.package())) }
        var parts = PackageParts()
        parts.signature = []
        let report = try verifier().verify(try parts.bytes())
        #expect(!report.isValid && report.findings.map(\.code) == ["signature-empty"])
        #expect(report.findings.first?.message.contains("empty") == true)
    }

    @Test("B26 a signature begins with DER's 0x30; PEM text and a mail are told to be no DER")
    func encoding() throws {
        let signature = try part("signature", of: Fixtures.package())
        #expect(signature.first == 0x30)
        let text = Base64.encode(signature)
        for (wrong, code) in [
            ("-----BEGIN CMS-----\n\(text)\n-----END CMS-----\n", "signature-pem"),
            ("MIME-Version: 1.0\nContent-Type: application/pkcs7-signature\n\n\(text)\n", "signature-mime"),
        ] {
            var parts = PackageParts()
            parts.signature = Array(wrong.utf8)
            let report = try verifier().verify(try parts.bytes())
            #expect(!report.isValid && report.findings.map(\.code) == [code])
            #expect(report.findings.first?.message.contains("not DER") == true)
        }
    }

    @Test("B42 B45 an image with one flipped bit is named; a package has its manifest's files, and two more")
    func flippedBit() throws {
        var parts = PackageParts()
        let manifest = parts.honestManifest()
        parts.manifest = manifest
        parts.files[0].1[30] ^= 1
        let report = try verifier().verify(try parts.bytes())
        let mismatch = try #require(report.findings.first { $0.code == "hash-mismatch" })
        #expect(!report.isValid && mismatch.path == "logo.png")
        let package = try Fixtures.package()
        let names = try ZipReader(package.bytes).entries.map(\.name)
        let listed = try #require(try JSONValue(parsing: try part("manifest.json", of: package)).objectValue?.keys)
        #expect(names.sorted() == (listed + ["manifest.json", "signature"]).sorted())
    }
}
