// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import ServiceRuntime
import TestPatience
import Testing

@testable import OrderPackage

@Suite("Test authority")
struct TestAuthorityTests {
    @Test("a written authority is private, is read back, and OpenSSL accepts its chain and server")
    func files() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/pki"
        let authority = try Fixtures.authority()
        try authority.write(to: path)
        let modes = try await shell("cd \(path) && stat -c '%a %n' . *")
        #expect(
            modes.output == """
                700 .
                600 identity.key
                600 identity.p12
                644 identity.pem
                600 intermediate.key
                644 intermediate.pem
                600 root.key
                644 root.pem
                600 server.key
                644 server.pem

                """
        )
        let verified = try await shell(
            "cd \(path) && openssl verify -attime \(Fixtures.now) -CAfile root.pem -untrusted intermediate.pem identity.pem"
                + " && openssl verify -attime \(Fixtures.now) -purpose sslserver -verify_hostname localhost -CAfile root.pem"
                + " server.pem && openssl verify -attime \(Fixtures.now) -verify_ip 127.0.0.1 -CAfile root.pem server.pem"
        )
        #expect(verified.status == 0, "\(verified.output)")
        let again = try TestAuthority.read(from: path)
        #expect(again.root == authority.root)
        #expect(again.intermediate == authority.intermediate)
        #expect(again.identity.certificate == authority.identity.certificate)
        #expect(again.server.certificate == authority.server.certificate)
        #expect(again.server.certificate.matches(again.server.key))
        #expect(throws: Never.self) { try again.identity(for: try Fixtures.orderType("order.com.example.bakery")) }
        #expect(try Files.list(folder.path) == ["pki"])
    }

    @Test("an order type of any length gets its certificate; only the name for people is cut", arguments: [35, 239])
    func longOrderType(count: Int) throws {
        let type = try Fixtures.orderType("order.com.shop." + String(repeating: "a", count: count))
        let identity = try Fixtures.authority().identity(for: type, now: Fixtures.now)
        #expect(identity.orderTypeIdentifier == type)
        #expect(identity.certificate.subject(.userID) == type.text)
        #expect(identity.certificate.subject(.commonName) == String("Order Type ID: \(type)".prefix(64)))
    }

    @Test(
        "nothing that exists is overwritten, and a passphrase that no file can have is refused before anything is written"
    )
    func existing() throws {
        let folder = try TemporaryFolder()
        let unusable = #expect(throws: OrderPackageError.self) {
            try Fixtures.authority().write(to: "\(folder.path)/new", passphrase: "a\0b")
        }
        #expect(unusable?.code == .badRequest)
        #expect(try Files.list(folder.path) == [])
        try folder.write([1], to: "pki/root.pem")
        let error = #expect(throws: OrderPackageError.self) { try Fixtures.authority().write(to: "\(folder.path)/pki") }
        #expect(error?.code == .alreadyExists)
        #expect(try Files.read("\(folder.path)/pki/root.pem") == [1])
        try Files.createDirectory("\(folder.path)/empty")
        try Fixtures.authority().write(to: "\(folder.path)/empty")
        #expect(try Files.list(folder.path) == ["empty", "pki"])
    }

    @Test("a folder that can't be looked into is not taken for one with contents")
    func unseenFolder() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let authority = try Fixtures.authority()
            exhaustDescriptors(but: 0)
            let error = #expect(throws: OrderPackageError.self) { try authority.write(to: folder.path) }
            #expect(error?.code == .unwritable && error?.message.contains("Too many open files") == true, "\(error)")
        }
    }

    @Test("of files that can't be taken away again, the others are, and it is known which are left")
    func leftFiles() throws {
        let folder = try TemporaryFolder()
        let made = try ["a.key", "b.key"].map { try folder.write([1], to: $0) }
        // Nobody may remove this one.
        let fixed = "/proc/self/status"
        #expect(TestAuthority.takeAway([made[0], fixed, made[1]]) == [fixed])
        #expect(try Files.list(folder.path) == [])
    }

    @Test("an empty folder is filled where it is, whatever leads there, and a path may end in slashes")
    func emptyFolders() async throws {
        let folder = try TemporaryFolder()
        let authority = try Fixtures.authority()
        let made = try await shell("cd \(folder.path) && mkdir here real slashes && ln -s real link && ln -s none gone")
        #expect(made.status == 0, "\(made.output)")
        let inode = try await shell("stat -c %i \(folder.path)/here").output
        for name in ["here/.", "link", "slashes//", "new///", "above/new/"] {
            try authority.write(to: "\(folder.path)/\(name)")
            #expect(try TestAuthority.read(from: "\(folder.path)/\(name)").root == authority.root, "\(name)")
        }
        // What mounts and shells hold on to is the folder itself.
        #expect(try await shell("stat -c %i \(folder.path)/here").output == inode)
        #expect(try Files.list(folder.path) == ["above", "gone", "here", "link", "new", "real", "slashes"])
        #expect(try Files.list("\(folder.path)/here") == (try Files.list("\(folder.path)/new")))
        #expect(try Files.list("\(folder.path)/real").count == 9)
        let modes = try await shell("stat -c %a \(folder.path)/here/*.key \(folder.path)/here/*.p12 | sort -u")
        #expect(modes.output == "600\n")
        for name in ["gone", "here", "here/root.pem"] {
            let error = #expect(throws: OrderPackageError.self) { try authority.write(to: "\(folder.path)/\(name)") }
            #expect(error?.code == .alreadyExists, "\(name)")
        }
    }

    @Test("every form of identity file signs")
    func forms() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/pki"
        let authority = try Fixtures.authority()
        try authority.write(to: path)
        let made = try await shell(
            """
            cd \(path) && cat identity.key intermediate.pem identity.pem > all.pem
            openssl x509 -in identity.pem -outform DER -out identity.der
            openssl pkcs8 -topk8 -in identity.key -passout pass:secret -out locked.key
            openssl pkcs8 -topk8 -nocrypt -in identity.key -outform DER -out key.der
            openssl pkcs12 -export -legacy -in identity.pem -inkey identity.key -passout pass:old -out old.p12
            openssl pkcs12 -export -nokeys -in identity.pem -passout pass:old -out bare.p12
            printf 'secret\\n' > pass
            """
        )
        #expect(made.status == 0, "\(made.output)")
        func load(_ file: String, key: String? = nil, intermediate: Bool = true, pass: String? = nil) throws
            -> SigningIdentity
        {
            try SigningIdentity.load(
                SigningIdentity.Files(
                    identity: "\(path)/\(file)",
                    key: key.map { "\(path)/\($0)" },
                    intermediates: intermediate ? ["\(path)/intermediate.pem"] : [],
                    passphrase: pass.map { Array($0.utf8) }
                )
            )
        }
        for identity in [
            try load("identity.p12", intermediate: false, pass: TestAuthority.defaultPassphrase),
            try load("all.pem", intermediate: false), try load("identity.pem", key: "identity.key"),
            try load("identity.der", key: "key.der"), try load("identity.pem", key: "locked.key", pass: "secret"),
            try load("old.p12", pass: "old"),
        ] {
            #expect(identity.certificate == authority.identity.certificate)
            #expect(identity.intermediate == authority.intermediate)
        }
        #expect(try load("old.p12", pass: "old").findings.map(\.code) == ["identity-legacy-ciphers"])
        var files = SigningIdentity.Files(identity: "\(path)/identity.pem", key: "\(path)/locked.key")
        files.intermediates = ["\(path)/intermediate.pem"]
        try files.readPassphrase("\(path)/pass")
        #expect(throws: Never.self) { try SigningIdentity.load(files) }

        func code(_ body: () throws -> SigningIdentity) -> OrderPackageError.Code? {
            do { _ = try body() } catch let error as OrderPackageError {
                #expect(!"\(error)".contains("secret") && error.path != nil, "\(error)")
                return error.code
            } catch {}
            return nil
        }
        #expect(code { try load("nowhere.p12") } == .unreadableFile)
        #expect(code { try load("identity.p12", pass: "wrong") } == .wrongPassphrase)
        #expect(code { try load("old.p12", pass: "wrong") } == .wrongPassphrase)
        #expect(code { try load("bare.p12", pass: "old") } == .noPrivateKey)
        #expect(code { try load("identity.pem") } == .noPrivateKey)
        #expect(code { try load("identity.der") } == .noPrivateKey)
        #expect(code { try load("identity.key") } == .noCertificate)
        #expect(code { try load("pass") } == .unreadableIdentity)
        #expect(code { try load("identity.pem", key: "locked.key") } == .passphraseNeeded)
        #expect(code { try load("identity.pem", key: "locked.key", pass: "secret2") } == .wrongPassphrase)
        #expect(code { try load("identity.pem", key: "root.key") } == .keyMismatch)
        #expect(code { try load("identity.pem", key: "identity.key", intermediate: false) } == .unknownIssuer)
    }
}
