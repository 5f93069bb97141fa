// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

@Suite("Detached signatures")
struct CMSTests {
    private let content = Array("{\n  \"order.json\": \"ab\"\n}\n".utf8)
    /// 2026-01-01T00:00:00Z
    private let time = TestPKI.now

    private func sign(_ content: [UInt8], at time: Int64 = TestPKI.now) throws -> [UInt8] {
        let pki = try TestPKI.shared()
        return try CMS.signDetached(
            content,
            signer: pki.leaf,
            key: pki.leafKey,
            intermediates: [pki.root, pki.intermediate, pki.intermediate],
            signingTime: time
        )
    }

    @Test("A signature has the form of the one that Wallet is known to take")
    func form() throws {
        let pki = try TestPKI.shared()
        let signature = try sign(content)
        #expect(signature.first == 0x30)
        let data = try CMS.parse(signature)
        #expect(data.isDetached)
        #expect(data.contentType == CMS.dataType)
        #expect(Set(data.certificates) == [pki.leaf, pki.intermediate])
        let signer = try #require(data.signers.first)
        #expect(data.signers.count == 1)
        #expect(signer.identifier == .subjectKeyIdentifier(try #require(pki.leaf.subjectKeyIdentifier)))
        #expect(signer.usesSHA256)
        #expect(signer.signatureAlgorithm == "1.2.840.113549.1.1.1")
        #expect(
            signer.signedAttributes == [
                CMS.contentTypeAttribute, CMS.signingTimeAttribute, CMS.messageDigestAttribute,
            ]
        )
        #expect(signer.unsignedAttributes.isEmpty)
        #expect(signer.contentType == CMS.dataType)
        #expect(signer.signingTime == time)
        #expect(signer.signingTimeIsUTCTime)
        #expect(signer.messageDigest == SHA256.hash(content).bytes)
        #expect(try CMS.verifyDetached(signature, content: content) == pki.leaf)
    }

    @Test("openssl verifies the signature, and prints the known form")
    func openssl() throws {
        let pki = try TestPKI.shared()
        let directory = try TemporaryDirectory()
        let path = try directory.write("signature", try sign(content))
        let manifest = try directory.write("manifest.json", content)
        let root = try directory.write("root.pem", pki.root.pem())
        func verify() throws -> Command.Answer {
            try Command.run([
                "openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", path, "-content", manifest, "-CAfile",
                root, "-purpose", "any", "-out", "/dev/null",
            ])
        }
        let good = try verify()
        #expect(good.status == 0, "\(good.output)")
        let printed = try Command.run([
            "openssl", "cms", "-cmsout", "-print", "-inform", "DER", "-in", path, "-noout",
        ]).output
        let signerInfo = try #require(printed.range(ofText: "signerInfos:").map { String(printed[$0...]) })
        for expected in [
            "version: 3", "d.subjectKeyIdentifier:",
            "algorithm: sha256 (2.16.840.1.101.3.4.2.1)\n          parameter: <ABSENT>",
            "UTCTIME:Jan  1 00:00:00 2026 GMT", "algorithm: rsaEncryption", "unsignedAttrs:\n          <ABSENT>",
        ] {
            #expect(signerInfo.contains(expected), "\(expected) is missing in \(signerInfo)")
        }
        #expect(printed.contains("eContent: <ABSENT>"))
        #expect(printed.contains("crls:\n      <ABSENT>"))
        let attributes = signerInfo.split(separator: "\n").filter { $0.contains("object:") }
        #expect(attributes.count == 3, "\(attributes)")
        try directory.write("manifest.json", content + [0x20])
        #expect(try verify().status != 0)
    }

    @Test(
        "The time of signing is the second given: UTCTime, and from 2050 on GeneralizedTime",
        arguments: [
            (1_767_225_600 as Int64, true), (2_524_607_999, true), (2_524_608_000, false), (4_102_444_800, false),
        ]
    )
    func signingTime(seconds: Int64, isUTCTime: Bool) throws {
        let signer = try CMS.parse(try sign(content, at: seconds)).signers[0]
        #expect(signer.signingTime == seconds)
        #expect(signer.signingTimeIsUTCTime == isUTCTime)
    }

    @Test("Equal input gives equal bytes; another second or byte gives others")
    func determinism() throws {
        let first = try sign(content)
        #expect(try sign(content) == first)
        #expect(try sign(content, at: time + 1) != first)
        #expect(try sign(content + [0]) != first)
        let reread = try TestPKI.shared()
        let again = try CMS.signDetached(
            content,
            signer: try Certificate(pem: reread.leaf.pem()),
            key: try PrivateKey(pem: reread.leafKey.pem()),
            intermediates: [try Certificate(der: reread.intermediate.der)],
            signingTime: time
        )
        #expect(again == first)
    }

    @Test("Many tasks sign with one key and never get another's content")
    func parallel() async throws {
        let single = try (0..<40).map { try sign([UInt8](repeating: UInt8($0), count: 100)) }
        try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for index in 0..<200 {
                group.addTask {
                    (index, try sign([UInt8](repeating: UInt8(index % 40), count: 100)))
                }
            }
            for try await (index, signature) in group {
                #expect(signature == single[index % 40])
            }
        }
    }

    @Test("The bytes are those that openssl itself writes for the same second", arguments: [true, false])
    func sameAsOpenSSL(byKeyIdentifier: Bool) throws {
        let pki = try TestPKI.shared()
        var template = TestPKI.leafTemplate()
        template.hasKeyIdentifiers = byKeyIdentifier
        let leaf = try template.issue(for: pki.leafKey, issuer: (pki.intermediate, pki.intermediateKey))
        let directory = try TemporaryDirectory()
        let answer = try Command.run(
            [
                "openssl", "cms", "-sign", "-binary", "-nosmimecap", "-md", "sha256", "-outform", "DER",
                "-in", try directory.write("content", content), "-out", directory.path("signature"),
                "-signer", try directory.write("leaf.pem", leaf.pem()),
                "-inkey", try directory.write("key.pem", pki.leafKey.pem()),
                "-certfile", try directory.write("intermediate.pem", pki.intermediate.pem()),
            ] + (byKeyIdentifier ? ["-keyid"] : [])
        )
        #expect(answer.status == 0, "\(answer.output)")
        let theirs = try directory.read("signature")
        let second = try #require(try CMS.parse(theirs).signers[0].signingTime)
        let ours = try CMS.signDetached(
            content,
            signer: leaf,
            key: pki.leafKey,
            intermediates: [pki.intermediate],
            signingTime: second
        )
        #expect(ours == theirs)
    }

    @Test("Line ends and empty content are signed as they are")
    func binary() throws {
        for text in ["", "a\nb\r\nc\n", "\0\0"] {
            let bytes = Array(text.utf8)
            let signature = try sign(bytes)
            #expect(try CMS.parse(signature).signers[0].messageDigest == SHA256.hash(bytes).bytes)
            #expect(try CMS.verifyDetached(signature, content: bytes) == (try TestPKI.shared().leaf))
        }
    }

    @Test("A leaf without key identifier is named by issuer and serial number")
    func noKeyIdentifier() throws {
        let pki = try TestPKI.shared()
        var template = TestPKI.leafTemplate()
        template.hasKeyIdentifiers = false
        template.serial = [0x0a, 0xbc]
        let leaf = try template.issue(for: pki.leafKey, issuer: (pki.intermediate, pki.intermediateKey))
        let signature = try CMS.signDetached(
            content,
            signer: leaf,
            key: pki.leafKey,
            intermediates: [],
            signingTime: time
        )
        let expected = CMSSignedData.SignerIdentifier.issuerAndSerial(
            issuer: pki.intermediate.subjectDescription,
            serialHex: "0abc"
        )
        #expect(try CMS.parse(signature).signers[0].identifier == expected)
        #expect(try CMS.verifyDetached(signature, content: content) == leaf)
    }

    @Test("Keys that aren't RSA, and another certificate's key, sign nothing")
    func refusals() throws {
        let pki = try TestPKI.shared()
        #expect(
            throwsCode(.unsupportedAlgorithm) {
                try CMS.signDetached(
                    content,
                    signer: pki.server,
                    key: pki.serverKey,
                    intermediates: [],
                    signingTime: time
                )
            }
        )
        #expect(
            throwsCode(.keyMismatch) {
                try CMS.signDetached(
                    content,
                    signer: pki.leaf,
                    key: pki.rootKey,
                    intermediates: [],
                    signingTime: time
                )
            }
        )
    }

    @Test("What isn't one DER signature says what it is")
    func notDER() throws {
        let signature = try sign(content)
        #expect(throwsCode(.notDER) { try CMS.parse([]) })
        #expect(throwsCode(.notDER) { try CMS.parse(signature + [0]) })
        #expect(throwsCode(.notDER) { try CMS.parse(Array(signature.dropLast())) })
        #expect(throwsCode(.notDER) { try CMS.parse(Array("MIME-Version: 1.0\n\n".utf8)) })
        #expect(throwsCode(.notDER) { try CMS.parse(Array("-----BEGIN CMS-----\n".utf8)) })
        #expect(throwsCode(.notDER) { try CMS.parse(try TestPKI.shared().leaf.der) })
        // EnvelopedData's type in an otherwise readable ContentInfo: data.
        #expect(throwsCode(.notDER) { try CMS.parse([0x30, 0x0b, 0x06, 9, 42, 0x86, 0x48, 0x86, 0xf7, 13, 1, 7, 1]) })
    }

    @Test("A changed byte anywhere never verifies as the same signer over the same content")
    func tampering() throws {
        let signature = try sign(content)
        #expect(throwsCode(.badSignature) { try CMS.verifyDetached(signature, content: content + [0]) })
        #expect(throwsCode(.badSignature) { try CMS.verifyDetached(signature, content: []) })
        var last = signature
        last[last.count - 1] ^= 1
        #expect(throwsCode(.badSignature) { try CMS.verifyDetached(last, content: content) })
        // A flip in the embedded leaf makes another certificate, and the intermediate isn't looked at here (its place
        // is the chain); anywhere else the check must fail.
        let signer = try TestPKI.shared().leaf
        let intermediate = try TestPKI.shared().intermediate.der
        let start = try #require(
            signature.indices.first { signature[$0...].starts(with: intermediate) }
        )
        let skipped = start..<start + intermediate.count
        for position in stride(from: 0, to: signature.count, by: 3) where !skipped.contains(position) {
            var changed = signature
            changed[position] ^= 0x55
            let found = try? CMS.verifyDetached(changed, content: content)
            #expect(found != signer, "byte \(position) of \(signature.count)")
        }
    }

    @Test("Signatures by openssl are read: mail form attributes, embedded content, no certificates")
    func foreign() throws {
        let pki = try TestPKI.shared()
        func make(_ options: [String]) throws -> [UInt8] {
            try pki.signatureByOpenSSL(of: content, ["-md", "sha256"] + options)
        }
        let mail = try make([])
        #expect(try CMS.parse(mail).signers[0].signedAttributes.count == 4)
        #expect(try CMS.verifyDetached(mail, content: content) == pki.leaf)
        if case .issuerAndSerial = try CMS.parse(mail).signers[0].identifier {} else { Issue.record("not by issuer") }
        let bare = try make(["-noattr"])
        #expect(try CMS.parse(bare).signers[0].signingTime == nil)
        #expect(try CMS.verifyDetached(bare, content: content) == pki.leaf)
        #expect(throwsCode(.badSignature) { try CMS.verifyDetached(bare, content: content + [1]) })
        let embedded = try make(["-nodetach"])
        #expect(try !CMS.parse(embedded).isDetached)
        #expect(throwsCode(.badSignature) { try CMS.verifyDetached(embedded, content: content) })
        let anonymous = try make(["-nocerts"])
        #expect(try CMS.parse(anonymous).certificates.isEmpty)
        #expect(throwsCode(.noCertificate) { try CMS.verifyDetached(anonymous, content: content) })
        #expect(
            try CMS.verifyDetached(anonymous, content: content, certificates: [pki.root, pki.leaf]) == pki.leaf
        )
        let directory = try TemporaryDirectory()
        let other = try directory.write("server.key", pki.serverKey.pem())
        let server = try directory.write("server.pem", pki.server.pem())
        let two = try make(["-signer", server, "-inkey", other])
        #expect(try CMS.parse(two).signers.count == 2)
        #expect(throwsCode(.badSignature) { try CMS.verifyDetached(two, content: content) })
    }
}

extension String {
    /// Where a piece of text begins.
    fileprivate func range(ofText text: String) -> Index? {
        indices.first { self[$0...].hasPrefix(text) }
    }
}
