// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestPatience
import Testing

@Suite("Private keys")
struct PrivateKeyTests {
    @Test("A wrong passphrase is told as one, also where it decrypts to good padding by chance: once in 256")
    func luckyPadding() throws {
        let pem = try PrivateKey.generateP256().pem(encryptedWith: Array("right".utf8))
        for number in 0..<Patience.count(1_500) {
            let wrong = Array("wrong \(number)".utf8)
            #expect(throwsCode(.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: wrong) })
        }
    }

    @Test("A byte order mark in front of PEM text, as some editors put it there, is passed over")
    func mark() throws {
        let pki = try TestPKI.shared()
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        #expect(pki.leaf.matches(try PrivateKey(pem: mark + pki.leafKey.pem())))
        let certificates = try Certificate.all(pem: mark + pki.leaf.pem() + pki.root.pem())
        #expect(certificates == [pki.leaf, pki.root])
        #expect(throwsCode(.notPEM) { try PrivateKey(pem: mark) })
    }

    @Test("PEM text that lost its line ends, or was indented, is told so, for certificates and keys")
    func lineEnds() throws {
        let pki = try TestPKI.shared()
        for pem in [pki.leaf.pem(), pki.leafKey.pem(), try pki.leafKey.pem(encryptedWith: [1])] {
            let text = String(decoding: pem, as: UTF8.self)
            for (changed, words) in [
                (text.replacing("\n", with: " "), "its lines don't end"),
                (text.replacing("\n", with: "\r"), "its lines don't end"),
                (text.replacing("\n", with: ""), "its lines don't end"),
                (text.replacing("\n", with: #"\n"#), #"it has \n where its lines must end"#),
                ("  " + text.replacing("\n", with: "\n  "), "its lines are indented"),
                ("\t" + text.replacing("\n", with: "\r\n\t"), "its lines are indented"),
            ] {
                let bytes = Array(changed.utf8)
                let certificate = #expect(throws: CryptographyError.self) { try Certificate.all(pem: bytes) }
                #expect(certificate?.message.contains(words) == true, "\(certificate?.message ?? "")")
                let key = #expect(throws: CryptographyError.self) { try PrivateKey(pem: bytes) }
                #expect(key?.message.contains(words) == true, "\(key?.message ?? "")")
            }
            // Windows' line ends are line ends.
            let windows = Array(text.replacing("\n", with: "\r\n").utf8)
            if text.contains("CERTIFICATE") { #expect(try Certificate.all(pem: windows) == [pki.leaf]) }
        }
    }

    @Test("All keys of a text are read, whatever stands between them; none where there is none")
    func several() throws {
        let pki = try TestPKI.shared()
        let secret = Array("correct horse".utf8)
        let text =
            Array("\u{FEFF}Bag Attributes\r\n".utf8) + pki.leafKey.pem() + pki.leaf.pem()
            + Array("    friendlyName: a\n".utf8) + (try pki.rootKey.pem(encryptedWith: secret)) + pki.root.pem()
        let keys = try PrivateKey.all(pem: text, passphrase: secret)
        #expect(keys.count == 2 && pki.leaf.matches(keys[0]) && pki.root.matches(keys[1]))
        // One that can't be opened is no reason against the other, and alone it is told of.
        #expect(try PrivateKey.all(pem: text).count == 1)
        let locked = try pki.rootKey.pem(encryptedWith: secret)
        #expect(throwsCode(.passphraseNeeded) { try PrivateKey.all(pem: locked) })
        #expect(throwsCode(.wrongPassphrase) { try PrivateKey.all(pem: locked, passphrase: [1]) })
        #expect(try PrivateKey.all(pem: pki.leaf.pem()).isEmpty)
        #expect(try PrivateKey.all(pem: Array("It starts with -----BEGIN PRIVATE KEY-----.\n".utf8)).isEmpty)
    }

    @Test("A key survives PEM, encrypted or not, and openssl reads it")
    func roundTrip() throws {
        let pki = try TestPKI.shared()
        let key = pki.leafKey
        #expect(key.isRSA)
        #expect(key.bits == 2048)
        #expect(pki.leaf.matches(try PrivateKey(pem: key.pem())))
        #expect(pki.leaf.matches(try PrivateKey(pem: key.pem(), passphrase: Array("not needed".utf8))))
        let secret = Array("correct horse".utf8)
        let encrypted = try key.pem(encryptedWith: secret)
        #expect(pki.leaf.matches(try PrivateKey(pem: encrypted, passphrase: secret)))
        let directory = try TemporaryDirectory()
        let path = try directory.write("key.pem", encrypted)
        let answer = try Command.run([
            "openssl", "pkey", "-in", path, "-passin", "pass:correct horse", "-check", "-noout",
        ])
        #expect(answer.status == 0, "\(answer.output)")
        let curve = try PrivateKey.generateP256()
        #expect(!curve.isRSA)
        #expect(curve.bits == 256)
        #expect(!pki.leaf.matches(curve))
    }

    @Test(
        "Keys of all usual forms are read",
        arguments: [
            ["genrsa", "-traditional", "2048"], ["genrsa", "2048"], ["genrsa", "-traditional", "-aes128", "2048"],
            ["genrsa", "-aes256", "2048"], ["ecparam", "-name", "prime256v1", "-genkey"],
        ]
    )
    func forms(arguments: [String]) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("key.pem")
        let secret = arguments.contains { $0.hasPrefix("-aes") } ? ["-passout", "pass:secret word"] : []
        let options = [arguments[0]] + secret + ["-out", path] + arguments.dropFirst()
        let answer = try Command.run(["openssl"] + options)
        #expect(answer.status == 0, "\(answer.output)")
        let pem = try directory.read("key.pem")
        let key = try PrivateKey(pem: pem, passphrase: secret.isEmpty ? nil : Array("secret word".utf8))
        #expect(key.isRSA == (arguments[0] == "genrsa"))
        guard !secret.isEmpty else { return }
        #expect(throwsCode(.passphraseNeeded) { try PrivateKey(pem: pem) })
        #expect(throwsCode(.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: Array("other".utf8)) })
        #expect(throwsCode(.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: []) })
    }

    @Test("Each thing that is no key has a message of its own")
    func faults() throws {
        let pki = try TestPKI.shared()
        #expect(throwsCode(.notPEM) { try PrivateKey(pem: []) })
        #expect(throwsCode(.notPEM) { try PrivateKey(pem: Array("/etc/keys/identity.key".utf8)) })
        for (text, isPath) in [
            ("/etc/keys/identity.key\n", true), (#"{"key": "a/b"}"#, false), ("a key\nfor a/b\n", false),
        ] {
            let error = #expect(throws: CryptographyError.self) { try PrivateKey(pem: Array(text.utf8)) }
            #expect(error?.message.contains("looks like a path") == isPath, "\(text)")
        }
        #expect(throwsCode(.notPEM) { try PrivateKey(pem: pki.leaf.der) })
        #expect(throwsCode(.noPrivateKey) { try PrivateKey(pem: pki.leaf.pem()) })
        var damaged = pki.leafKey.pem()
        damaged[200] = UInt8(ascii: "*")
        #expect(throwsCode(.notPEM) { try PrivateKey(pem: damaged) })
        #expect(throwsCode(.notDER) { try PrivateKey(der: pki.leaf.der) })
        #expect(throwsCode(.notDER) { try PrivateKey(der: pki.leafKey.pem()) })
        #expect(throwsCode(.wrongPassphrase) { try PrivateKey(pem: pki.leafKey.pem(), passphrase: [1, 0, 2]) })
    }

    @Test("A key beside certificates in one text is found")
    func bundle() throws {
        let pki = try TestPKI.shared()
        let text = Array("Bag Attributes\n".utf8) + pki.leaf.pem() + pki.leafKey.pem() + pki.intermediate.pem()
        #expect(pki.leaf.matches(try PrivateKey(pem: text)))
        #expect(try Certificate.all(pem: text) == [pki.leaf, pki.intermediate])
    }

    @Test("Messages never tell the passphrase")
    func secrecy() throws {
        let encrypted = try TestPKI.shared().leafKey.pem(encryptedWith: Array("correct horse".utf8))
        do {
            _ = try PrivateKey(pem: encrypted, passphrase: Array("hunter2hunter2".utf8))
            Issue.record("a wrong passphrase was taken")
        } catch {
            #expect(!String(reflecting: error).contains("hunter2"))
        }
    }
}

/// Whether `body` throws this code; records what it threw instead.
func throwsCode<R>(_ code: CryptographyError.Code, _ body: () throws -> R) -> Bool {
    do {
        _ = try body()
        Issue.record("nothing was thrown; expected \(code)")
        return false
    } catch let error as CryptographyError {
        if error.code != code { Issue.record("\(error.code) instead of \(code): \(error)") }
        return error.code == code
    } catch {
        Issue.record("\(error)")
        return false
    }
}
