// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import ServiceRuntime
import Testing

@testable import OrderPackage

/// Identities as they lie on disk.
@Suite("Identity files")
struct IdentityFilesTests {
    /// A test authority on disk, with every form that people have.
    private func installation() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try Fixtures.authority().write(to: "\(folder.path)/pki")
        let made = try await shell(
            """
            set -e; cd \(folder.path)/pki
            openssl x509 -in identity.pem -outform DER -out order.cer
            openssl pkcs8 -topk8 -in identity.key -passout pass:hush-7 -out locked.key
            openssl pkcs8 -topk8 -in identity.key -outform DER -passout pass:hush-7 -out locked.der
            openssl pkcs8 -topk8 -nocrypt -in identity.key -outform DER -out open.der
            openssl pkcs12 -export -nokeys -in identity.pem -passout pass:hush-7 -out bare.p12
            openssl pkcs12 -export -in identity.pem -inkey identity.key -passout pass:hush-7 -out new.p12
            openssl pkcs12 -export -in identity.pem -inkey identity.key -passout pass:hush-7 -nomac -out nomac.p12
            for cipher in PBE-SHA1-RC2-40 PBE-SHA1-3DES PBE-SHA1-RC4-128; do
                openssl pkcs12 -export -legacy -in identity.pem -inkey identity.key -passout pass:hush-7 \
                    -keypbe $cipher -certpbe PBE-SHA1-RC2-40 -out $cipher.p12
            done
            printf 'hush-7\\r\\n' > passphrase; printf 'wrong-8' > other
            """
        )
        #expect(made.status == 0, "\(made.output)")
        return folder
    }

    private func load(
        _ folder: TemporaryFolder,
        _ file: String,
        key: String? = nil,
        passphrase: String? = nil,
        intermediate: Bool = true
    ) throws -> SigningIdentity {
        let path = "\(folder.path)/pki"
        var files = SigningIdentity.Files(
            identity: "\(path)/\(file)",
            key: key.map { "\(path)/\($0)" },
            intermediates: intermediate ? ["\(path)/intermediate.pem"] : []
        )
        if let passphrase { try files.readPassphrase("\(path)/\(passphrase)") }
        return try SigningIdentity.load(files, validAt: Fixtures.now)
    }

    @Test("B37 old PKCS#12 files open with the right passphrase, whatever old cipher covers their key, with a warning")
    func legacy() async throws {
        let folder = try await installation()
        for cipher in ["PBE-SHA1-RC2-40", "PBE-SHA1-3DES", "PBE-SHA1-RC4-128"] {
            let identity = try load(folder, "\(cipher).p12", passphrase: "passphrase")
            #expect(identity.findings.map(\.code) == ["identity-legacy-ciphers"])
            #expect(identity.findings.first?.fix?.contains("openssl pkcs12 -legacy") == true)
            let ending = identity.findings(at: identity.notAfter)
            #expect(ending.map(\.path) == Array(repeating: "\(folder.path)/pki/\(cipher).p12", count: 2))
            let package = try PackageBuilder(identity: identity).build(order: Fixtures.order, signingTime: Fixtures.now)
            #expect(package.bytes == (try Fixtures.package(files: []).bytes))
            let wrong = #expect(throws: OrderPackageError.self) {
                try load(folder, "\(cipher).p12", passphrase: "other")
            }
            #expect(wrong?.code == .wrongPassphrase && wrong?.message.contains("wrong passphrase") == true)
        }
        #expect(try load(folder, "new.p12", passphrase: "passphrase").findings.isEmpty)
    }

    @Test("B36 a PKCS#12 file without the private key says so")
    func noKey() async throws {
        let folder = try await installation()
        let error = #expect(throws: OrderPackageError.self) { try load(folder, "bare.p12", passphrase: "passphrase") }
        #expect(error?.code == .noPrivateKey && error?.message.contains("no private key in file") == true)
    }

    @Test("a certificate as the portal gives it signs together with the request's key")
    func portal() async throws {
        let folder = try await installation()
        for identity in [
            try load(folder, "order.cer", key: "identity.key"),
            try load(folder, "order.cer", key: "locked.key", passphrase: "passphrase"),
            try load(folder, "order.cer", key: "locked.der", passphrase: "passphrase"),
            try load(folder, "order.cer", key: "open.der"),
            // A PKCS#12 file with the certificate alone, and one whose own key is given once more.
            try load(folder, "bare.p12", key: "identity.key", passphrase: "passphrase"),
            try load(folder, "new.p12", key: "identity.key", passphrase: "passphrase"),
            try load(folder, "new.p12", key: "locked.der", passphrase: "passphrase"),
        ] {
            #expect(identity.certificate == (try Fixtures.authority().identity.certificate))
        }
        let error = #expect(throws: OrderPackageError.self) { try load(folder, "order.cer") }
        #expect(error?.code == .noPrivateKey && error?.message.contains("give the key file too") == true)
    }

    @Test("B35 each way to give a wrong file has its own code, names the file, and shows nothing secret")
    func wrongFiles() async throws {
        let folder = try await installation()
        let path = "\(folder.path)/pki"
        func check(
            _ code: OrderPackageError.Code,
            at file: String,
            _ body: () throws -> SigningIdentity
        ) -> String {
            let error = #expect(throws: OrderPackageError.self) { try body() }
            #expect(error?.code == code && error?.path == "\(path)/\(file)", "\(error.map { "\($0)" } ?? "")")
            let text = error.map { "\($0) \($0.message)" } ?? ""
            #expect(!text.contains("hush-7") && !text.contains("wrong-8"))
            return text
        }
        let messages = [
            check(.unreadableFile, at: "none.pem") { try load(folder, "none.pem") },
            check(.unreadableIdentity, at: "passphrase") { try load(folder, "passphrase") },
            check(.noCertificate, at: "identity.key") { try load(folder, "identity.key") },
            check(.noPrivateKey, at: "identity.pem") { try load(folder, "identity.pem") },
            check(.noPrivateKey, at: "root.pem") { try load(folder, "identity.pem", key: "root.pem") },
            check(.keyMismatch, at: "root.key") { try load(folder, "identity.pem", key: "root.key") },
            check(.passphraseNeeded, at: "locked.key") { try load(folder, "identity.pem", key: "locked.key") },
            check(.wrongPassphrase, at: "locked.key") {
                try load(folder, "identity.pem", key: "locked.key", passphrase: "other")
            },
            check(.passphraseNeeded, at: "new.p12") { try load(folder, "new.p12") },
            check(.passphraseNeeded, at: "locked.der") { try load(folder, "order.cer", key: "locked.der") },
            check(.wrongPassphrase, at: "locked.der") {
                try load(folder, "order.cer", key: "locked.der", passphrase: "other")
            },
            check(.unreadableIdentity, at: "order.cer") { try load(folder, "new.p12", key: "order.cer") },
            check(.wrongPassphrase, at: "new.p12") { try load(folder, "new.p12", passphrase: "other") },
            check(.unreadableIdentity, at: "nomac.p12") { try load(folder, "nomac.p12", passphrase: "passphrase") },
            check(.unknownIssuer, at: "identity.pem") {
                try load(folder, "identity.pem", key: "identity.key", intermediate: false)
            },
        ]
        #expect(Set(messages).count == messages.count)
        // A key that is given is the one that is taken, and the one that is told of.
        for file in ["new.p12", "bare.p12"] {
            _ = check(.keyMismatch, at: "root.key") {
                try load(folder, file, key: "root.key", passphrase: "passphrase")
            }
        }
        // The key is right: it is the PKCS#12 file that the passphrase doesn't open.
        _ = check(.wrongPassphrase, at: "new.p12") {
            try load(folder, "new.p12", key: "identity.key", passphrase: "other")
        }
    }

    @Test("a folder gives the identity of each order type, with keys and issuers found by themselves")
    func folders() async throws {
        let folder = try await installation()
        let authority = try Fixtures.authority()
        let bakery = try authority.identity(for: try Fixtures.orderType("order.com.example.bakery"), now: Fixtures.now)
        let renewed = try authority.issue(
            TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now + 86_400),
            key: authority.identity.key
        )
        for (name, bytes) in [
            ("all/issuer.pem", authority.intermediate.pem()), ("all/shop.pem", authority.identity.certificate.pem()),
            ("all/shop.key", try authority.identity.key.pem(encryptedWith: Array("hush-7".utf8))),
            ("all/shop.passphrase", Array("hush-7\n".utf8)), ("all/shop-new.cer", renewed.certificate.der),
            ("all/bakery.pem", bakery.certificate.pem() + bakery.key.pem()), ("all/.hidden", [1]),
            (
                "all/order.certSigningRequest",
                try IdentityRequest(commonName: "x", organization: nil, country: nil).request
            ),
        ] {
            try folder.write(bytes, to: name)
        }
        let all = try SigningIdentity.load(folder: "\(folder.path)/all", validAt: Fixtures.now + 86_400)
        #expect(all.keys.map(\.text).sorted() == ["order.com.example.bakery", "order.com.example.shop"])
        #expect(all[bakery.orderTypeIdentifier]?.certificate == bakery.certificate)
        #expect(all[renewed.orderTypeIdentifier]?.certificate == renewed.certificate)
        // A day earlier the renewed one isn't valid yet, though it ends later.
        let early = try SigningIdentity.load(folder: "\(folder.path)/all", validAt: Fixtures.now - 1)
        #expect(early[renewed.orderTypeIdentifier]?.certificate == authority.identity.certificate)

        try Files.removeTree("\(folder.path)/all/shop.key")
        let missing = #expect(throws: OrderPackageError.self) { try SigningIdentity.load(folder: "\(folder.path)/all") }
        #expect(missing?.code == .noPrivateKey && missing?.path?.contains("/all/shop") == true)
        try folder.write([1], to: "empty/.x")
        let none = #expect(throws: OrderPackageError.self) { try SigningIdentity.load(folder: "\(folder.path)/empty") }
        #expect(none?.code == .noCertificate)
    }

    @Test("of a folder of identities, what is none is passed over with a note, and what isn't needed needn't be opened")
    func foreignFiles() async throws {
        let folder = try TemporaryFolder()
        let authority = try Fixtures.authority()
        let pki = "\(folder.path)/pki"
        try authority.write(to: pki)
        let mention = "A certificate starts with -----BEGIN CERTIFICATE-----, a key with -----BEGIN PRIVATE KEY-----.\n"
        try folder.write(Array("The shop's identity, and how it was made.\n".utf8), to: "pki/README")
        try folder.write(Array(mention.utf8), to: "pki/mention.txt")
        try folder.write(Array("0 bottles of beer\n".utf8), to: "pki/zero.txt")
        try folder.write([UInt8](repeating: 0x30, count: 1 << 20 + 1), to: "pki/large")
        try folder.write([], to: "pki/none")
        try folder.write([1], to: "pki/old/shop.pem")
        try folder.write(try IdentityRequest(commonName: "x").request, to: "pki/order.certSigningRequest")
        let made = try await shell(
            """
            set -e; cd \(pki); ln -s nowhere dangling
            openssl req -new -key identity.key -subj /CN=x -outform DER -out request.der
            openssl rsa -in identity.key -pubout -outform DER -out public.der
            openssl rsa -in identity.key -pubout -out public.pem
            openssl crl2pkcs7 -nocrl -certfile identity.pem -outform DER -out chain.p7b
            openssl crl2pkcs7 -nocrl -certfile identity.pem -out chain.p7c
            openssl pkcs8 -topk8 -in root.key -passout pass:hush-7 -out locked.key
            openssl pkcs8 -topk8 -in root.key -passout pass:hush-7 -outform DER -out locked.der
            """
        )
        #expect(made.status == 0, "\(made.output)")
        let identity = try #require(try SigningIdentity.load(folder: pki)[authority.identity.orderTypeIdentifier])
        #expect(identity.certificate == authority.identity.certificate)
        let notes = identity.findings(at: Fixtures.now)
        #expect(notes.allSatisfy { $0.code == "identity-passed-over" && $0.message.hasSuffix(".") })
        func names(_ severity: Finding.Severity) -> [String] {
            notes.filter { $0.severity == severity }.compactMap { $0.path?.dropFirst(pki.count + 1).description }
                .sorted()
        }
        #expect(
            names(.note) == [
                "README", "chain.p7b", "chain.p7c", "mention.txt", "none", "public.der", "public.pem", "request.der",
                "server.pem", "zero.txt",
            ]
        )
        // Something may be missing for want of these.
        #expect(names(.warning) == ["dangling", "identity.p12", "large", "locked.der", "locked.key"])
        let locked = notes.first { $0.path == "\(pki)/identity.p12" }
        #expect(locked?.message.hasSuffix("it is looked for in \(pki)/identity.passphrase.") == true)
    }

    @Test("of a folder of identities, what is missing is told with the files that were passed over")
    func missing() async throws {
        let folder = try TemporaryFolder()
        let authority = try Fixtures.authority()
        func load(_ name: String) -> OrderPackageError? {
            #expect(throws: OrderPackageError.self) { try SigningIdentity.load(folder: "\(folder.path)/\(name)") }
        }
        let secret = Array("hush-7".utf8)
        try folder.write(authority.identity.certificate.pem(), to: "key/shop.pem")
        try folder.write(try authority.identity.key.pem(encryptedWith: secret), to: "key/mine.key")
        let key = load("key")
        #expect(key?.code == .noPrivateKey && key?.path == "\(folder.path)/key/shop.pem")
        #expect(key?.message.contains("/key/mine.key (the private key is encrypted") == true)
        #expect(key?.message.contains("it is looked for in \(folder.path)/key/mine.passphrase") == true)

        try folder.write(authority.identity.certificate.pem() + authority.identity.key.pem(), to: "issuer/shop.pem")
        try folder.write([0x30, 0], to: "issuer/issuer.cer")
        let issuer = load("issuer")
        #expect(issuer?.code == .unknownIssuer && issuer?.message.contains("/issuer/issuer.cer (it holds") == true)

        let bytes = try PKCS12.write(
            certificate: authority.identity.certificate,
            key: authority.identity.key,
            others: [authority.intermediate],
            passphrase: secret,
            friendlyName: "shop"
        )
        try folder.write(bytes, to: "alone/shop.p12")
        let alone = load("alone")
        #expect(alone?.code == .passphraseNeeded && alone?.path == "\(folder.path)/alone/shop.p12")
        // Who gives a passphrase means it.
        try folder.write(bytes, to: "key/shop.p12")
        try folder.write(secret, to: "key/mine.passphrase")
        try folder.write(Array("wrong-8".utf8), to: "key/shop.passphrase")
        let wrong = load("key")
        #expect(wrong?.code == .wrongPassphrase && wrong?.path == "\(folder.path)/key/shop.p12")
        // What has the form of a certificate and can't be read is at fault all the same.
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        try folder.write(Array(damaged.utf8), to: "alone/x.pem")
        #expect(load("alone")?.path == "\(folder.path)/alone/x.pem")
    }

    @Test("a PKCS#12 file of issuers alone gives a folder its issuers")
    func issuersAlone() async throws {
        let folder = try TemporaryFolder()
        let authority = try Fixtures.authority()
        try folder.write(authority.identity.certificate.pem() + authority.identity.key.pem(), to: "all/shop.pem")
        try folder.write(authority.intermediate.pem(), to: "issuer.pem")
        try folder.write(Array("hush-7".utf8), to: "all/issuer.passphrase")
        let made = try await shell(
            "cd \(folder.path) && openssl pkcs12 -export -nokeys -in issuer.pem -passout pass:hush-7 -out all/issuer.p12"
        )
        #expect(made.status == 0, "\(made.output)")
        let identities = try SigningIdentity.load(folder: "\(folder.path)/all", validAt: Fixtures.now)
        #expect(identities.values.map(\.intermediate) == [authority.intermediate])
        #expect(identities.values.allSatisfy { $0.findings.isEmpty })
    }

    @Test("a request is one that openssl accepts; its key is private, may be encrypted, and nothing is overwritten")
    func request() async throws {
        let folder = try TemporaryFolder()
        let key = "\(folder.path)/order.key"
        let output = "\(folder.path)/order.csr"
        let request = try IdentityRequest(commonName: "Äpfel & Co", organization: "Example Inc.", country: "US")
        try request.write(key: key, request: output, passphrase: Secret(Array("hush-7".utf8)))
        let checked = try await shell(
            "cd \(folder.path) && openssl req -in order.csr -verify -noout -text -nameopt utf8"
                + " && openssl pkey -in order.key -passin pass:hush-7 -noout && stat -c %a order.key order.csr"
        )
        #expect(checked.status == 0, "\(checked.output)")
        for words in [
            "Public-Key: (2048 bit)", "sha256WithRSAEncryption", "CN=Äpfel & Co, O=Example Inc., C=US", "600\n644\n",
        ] {
            #expect(checked.output.contains(words), "\(words): \(checked.output)")
        }
        #expect(String(decoding: try Files.read(key), as: UTF8.self).contains("ENCRYPTED PRIVATE KEY"))
        let before = try Files.read(key)
        for (keyPath, requestPath) in [(key, "\(folder.path)/b.csr"), ("\(folder.path)/b.key", output)] {
            let error = #expect(throws: OrderPackageError.self) {
                try request.write(key: keyPath, request: requestPath)
            }
            #expect(error?.code == .alreadyExists)
        }
        #expect(try Files.read(key) == before)
        #expect(try Files.list(folder.path) == ["order.csr", "order.key"])
        let nowhere = #expect(throws: OrderPackageError.self) {
            try request.write(key: "\(folder.path)/b.key", request: "\(folder.path)/none/b.csr")
        }
        #expect(nowhere?.code == .unwritable)
        #expect(try Files.list(folder.path) == ["order.csr", "order.key"])
    }

    @Test("a passphrase is never printed, compares by its bytes, and leaves memory with its last holder")
    func secrets() throws {
        var files = SigningIdentity.Files(identity: "a.p12", passphrase: Array("hush-7".utf8))
        var text = ""
        dump(files, to: &text)
        text += "\(files) \(String(reflecting: files)) \(files.passphrase.map { "\($0)" } ?? "")"
        #expect(!text.contains("hush-7") && !text.contains("104"))
        #expect(files.passphrase == Secret(Array("hush-7".utf8)))
        files.passphrase = Secret(Array("hush-8".utf8))
        #expect(files != SigningIdentity.Files(identity: "a.p12", passphrase: Array("hush-7".utf8)))
    }

    @Test("after loading, neither the passphrase nor the passphrase file's text is anywhere in this process's memory")
    func cleansed() async throws {
        let folder = try await installation()
        // Random, so that no other test's memory holds it, and made by another program, so that ours never did.
        let path = "\(folder.path)/pki"
        let made = try await shell(
            """
            set -e; cd \(path); head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \\n' > fresh
            openssl pkcs12 -export -in identity.pem -inkey identity.key -passout file:fresh -out fresh.p12
            """
        )
        #expect(made.status == 0)
        let identity = try load(folder, "fresh.p12", passphrase: "fresh")
        #expect(try await Self.occurrences(of: "\(path)/fresh") == 0)
        // What is held is found: the search would have seen it.
        let held = try Files.read("\(path)/fresh")
        #expect(try await Self.occurrences(of: "\(path)/fresh") > 0)
        withExtendedLifetime((identity, held)) {}
    }

    /// How often a file's bytes are in this process's memory. Looks from outside: whoever looks from inside holds them.
    private static func occurrences(of file: String) async throws -> Int {
        let found = try await shell(
            """
            python3 - $PPID \(file) <<'END'
            import sys, re
            secret = open(sys.argv[2], "rb").read()
            hits = looked = 0
            step = 1 << 24
            with open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as memory:
                for line in open(f"/proc/{sys.argv[1]}/maps"):
                    start, end, mode = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\\S+)", line).groups()
                    start, end = int(start, 16), int(end, 16)
                    # A sanitizer's shadow is terabytes of address space, and holds no values.
                    if "rw" not in mode or "[v" in line or end - start > 1 << 32: continue
                    for place in range(start, end, step):
                        try:
                            memory.seek(place)
                            bytes = memory.read(min(step + len(secret), end - place))
                        except OSError: continue
                        hits += bytes.count(secret)
                        looked += len(bytes)
            if looked < 1 << 20: sys.exit("the memory could not be read")
            print(hits)
            END

            """
        )
        return try #require(Int(found.output.dropLast()), "\(found.output)")
    }
}
