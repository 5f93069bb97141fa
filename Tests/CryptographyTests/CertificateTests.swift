// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

@Suite("Certificates")
struct CertificateTests {
    @Test("An issued certificate says what its template says")
    func fields() throws {
        let pki = try TestPKI.shared()
        let leaf = pki.leaf
        #expect(leaf.subject(.userID) == TestPKI.orderType)
        #expect(leaf.subject(.commonName) == "Order Type ID: \(TestPKI.orderType)")
        #expect(leaf.subject(.organizationalUnit) == "A1B2C3D4E5")
        #expect(leaf.subject(.organization) == "Beispiel Bäckerei")
        #expect(leaf.subject(.country) == "US")
        #expect(leaf.subjectDescription.contains("Beispiel Bäckerei"))
        #expect(leaf.issuerDescription.contains("Example Developer Relations"))
        #expect(leaf.notBefore == TestPKI.now - 86_400)
        #expect(leaf.notAfter == TestPKI.now + 4_000_000_000)
        #expect(leaf.extendedKeyUsage == ["1.3.6.1.5.5.7.3.2", "1.2.840.113635.100.4.19"])
        #expect(leaf.keyUsageDigitalSignature)
        #expect(!leaf.isCA)
        #expect(!leaf.isSelfIssued)
        #expect(leaf.isRSA)
        #expect(leaf.keyBits == 2048)
        #expect(!leaf.signatureUsesSHA1)
        #expect(leaf.extensionString("1.2.840.113635.100.14.2") == TestPKI.orderType)
        #expect(leaf.extensionValue("1.2.840.113635.100.6.3.2") == DER.null)
        #expect(leaf.extensionString("1.2.840.113635.100.6.3.2") == nil)
        #expect(leaf.extensionValue("1.2.3.4") == nil)
        #expect(leaf.extensionValue("no identifier") == nil)
        #expect(leaf.subjectKeyIdentifier?.count == 20)
        #expect(leaf.authorityKeyIdentifier == pki.intermediate.subjectKeyIdentifier)
        #expect(leaf.serialHex.count == 32)
        #expect(pki.intermediate.isCA)
        #expect(!pki.intermediate.keyUsageDigitalSignature)
        #expect(pki.root.isCA && pki.root.isSelfIssued)
        #expect(pki.root.subject(.userID) == nil)
        #expect(leaf.fingerprint == SHA256.hash(leaf.der))
    }

    @Test("openssl reads the certificate the same way")
    func printed() throws {
        let pki = try TestPKI.shared()
        let directory = try TemporaryDirectory()
        let path = try directory.write("leaf.pem", pki.leaf.pem())
        let text = try Command.run(["openssl", "x509", "-in", path, "-noout", "-text"]).output
        for expected in [
            "Version: 3 (0x2)", "sha256WithRSAEncryption",
            "X509v3 Basic Constraints: critical\n                CA:FALSE",
            "X509v3 Key Usage: critical\n                Digital Signature\n",
            "TLS Web Client Authentication, 1.2.840.113635.100.4.19", "X509v3 Subject Key Identifier",
            "X509v3 Authority Key Identifier", "UID = \(TestPKI.orderType)", "C = US",
        ] {
            #expect(text.contains(expected), "\(expected) is missing in \(text)")
        }
        let intermediate = try directory.write("intermediate.pem", pki.intermediate.pem())
        let root = try directory.write("root.pem", pki.root.pem())
        let verdict = try Command.run([
            "openssl", "verify", "-x509_strict", "-CAfile", root, "-untrusted", intermediate, path,
        ])
        #expect(verdict.status == 0, "\(verdict.output)")
        let server = try directory.write("server.pem", pki.server.pem())
        let names = try Command.run(["openssl", "x509", "-in", server, "-noout", "-ext", "subjectAltName,keyUsage"])
            .output
        #expect(names.contains("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"), "\(names)")
        #expect(names.contains("Digital Signature, Key Encipherment"), "\(names)")
    }

    @Test("Only the real issuer signed a certificate, and a name alone proves nothing")
    func issuers() throws {
        let pki = try TestPKI.shared()
        #expect(pki.leaf.isSigned(by: pki.intermediate))
        #expect(pki.intermediate.isSigned(by: pki.root))
        #expect(pki.root.isSigned(by: pki.root))
        #expect(!pki.leaf.isSigned(by: pki.root))
        #expect(!pki.leaf.isSigned(by: pki.leaf))
        // The same name and the same claims, another key.
        let impostorKey = try PrivateKey.generateRSA()
        var template = CertificateTemplate.authority(
            subject: [
                (.commonName, "Example Developer Relations"), (.organizationalUnit, "G4"),
                (.organization, "Example Inc."), (.country, "US"),
            ],
            notBefore: TestPKI.now,
            notAfter: TestPKI.now + 1_000
        )
        #expect(!pki.leaf.isSigned(by: try template.issue(for: impostorKey, issuer: (pki.root, pki.rootKey))))
        template.hasKeyIdentifiers = false
        let silent = try template.issue(for: impostorKey, issuer: (pki.root, pki.rootKey))
        #expect(silent.subjectKeyIdentifier == nil && silent.authorityKeyIdentifier == nil)
        #expect(!pki.leaf.isSigned(by: silent))
        #expect(throwsCode(.keyMismatch) { try template.issue(for: impostorKey, issuer: (pki.root, impostorKey)) })
    }

    @Test("SHA-1 and short keys are seen")
    func weakness() throws {
        var template = TestPKI.leafTemplate()
        template.signature = .sha1
        let key = try PrivateKey.generateRSA(bits: 1024)
        let weak = try template.issue(for: key, issuer: nil)
        #expect(weak.signatureUsesSHA1)
        #expect(weak.keyBits == 1024)
        #expect(throwsCode(.weakKey) { try PrivateKey.generateRSA(bits: 512) })
    }

    @Test("Each thing that is no certificate has a message of its own")
    func faults() throws {
        let pki = try TestPKI.shared()
        #expect(throwsCode(.notDER) { try Certificate(der: pki.leaf.pem()) })
        #expect(throwsCode(.notDER) { try Certificate(der: []) })
        #expect(throwsCode(.notDER) { try Certificate(der: pki.leaf.der + [0]) })
        #expect(throwsCode(.notDER) { try Certificate(der: Array(pki.leaf.der.dropLast())) })
        #expect(throwsCode(.notPEM) { try Certificate(pem: pki.leaf.der) })
        #expect(throwsCode(.notPEM) { try Certificate(pem: Array("pki/leaf.pem".utf8)) })
        #expect(throwsCode(.noCertificate) { try Certificate(pem: pki.leafKey.pem()) })
        var damaged = pki.root.pem() + pki.leaf.pem()
        damaged[pki.root.pem().count + 100] = UInt8(ascii: "*")
        #expect(throwsCode(.notPEM) { try Certificate.all(pem: damaged) })
        let cut = Array(pki.leaf.pem().dropLast(30))
        #expect(throwsCode(.notPEM) { try Certificate(pem: cut) })
        var unreadable = TestPKI.leafTemplate()
        unreadable.extendedKeyUsage = ["1.x"]
        #expect(throwsCode(.invalidInput) { try unreadable.issue(for: pki.leafKey, issuer: nil) })
        unreadable.extendedKeyUsage = []
        unreadable.ipAddresses = ["1.2.3"]
        #expect(throwsCode(.invalidInput) { try unreadable.issue(for: pki.leafKey, issuer: nil) })
        unreadable.ipAddresses = []
        unreadable.subject = [(.country, "Germany")]
        #expect(throwsCode(.invalidInput) { try unreadable.issue(for: pki.leafKey, issuer: nil) })
    }

    @Test("A certificate is equal to itself read again")
    func equality() throws {
        let pki = try TestPKI.shared()
        #expect(try Certificate(der: pki.leaf.der) == pki.leaf)
        #expect(try Certificate(pem: pki.leaf.pem()).hashValue == pki.leaf.hashValue)
        #expect(pki.leaf != pki.root)
    }
}
