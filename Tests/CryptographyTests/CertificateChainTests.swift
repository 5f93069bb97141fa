// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

@Suite("Certificate chains")
struct CertificateChainTests {
    private func build(
        _ leaf: Certificate,
        _ intermediates: [Certificate],
        at time: Int64 = TestPKI.now
    ) throws -> [Certificate] {
        try CertificateChain.build(
            leaf: leaf,
            intermediates: intermediates,
            roots: [TestPKI.shared().root],
            at: time
        )
    }

    @Test("A chain leads from the leaf over its intermediate to the root, whatever else is given")
    func complete() throws {
        let pki = try TestPKI.shared()
        let chain = [pki.leaf, pki.intermediate, pki.root]
        #expect(try build(pki.leaf, [pki.intermediate]) == chain)
        #expect(try build(pki.leaf, [pki.server, pki.root, pki.intermediate]) == chain)
        #expect(try build(pki.root, []) == [pki.root])
    }

    @Test("Validity is looked at as of the moment given, and the message says when")
    func validity() throws {
        let pki = try TestPKI.shared()
        #expect(throwsCode(.notYetValid) { try build(pki.leaf, [pki.intermediate], at: TestPKI.now - 86_401) })
        #expect(throwsCode(.expired) { try build(pki.leaf, [pki.intermediate], at: TestPKI.now + 4_000_000_001) })
        #expect(try build(pki.leaf, [pki.intermediate], at: TestPKI.now + 3_999_999_999).count == 3)
        do {
            _ = try build(pki.leaf, [pki.intermediate], at: TestPKI.now - 86_401)
        } catch let error as CryptographyError {
            #expect(error.message.contains("2025-12-31T00:00:00Z"), "\(error)")
        }
    }

    @Test("A missing or wrong intermediate is named with the key identifier that is needed")
    func wrongIntermediate() throws {
        let pki = try TestPKI.shared()
        #expect(throwsCode(.chain) { try build(pki.leaf, []) })
        let otherKey = try PrivateKey.generateRSA()
        var template = CertificateTemplate.authority(
            subject: [
                (.commonName, "Example Developer Relations"), (.organizationalUnit, "G3"),
                (.organization, "Example Inc."), (.country, "US"),
            ],
            notBefore: TestPKI.now - 1_000,
            notAfter: TestPKI.now + 1_000_000
        )
        let older = try template.issue(for: otherKey, issuer: (pki.root, pki.rootKey))
        do {
            _ = try build(pki.leaf, [older])
            Issue.record("a wrong intermediate was taken")
        } catch let error as CryptographyError {
            #expect(error.code == .chain)
            let needed = try #require(pki.leaf.authorityKeyIdentifier)
            let text = needed.map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
            #expect(error.message.contains(text), "\(error)")
            #expect(error.message.contains("G3") && error.message.contains("G4"), "\(error)")
        }
        template.subject[1].value = "G4"
        template.hasKeyIdentifiers = false
        let impostor = try template.issue(for: otherKey, issuer: (pki.root, pki.rootKey))
        #expect(throws: CryptographyError.self) { try build(pki.leaf, [impostor]) }
        let stranger = try TestPKI.leafTemplate().issue(for: pki.leafKey, issuer: nil)
        #expect(throwsCode(.chain) { try build(stranger, [pki.intermediate]) })
    }

    @Test("A leaf whose signature is damaged is told apart")
    func damagedSignature() throws {
        let pki = try TestPKI.shared()
        var der = pki.leaf.der
        der[der.count - 1] ^= 1
        #expect(throwsCode(.badSignature) { try build(try Certificate(der: der), [pki.intermediate]) })
    }

    @Test("Short keys, SHA-1 and end certificates that issue are refused by name")
    func weakness() throws {
        let pki = try TestPKI.shared()
        let shortKey = try PrivateKey.generateRSA(bits: 1024)
        let issuer = (pki.intermediate, pki.intermediateKey)
        let short = try TestPKI.leafTemplate().issue(for: shortKey, issuer: issuer)
        #expect(throwsCode(.weakKey) { try build(short, [pki.intermediate]) })
        var template = TestPKI.leafTemplate()
        template.signature = .sha1
        let sha1 = try template.issue(for: pki.leafKey, issuer: issuer)
        #expect(throwsCode(.weakSignature) { try build(sha1, [pki.intermediate]) })
        let child = try TestPKI.leafTemplate().issue(for: pki.leafKey, issuer: (pki.leaf, pki.leafKey))
        #expect(throwsCode(.chain) { try build(child, [pki.leaf, pki.intermediate]) })
    }

    @Test(
        "The real roots and intermediates of Apple's kind verify: RSA roots that signed themselves with SHA-1 included"
    )
    func oldRoot() throws {
        var template = CertificateTemplate.authority(
            subject: [(.commonName, "Old Root")],
            notBefore: TestPKI.now - 10,
            notAfter: TestPKI.now + 10
        )
        template.signature = .sha1
        let key = try PrivateKey.generateRSA()
        let root = try template.issue(for: key, issuer: nil)
        let leaf = try TestPKI.leafTemplate().issue(for: try PrivateKey.generateRSA(), issuer: (root, key))
        let chain = try CertificateChain.build(leaf: leaf, intermediates: [], roots: [root], at: TestPKI.now)
        #expect(chain == [leaf, root])
    }

    @Test("A certificate request is one that openssl accepts")
    func request() throws {
        let key = try PrivateKey.generateRSA()
        let directory = try TemporaryDirectory()
        let subject: [(field: NameField, value: String)] = [
            (.commonName, "Order Type ID"), (.organization, "Bäckerei"), (.country, "DE"),
        ]
        let path = try directory.write("request.pem", try CertificateRequest.pem(subject: subject, key: key))
        let answer = try Command.run([
            "openssl", "req", "-in", path, "-verify", "-noout", "-subject", "-nameopt", "utf8,sep_comma_plus",
        ])
        #expect(answer.status == 0)
        #expect(answer.output.contains("CN=Order Type ID,O=Bäckerei,C=DE"), "\(answer.output)")
        #expect(
            throwsCode(.invalidInput) { try CertificateRequest.pem(subject: [(.country, "Deutschland")], key: key) }
        )
        for name in ["", String(repeating: "ä", count: 65)] {
            let error = #expect(throws: CryptographyError.self) {
                try CertificateRequest.pem(subject: [(.commonName, name)], key: key)
            }
            #expect(error?.code == .invalidInput && error?.message.contains("CN takes 1 to 64 characters") == true)
        }
    }
}
