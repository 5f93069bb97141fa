// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Cryptography

@Suite("Form of a signature")
struct CMSFormTests {
    private func signature() throws -> [UInt8] {
        let pki = try TestPKI.shared()
        return try CMS.signDetached(
            [1, 2, 3],
            signer: pki.leaf,
            key: pki.leafKey,
            intermediates: [pki.intermediate],
            signingTime: TestPKI.now
        )
    }

    @Test("Our own signatures are strict")
    func own() throws {
        let form = CMSForm(try signature())
        #expect(form.isDER && form.hasRightVersions && form.hasRightIdentifiers && form.hasSortedAttributes)
        #expect(!form.hasRevocationLists)
    }

    @Test(
        "DER is definite, shortest and whole; BER isn't DER",
        arguments: [
            ([0x30, 0x03, 0x02, 0x01, 0x05], true), ([0x30, 0x00], true), ([], true),
            ([0x30, 0x80, 0x02, 0x01, 0x05, 0, 0], false), ([0x30, 0x81, 0x03, 0x02, 0x01, 0x05], false),
            ([0x30, 0x82, 0x00, 0x83], false), ([0x30, 0x04, 0x02, 0x01, 0x05], false), ([0x30], false),
            ([0x24, 0x03, 0x04, 0x01, 0x05], false), ([0x10, 0x03, 0x02, 0x01, 0x05], false),
            ([0x1F, 0x81, 0x01, 0x00], false), ([0x30, 0x85, 1, 0, 0, 0, 0], false),
            ([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], false), ([0xA0, 0x02, 0x30, 0x01], false),
        ] as [([UInt8], Bool)]
    )
    func strictness(bytes: [UInt8], isStrict: Bool) {
        #expect(DERReader.isStrict(bytes) == isStrict)
    }

    @Test("A signature without its certificates is read like the whole, with the certificates in their order")
    func split() throws {
        let pki = try TestPKI.shared()
        let bytes = try signature()
        let parts = try #require(CMSForm.split(bytes))
        #expect(parts.certificates == (try CMS.parse(bytes).certificates.map(\.der)))
        #expect(try CMS.parse(parts.signedData).certificates == [])
        let read = try CMS.read(bytes, content: [1, 2, 3]) { (der) throws(CryptographyError) in
            try Certificate(der: der)
        }
        #expect(try read.signer.get() == pki.leaf)
        #expect(Set(read.data.certificates) == [pki.leaf, pki.intermediate])
        let other = try CMS.read(bytes, content: [1]) { (der) throws(CryptographyError) in try Certificate(der: der) }
        #expect(throws: CryptographyError.self) { try other.signer.get() }
        #expect(CMSForm.split(bytes + [5, 0]) == nil)
        #expect(CMSForm.split(Array(bytes.dropLast())) == nil)
        #expect(CMSForm.split([]) == nil)
    }

    @Test("A digest that nobody knows is refused, without a loss of memory that the sanitizer would tell of")
    func unknownDigest() throws {
        var bytes = try signature()
        let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
        for index in bytes.indices where bytes[index...].starts(with: sha256) { bytes[index + 8] = 0x7F }
        #expect(throws: CryptographyError.self) { try CMS.verifyDetached(bytes, content: [1, 2, 3]) }
    }

    @Test("Nesting to any depth costs no stack")
    func depth() {
        var bytes: [UInt8] = [0x05, 0x00]
        for _ in 0..<2_000 { bytes = DER.sequence([bytes]) }
        #expect(DERReader.isStrict(bytes))
        _ = CMSForm(bytes)
    }

    @Test("Any prefix and any changed byte is looked at without harm")
    func damage() throws {
        let bytes = try signature()
        for count in stride(from: 0, to: bytes.count, by: 11) { _ = CMSForm(Array(bytes.prefix(count))) }
        for index in stride(from: 0, to: bytes.count, by: 3) {
            var changed = bytes
            changed[index] ^= 0xFF
            _ = CMSForm(changed)
        }
    }
}
