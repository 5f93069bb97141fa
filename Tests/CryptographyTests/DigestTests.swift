// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

@Suite("Digests, codes and randomness")
struct DigestTests {
    @Test(
        "SHA-256 gives the standard's values",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func knownDigests(text: String, expected: String) {
        let bytes = Array(text.utf8)
        #expect(SHA256.hash(bytes).hex == expected)
        #expect(SHA256.hash([bytes]).hex == expected)
        #expect(SHA256.hash([Array(bytes.prefix(2)), [], Array(bytes.dropFirst(2))]).hex == expected)
        #expect(SHA256Digest(hex: expected.uppercased()) == SHA256.hash(bytes))
    }

    @Test("A digest is 64 hexadecimal digits, nothing else", arguments: ["", "ab", String(repeating: "g", count: 64)])
    func digestText(text: String) {
        #expect(SHA256Digest(hex: text) == nil)
    }

    @Test("A hasher that is dropped half-way leaves nothing behind")
    func droppedHasher() {
        for _ in 0..<100 {
            var hasher = SHA256Hasher()
            hasher.update([1, 2, 3])
        }
        var hasher = SHA256Hasher()
        hasher.update(Array("a".utf8))
        hasher.update([])
        hasher.update(Array("bc".utf8))
        #expect(hasher.finish() == SHA256.hash(Array("abc".utf8)))
    }

    @Test("HMAC gives the values of RFC 4231, and takes an empty key and an empty message")
    func knownCodes() {
        let first = HMACSHA256.authenticate(Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20))
        #expect(Hex.encode(first) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let second = HMACSHA256.authenticate(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(Hex.encode(second) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            Hex.encode(HMACSHA256.authenticate([], key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        )
        let long = HMACSHA256.authenticate(
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            key: [UInt8](repeating: 0xaa, count: 131)
        )
        #expect(Hex.encode(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test("Secrets are equal only byte for byte")
    func comparison() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2], [1, 2]))
        #expect(!constantTimeEqual([1, 2], [1, 3]))
        #expect(!constantTimeEqual([1, 2], [1, 2, 0]))
    }

    @Test("Random bytes and UUIDs don't repeat, and a UUID says version 4")
    func randomness() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(33).count == 33)
        let identifiers = (0..<200).map { _ in SecureRandom.uuid() }
        #expect(Set(identifiers).count == 200)
        for identifier in identifiers {
            let parts = identifier.split(separator: "-").map(\.count)
            #expect(parts == [8, 4, 4, 4, 12])
            let characters = Array(identifier)
            #expect(characters[14] == "4")
            #expect("89ab".contains(characters[19]))
        }
    }
}
