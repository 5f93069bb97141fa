// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import ServiceRuntime
import ZipFiles

@testable import OrderPackage

/// A package in parts, to be spoiled and put together again.
struct PackageParts {
    var order = Fixtures.order
    var files: [(String, [UInt8])] = [("logo.png", Fixtures.png(60))]
    /// nil: made from the files.
    var manifest: [UInt8]?
    /// nil: signed properly; empty array: an empty file.
    var signature: [UInt8]?
    var leaf: (Certificate, PrivateKey)?
    var embedded: [Certificate]?
    var leavesOut: Set<String> = []
    var prefix = ""

    /// The manifest that lists the order and the files.
    func honestManifest() -> [UInt8] {
        let all = [("order.json", order)] + files
        return Manifest.bytes(all.map { ($0.0, SHA256.hash($0.1).hex) })
    }

    func bytes() throws -> [UInt8] {
        let manifest = manifest ?? honestManifest()
        let authority = try Fixtures.authority()
        let (certificate, key) = leaf ?? (authority.identity.certificate, authority.identity.key)
        let signature =
            try signature
            ?? CMS.signDetached(
                manifest,
                signer: certificate,
                key: key,
                intermediates: embedded ?? [authority.intermediate],
                signingTime: Fixtures.now
            )
        let all = [("manifest.json", manifest), ("order.json", order)] + files + [("signature", signature)]
        var writer = ZipWriter()
        for (name, contents) in all where !leavesOut.contains(name) {
            try writer.add(name: prefix + name, contents: contents)
        }
        return writer.finish().flatMap(\.self)
    }

    /// A signature made by OpenSSL's command line, for the forms that our own code refuses to make.
    static func signature(_ options: String, manifest: [UInt8]) async throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let authority = try Fixtures.authority()
        try folder.write(manifest, to: "manifest.json")
        try folder.write(authority.identity.certificate.pem() + authority.identity.key.pem(), to: "leaf.pem")
        try folder.write(authority.intermediate.pem(), to: "intermediate.pem")
        try folder.write(authority.root.pem() + authority.intermediate.pem(), to: "root.pem")
        let second = try authority.identity(for: try Fixtures.orderType(), now: Fixtures.now)
        try folder.write(second.certificate.pem() + second.key.pem(), to: "second.pem")
        let made = try await shell(
            "cd \(folder.path) && openssl cms -sign -binary -in manifest.json -signer leaf.pem -certfile intermediate.pem"
                + " -out signature \(options)"
        )
        guard made.status == 0 else { throw OrderPackageError(.signing, made.output) }
        return try Files.read("\(folder.path)/signature")
    }
}
