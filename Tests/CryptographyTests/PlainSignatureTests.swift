// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Cryptography

@Suite("Signatures read the short way")
struct PlainSignatureTests {
    private let content: [UInt8] = Array("{}".utf8)

    private func signature(at time: Int64 = TestPKI.now) throws -> [UInt8] {
        let pki = try TestPKI.shared()
        return try CMS.signDetached(
            content,
            signer: pki.leaf,
            key: pki.leafKey,
            intermediates: [pki.intermediate],
            signingTime: time
        )
    }

    /// Everything that a reading tells.
    private func told(_ der: [UInt8], takesShortcut: Bool, content: [UInt8]? = nil) -> String {
        do throws(CryptographyError) {
            let (data, signer) = try CMS.read(
                der,
                content: content ?? self.content,
                takesShortcut: takesShortcut
            ) { (der) throws(CryptographyError) in try Certificate(der: der) }
            let outcome =
                switch signer {
                case .success(let certificate): certificate.fingerprint.hex
                case .failure(let error): "\(error.code) \(error.message)"
                }
            return "\(data.certificates.map(\.fingerprint)) \(data.signers) \(data.contentType) \(data.isDetached)"
                + " \(data.form) \(outcome)"
        } catch {
            return "\(error.code) \(error.message)"
        }
    }

    @Test("Our own signatures are read so, and to the same result as by OpenSSL")
    func own() throws {
        for time in [TestPKI.now, 0, -631_152_000, 951_782_400, 2_524_607_999] {
            let bytes = try signature(at: time)
            #expect(PlainSignature(bytes) != nil, "at \(time)")
            #expect(told(bytes, takesShortcut: true) == told(bytes, takesShortcut: false), "at \(time)")
        }
        // A GeneralizedTime is left to OpenSSL.
        let late = try signature(at: 2_524_608_000)
        #expect(PlainSignature(late) == nil)
        #expect(told(late, takesShortcut: true) == told(late, takesShortcut: false))
    }

    @Test("Whatever byte is changed, both ways tell the same")
    func changes() throws {
        let bytes = try signature()
        for position in bytes.indices {
            for change: UInt8 in [0x01, 0x80] {
                var changed = bytes
                changed[position] ^= change
                let short = told(changed, takesShortcut: true)
                #expect(short == told(changed, takesShortcut: false), "byte \(position) ^ \(change)")
            }
        }
    }

    @Test("Other content, bytes behind the end and missing ones are told of as by OpenSSL")
    func damage() throws {
        let bytes = try signature()
        for other: [UInt8] in [[], [1], content + content] {
            let short = told(bytes, takesShortcut: true, content: other)
            #expect(short == told(bytes, takesShortcut: false, content: other))
            #expect(short.contains("digest differs"))
        }
        for changed in [bytes + [0], Array(bytes.dropLast()), Array(bytes.dropFirst())] {
            #expect(told(changed, takesShortcut: true) == told(changed, takesShortcut: false))
        }
    }

    @Test("Signatures by openssl are read so when they name a key identifier, and left to it otherwise")
    func foreign() throws {
        let pki = try TestPKI.shared()
        for (options, isPlain) in [
            (["-keyid", "-nosmimecap"], true), (["-keyid"], false), (["-nosmimecap"], false),
            (["-keyid", "-noattr"], false), (["-keyid", "-nosmimecap", "-md", "sha512"], false),
            (["-keyid", "-nosmimecap", "-keyopt", "rsa_padding_mode:pss"], false),
            (["-keyid", "-nosmimecap", "-nodetach"], false), (["-keyid", "-nosmimecap", "-nocerts"], false),
        ] {
            let digest = options.contains("-md") ? [] : ["-md", "sha256"]
            let bytes = try pki.signatureByOpenSSL(of: content, digest + options)
            #expect((PlainSignature(bytes) != nil) == isPlain, "\(options)")
            #expect(told(bytes, takesShortcut: true) == told(bytes, takesShortcut: false), "\(options)")
        }
    }

    @Test("A UTCTime is read as OpenSSL reads it, and one that is none isn't read")
    func times() throws {
        var second: Int64 = -631_152_000
        while second < 2_524_608_000 {
            let der = ASN1Time.der(second)
            #expect(ASN1Time.seconds(utcTime: der[2...]) == second)
            second += 86_399 * 3
        }
        for text in [
            "260131180000", "2601311800Z", "260131180000+0100", "261301000000Z", "260001000000Z", "260229000000Z",
            "260100000000Z", "260132000000Z", "260131240000Z", "260131236000Z", "260131235960Z", "26013118000 Z",
            "2601311800-1Z", "",
        ] {
            #expect(ASN1Time.seconds(utcTime: Array(text.utf8)[...]) == nil, "\(text)")
        }
        #expect(ASN1Time.seconds(utcTime: Array("240229000000Z".utf8)[...]) == 1_709_164_800)
    }
}
