// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing

@Suite("PKCS#12 files")
struct PKCS12Tests {
    private let secret = Array("päss word".utf8)

    private func file() throws -> [UInt8] {
        let pki = try TestPKI.shared()
        return try PKCS12.write(
            certificate: pki.leaf,
            key: pki.leafKey,
            others: [pki.intermediate],
            passphrase: secret,
            friendlyName: "Order Type ID: \(TestPKI.orderType)"
        )
    }

    @Test("A file survives writing and reading, and openssl reads it")
    func roundTrip() throws {
        let pki = try TestPKI.shared()
        let contents = try PKCS12.read(try file(), passphrase: secret)
        #expect(contents.certificates == [pki.leaf, pki.intermediate])
        #expect(contents.keys.map { pki.leaf.matches($0) } == [true])
        #expect(!contents.usedLegacyAlgorithms)
        let directory = try TemporaryDirectory()
        let path = try directory.write("identity.p12", try file())
        let answer = try Command.run(["openssl", "pkcs12", "-in", path, "-passin", "pass:päss word", "-info", "-nodes"])
        #expect(answer.status == 0)
        #expect(answer.output.contains("AES-256-CBC"))
        #expect(answer.output.contains("friendlyName: Order Type ID"))
    }

    /// A file written by openssl, with these options.
    private func foreign(_ options: [String], key: Bool = true) throws -> [UInt8] {
        let pki = try TestPKI.shared()
        let directory = try TemporaryDirectory()
        let leaf = try directory.write("leaf.pem", pki.leaf.pem() + pki.intermediate.pem())
        let keyPath = try directory.write("key.pem", pki.leafKey.pem())
        let answer = try Command.run(
            ["openssl", "pkcs12", "-export", "-in", leaf, "-out", directory.path("out.p12"), "-passout", "pass:secret"]
                + (key ? ["-inkey", keyPath] : ["-nokeys"]) + options
        )
        #expect(answer.status == 0, "\(answer.output)")
        return try directory.read("out.p12")
    }

    @Test("A file as Keychain Access writes it opens with its passphrase, marked as old, and with no other")
    func legacy() throws {
        let pki = try TestPKI.shared()
        let old = try foreign(["-legacy"])
        for _ in 0..<3 {
            let contents = try PKCS12.read(old, passphrase: Array("secret".utf8))
            #expect(contents.usedLegacyAlgorithms)
            #expect(contents.certificates == [pki.leaf, pki.intermediate])
            let key = try #require(contents.keys.first)
            #expect(contents.keys.count == 1 && pki.leaf.matches(key))
            // What came out works long after the import's own context is gone.
            let signature = try CMS.signDetached(
                [1, 2, 3],
                signer: contents.certificates[0],
                key: key,
                intermediates: [contents.certificates[1]],
                signingTime: TestPKI.now
            )
            #expect(try CMS.verifyDetached(signature, content: [1, 2, 3]) == pki.leaf)
            #expect(contents.certificates[0].isSigned(by: contents.certificates[1]))
        }
        #expect(throwsCode(.wrongPassphrase) { try PKCS12.read(old, passphrase: Array("Secret".utf8)) })
        #expect(throwsCode(.passphraseNeeded) { try PKCS12.read(old, passphrase: []) })
        // The old ciphers stayed inside: a key under one of them still isn't read.
        let directory = try TemporaryDirectory()
        let key = try directory.write("key.pem", pki.leafKey.pem())
        let made = try Command.run([
            "openssl", "pkcs8", "-topk8", "-in", key, "-out", directory.path("old.pem"), "-passout", "pass:secret",
            "-v1", "PBE-SHA1-RC2-40", "-provider", "legacy", "-provider", "default",
        ])
        #expect(made.status == 0, "\(made.output)")
        let pem = try directory.read("old.pem")
        #expect(throwsCode(.unsupportedAlgorithm) { try PrivateKey(pem: pem, passphrase: Array("secret".utf8)) })
    }

    @Test("A file without private keys has none, and its certificates")
    func noKey() throws {
        for options in [[], ["-legacy"]] {
            let contents = try PKCS12.read(try foreign(options, key: false), passphrase: Array("secret".utf8))
            let pki = try TestPKI.shared()
            #expect(contents.keys.isEmpty && contents.certificates == [pki.leaf, pki.intermediate])
        }
    }

    @Test("An empty passphrase opens what was written with one")
    func emptyPassphrase() throws {
        let pki = try TestPKI.shared()
        let file = try PKCS12.write(
            certificate: pki.leaf,
            key: pki.leafKey,
            others: [],
            passphrase: [],
            friendlyName: "empty"
        )
        #expect(try PKCS12.read(file, passphrase: []).certificates == [pki.leaf])
        #expect(throwsCode(.wrongPassphrase) { try PKCS12.read(file, passphrase: Array("x".utf8)) })
        let unchecked = try foreign(["-nomac"])
        #expect(throwsCode(.invalidInput) { try PKCS12.read(unchecked, passphrase: Array("secret".utf8)) })
    }

    @Test("Each other fault has a message of its own")
    func faults() throws {
        let pki = try TestPKI.shared()
        #expect(throwsCode(.wrongPassphrase) { try PKCS12.read(try file(), passphrase: Array("other".utf8)) })
        #expect(throwsCode(.wrongPassphrase) { try PKCS12.read(try file(), passphrase: [0]) })
        #expect(throwsCode(.passphraseNeeded) { try PKCS12.read(try file(), passphrase: []) })
        #expect(throwsCode(.notPKCS12) { try PKCS12.read([], passphrase: []) })
        #expect(throwsCode(.notPKCS12) { try PKCS12.read(pki.leaf.der, passphrase: []) })
        #expect(throwsCode(.notPKCS12) { try PKCS12.read(pki.leaf.pem(), passphrase: []) })
        #expect(throwsCode(.notPKCS12) { try PKCS12.read(try file() + [0], passphrase: secret) })
        #expect(
            throwsCode(.keyMismatch) {
                try PKCS12.write(
                    certificate: pki.leaf,
                    key: pki.rootKey,
                    others: [],
                    passphrase: secret,
                    friendlyName: ""
                )
            }
        )
    }
}
