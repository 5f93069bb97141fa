// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import OrderStore
import ServiceRuntime
import StoreTestSupport
import Testing

@Suite struct TokenKeysTests {
    static func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = "/tmp/walletorders-keys-\(Hex.encode(SecureRandom.bytes(4)))"
        try await body(folder + "/keys")
        try Files.removeTree(folder)
    }

    @Test func `a token is the HMAC of type, order and nonce, in base64url`() throws {
        let secret = [UInt8](repeating: 7, count: 32)
        let keys = try TokenKeys(keys: [3: secret])
        let key = try Samples.key("one")
        let stamp = TokenStamp(kid: 3, nonce: [1, 2, 3])
        let message = Array(Samples.shop.utf8) + [0] + Array("one".utf8) + [0, 1, 2, 3]
        let expected = Base64URL.encode(HMACSHA256.authenticate(message, key: secret))
        #expect(try keys.token(for: key, stamp: stamp) == expected)
        #expect(expected.utf8.count == 43)
        #expect(keys.matches(expected, key: key, stamp: stamp))
        #expect(!keys.matches(expected + "A", key: key, stamp: stamp))
        #expect(!keys.matches(String(expected.dropLast()), key: key, stamp: stamp))
        #expect(!keys.matches("", key: key, stamp: stamp))
        #expect(!keys.matches(expected, key: key, stamp: nil))
        #expect(!keys.matches(expected, key: key, stamp: TokenStamp(kid: 4, nonce: [1, 2, 3])))
        #expect(!keys.matches(expected, key: try Samples.key("two"), stamp: stamp))
        #expect(throws: StoreError.self) { try keys.token(for: key, stamp: TokenStamp(kid: 4, nonce: [])) }
    }

    @Test func `descriptions and mirrors hold no key`() throws {
        let keys = try TokenKeys(keys: [1: [UInt8](repeating: 201, count: 32)])
        #expect(!"\(keys)".contains("201"))
        #expect(!String(reflecting: keys).contains("201"))
        var dumped = ""
        dump(keys, to: &dumped)
        #expect(!dumped.contains("201"))
    }

    @Test func `a ring needs keys of 32 bytes`() {
        #expect(throws: StoreError.self) { try TokenKeys(keys: [:]) }
        #expect(throws: StoreError.self) { try TokenKeys(keys: [1: [1, 2, 3]]) }
    }

    @Test func `a first key is made once, for all who start at once`() async throws {
        try await Self.withFolder { folder in
            let key = try Samples.key("one")
            let stamp = TokenStamp(kid: 1, nonce: [9])
            let tokens = try await atOnce(8) { _ in
                try await TokenKeys.load(directory: folder, createIfMissing: true).token(for: key, stamp: stamp)
            }
            #expect(Set(tokens).count == 1)
            #expect(try Files.list(folder) == ["token-1.key"])
            #expect(
                try await TokenKeys.load(directory: folder, createIfMissing: false).token(for: key, stamp: stamp)
                    == tokens[0]
            )
        }
    }

    @Test func `the highest number makes new tokens, the older ones stay`() async throws {
        try await Self.withFolder { folder in
            try Files.createDirectory(folder, mode: 0o700)
            for kid in [1, 2, 10] {
                let text = Hex.encode([UInt8](repeating: UInt8(kid), count: 32)) + "\n"
                try Files.write(Array(text.utf8), to: "\(folder)/token-\(kid).key", mode: 0o600)
            }
            try Files.write([1], to: "\(folder)/notes.txt", mode: 0o644)
            let keys = try await TokenKeys.load(directory: folder, createIfMissing: false)
            #expect(keys.newest == 10)
            #expect(keys.newStamp().kid == 10)
            #expect(try keys.token(for: try Samples.key("one"), stamp: TokenStamp(kid: 1, nonce: [1])).utf8.count == 43)
        }
    }

    static let badFiles: [(String, UInt32)] = [
        ("zz", 0o600), (String(repeating: "a", count: 63), 0o600), (String(repeating: "a", count: 65), 0o600),
        (String(repeating: "ab", count: 32) + "\n", 0o640), (String(repeating: "ab", count: 32) + "\n", 0o604),
        ("", 0o600),
    ]

    @Test(arguments: badFiles)
    func `a file that is no key, or that others can read, is refused by name and without its contents`(
        text: String,
        mode: UInt32
    ) async throws {
        try await Self.withFolder { folder in
            try Files.createDirectory(folder, mode: 0o700)
            try Files.write(Array(text.utf8), to: "\(folder)/token-1.key", mode: mode)
            let error = await #expect(throws: StoreError.self) {
                try await TokenKeys.load(directory: folder, createIfMissing: false)
            }
            #expect(error?.code == .badKeyFile)
            #expect(error?.message.contains("token-1.key") == true)
            #expect(text.isEmpty || error?.message.contains(text) == false)
        }
    }

    @Test func `without keys and without leave to make one it says so`() async throws {
        try await Self.withFolder { folder in
            #expect(
                await code { _ = try await TokenKeys.load(directory: folder, createIfMissing: false) } == .badKeyFile
            )
            try Files.createDirectory(folder, mode: 0o700)
            #expect(
                await code { _ = try await TokenKeys.load(directory: folder, createIfMissing: false) } == .badKeyFile
            )
        }
    }
}
