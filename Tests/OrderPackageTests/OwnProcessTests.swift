// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Glibc
import ServiceRuntime
import Testing

@testable import OrderPackage

/// Keys never leave this process: neither loading an identity nor building starts another one or writes a file.
@Suite("Within one process")
struct OwnProcessTests {
    /// From now on no file of this process may have any contents: writing into one fails. Pipes aren't concerned.
    private static func forbidFiles() async throws {
        let done = try await shell("prlimit --pid $PPID --fsize=0:0")
        try #require(done.status == 0, "\(done.output)")
    }

    /// What processes that this one started have cost: page faults, of which each has some (proc(5), `cminflt`); and those
    /// that still run.
    private static func children() throws -> (faults: Int, running: [UInt8]) {
        let text = String(decoding: try Files.read("/proc/self/stat"), as: UTF8.self)
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        var running: [UInt8] = []
        for thread in try Files.list("/proc/self/task") {
            running += (try? Files.read("/proc/self/task/\(thread)/children")) ?? []
        }
        return (try #require(Int(fields[8])), running)
    }

    @Test("identities of all forms are loaded, and a package built, without a file and without another process")
    func alone() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try Fixtures.authority().write(to: "\(folder.path)/pki")
            let made = try await shell(
                """
                set -e; cd \(folder.path)/pki; printf \(TestAuthority.defaultPassphrase) > identity.passphrase
                openssl pkcs8 -topk8 -in identity.key -passout pass:\(TestAuthority.defaultPassphrase) -out locked.key
                openssl pkcs12 -export -legacy -in identity.pem -inkey identity.key -certfile intermediate.pem \
                    -passout pass:\(TestAuthority.defaultPassphrase) -out old.p12
                """
            )
            try #require(made.status == 0, "\(made.output)")
            try await Self.forbidFiles()
            let before = try Self.children()
            let place = "\(folder.path)/pki"
            let secret = Array(TestAuthority.defaultPassphrase.utf8)
            var identities = [
                try SigningIdentity.load(SigningIdentity.Files(identity: "\(place)/identity.p12", passphrase: secret)),
                try SigningIdentity.load(SigningIdentity.Files(identity: "\(place)/old.p12", passphrase: secret)),
                try SigningIdentity.load(
                    SigningIdentity.Files(
                        identity: "\(place)/identity.pem",
                        key: "\(place)/locked.key",
                        intermediates: ["\(place)/intermediate.pem"],
                        passphrase: secret
                    )
                ),
            ]
            identities += try SigningIdentity.load(folder: place).values
            for identity in identities {
                let package = try PackageBuilder(identity: identity)
                    .build(order: Fixtures.order, files: Fixtures.files(), signingTime: Fixtures.now)
                #expect(PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes).isValid)
            }
            let after = try Self.children()
            #expect(after == before)
            // What would have been seen.
            _ = try await shell("true")
            #expect(try Self.children().faults > before.faults)
        }
    }

    @Test("where no file may have contents, writing one fails, so that the test above would")
    func control() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            try folder.write([1], to: "a")
            try await Self.forbidFiles()
            // Swift's test process passes over the signal, and then the call fails.
            #expect(throws: SystemError.self) { try folder.write([1], to: "b") }
            #expect(try Files.list(folder.path) == ["a"])
        }
    }
}
