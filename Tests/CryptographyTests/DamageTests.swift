// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestPatience
import Testing

@Suite("Damaged input")
struct DamageTests {
    /// The input with a few bytes changed, and sometimes cut short or lengthened.
    private func damaged(_ bytes: [UInt8], _ dice: inout SeededGenerator) -> [UInt8] {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            changed[Int.random(in: 0..<changed.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
        }
        switch Int.random(in: 0..<6, using: &dice) {
        case 0: return Array(changed.prefix(Int.random(in: 0..<changed.count, using: &dice)))
        case 1: return changed + [0, 1, 2]
        default: return changed
        }
    }

    @Test("A damaged certificate is refused or read, and never takes the process down")
    func certificates() throws {
        let original = try TestPKI.shared().leaf.der
        var dice = SeededGenerator(seed: 1)
        var refused = 0
        for _ in 0..<1_500 {
            do throws(CryptographyError) {
                let certificate = try Certificate(der: damaged(original, &dice))
                _ = NameField.allCases.map(certificate.subject)
                _ = certificate.subjectDescription + certificate.issuerDescription + certificate.serialHex
                _ = certificate.extendedKeyUsage + [certificate.extensionString("1.2.840.113635.100.14.2")]
                _ = [certificate.isCA, certificate.isRSA, certificate.signatureUsesSHA1]
                _ = [certificate.notBefore, certificate.notAfter, Int64(certificate.keyBits)]
                #expect(!certificate.pem().isEmpty)
            } catch {
                #expect(error.code == .notDER, "\(error)")
                refused += 1
            }
        }
        #expect(refused > 100)
    }

    @Test("A damaged signature is refused or read, and verifies only where the damage says nothing")
    func signatures() throws {
        let pki = try TestPKI.shared()
        let content = Array("{}".utf8)
        let original = try CMS.signDetached(
            content,
            signer: pki.leaf,
            key: pki.leafKey,
            intermediates: [],
            signingTime: TestPKI.now
        )
        let said = try CMS.parse(original).signers.map(\.signedAttributes)
        var dice = SeededGenerator(seed: 2)
        for round in 0..<1_500 {
            let signature = damaged(original, &dice)
            guard signature != original else { continue }
            let found = (try? CMS.parse(signature))?.signers.map(\.signedAttributes)
            guard (try? CMS.verifyDetached(signature, content: content)) == pki.leaf else { continue }
            // As in an algorithm's parameters, or in the list of algorithms that stands in front for readers' sake.
            let places = zip(original, signature).enumerated().filter { $1.0 != $1.1 }.map { "\($0): \($1)" }
            print("damage that says nothing at", places.joined(separator: ", "))
            #expect(found == said && signature.count == original.count && places.count <= 2, "round \(round)")
        }
    }

    @Test("A damaged key or PEM text is refused or read")
    func texts() throws {
        let pki = try TestPKI.shared()
        let key = pki.serverKey.pem()
        let encrypted = try pki.serverKey.pem(encryptedWith: Array("secret".utf8))
        let chain = pki.leaf.pem() + pki.root.pem()
        var dice = SeededGenerator(seed: 3)
        for _ in 0..<400 {
            _ = try? PrivateKey(pem: damaged(key, &dice))
            _ = try? Certificate.all(pem: damaged(chain, &dice))
        }
        for _ in 0..<40 {
            _ = try? PrivateKey(pem: damaged(encrypted, &dice), passphrase: Array("secret".utf8))
        }
        #expect(pki.server.matches(try PrivateKey(pem: key)))
    }
}
