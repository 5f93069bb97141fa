// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

@Suite("Hexadecimal, base64 and DER")
struct EncodingTests {
    @Test(
        "Base64 gives RFC 4648's values and reads them back",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func base64(text: String, encoded: String) {
        let bytes = Array(text.utf8)
        let bare = encoded.filter { $0 != "=" }
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.decode(encoded) == bytes)
        #expect(Base64URL.encode(bytes) == bare)
        #expect(Base64URL.decode(bare) == bytes)
    }

    @Test(
        "One value has one base64 text",
        arguments: ["Zg", "Zh==", "Zg=", "Z===", "Zg==\n", "Zm9v====", "Z g=", "Zm-_"]
    )
    func strictBase64(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(
        "Base64 for URLs knows neither padding nor the other alphabet",
        arguments: ["Zg==", "Zh", "A", "ab+/", "Zm9v\n"]
    )
    func strictBase64URL(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test("All bytes survive all encodings")
    func roundTrips() {
        for count in 0..<70 {
            let bytes = SecureRandom.bytes(count)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
        #expect(Base64.encode([0xfb, 0xff]) == "+/8=")
    }

    @Test("Hexadecimal digits come in pairs", arguments: ["a", "0g", " 0", "0x00", "+1"])
    func strictHex(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test("Object identifiers are written as X.690 says")
    func objectIdentifiers() {
        #expect(
            DER.objectIdentifier("1.2.840.113635.100.14.2") == [
                0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x0e, 2,
            ]
        )
        #expect(DER.objectIdentifier("2.5.29.15") == [0x06, 0x03, 0x55, 0x1d, 0x0f])
        for text in ["", "1", "3.1", "1.40", "1..2", "1.2.x", ".1.2"] {
            #expect(DER.objectIdentifier(text) == nil)
        }
    }

    @Test("Lengths are written and read in their shortest form")
    func lengths() {
        for count in [0, 1, 127, 128, 255, 256, 70_000] {
            let contents = [UInt8](repeating: 7, count: count)
            #expect(DER.contents(of: DER.octetString(contents), tag: 0x04) == contents)
        }
        #expect(DER.contents(of: [0x04, 0x81, 0x01, 0x07], tag: 0x04) == nil)
        #expect(DER.contents(of: [0x04, 0x01, 0x07, 0x00], tag: 0x04) == nil)
        #expect(DER.contents(of: [0x04, 0x02, 0x07], tag: 0x04) == nil)
        #expect(DER.contents(of: [0x04, 0x84, 0xff, 0xff, 0xff, 0xff], tag: 0x04) == nil)
        #expect(DER.contents(of: [0x0c, 0x00], tag: 0x04) == nil)
    }
}
