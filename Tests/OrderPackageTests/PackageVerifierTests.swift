// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import Testing
import ZipFiles

@testable import OrderPackage

/// A package that is wrong in one way, and what has to be said about it.
struct WrongPackage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: [String]
    let change: @Sendable (inout PackageParts) throws -> Void

    init(_ title: String, _ expected: [String], _ change: @escaping @Sendable (inout PackageParts) throws -> Void) {
        testDescription = title
        self.expected = expected
        self.change = change
    }

    static let all: [WrongPackage] = [
        WrongPackage("no manifest", ["manifest-missing manifest.json"]) { $0.leavesOut = ["manifest.json"] },
        WrongPackage("no order", ["manifest-file-missing order.json", "order-missing order.json"]) {
            $0.leavesOut = ["order.json"]
        },
        WrongPackage("no signature", ["signature-missing signature"]) { $0.leavesOut = ["signature"] },
        WrongPackage("empty signature", ["signature-empty signature"]) { $0.signature = [] },
        WrongPackage("signature as PEM", ["signature-not-der signature"]) {
            $0.signature = Array("-----BEGIN CMS-----\nMIIF\n-----END CMS-----\n".utf8)
        },
        WrongPackage("signature as mail", ["signature-not-der signature"]) {
            $0.signature = Array("MIME-Version: 1.0\nContent-Type: multipart/signed\n\n".utf8)
        },
        WrongPackage("signature cut short", ["signature-not-der signature"]) {
            $0.signature = [0x30, 0x82, 0x08, 0x00, 1, 2]
        },
        WrongPackage("file changed after signing", ["hash-mismatch logo.png"]) {
            $0.manifest = $0.honestManifest()
            $0.files[0].1[45] ^= 1
        },
        WrongPackage("file not listed", ["manifest-entry-missing extra.txt"]) {
            $0.manifest = $0.honestManifest()
            $0.files.append(("extra.txt", [1]))
        },
        WrongPackage("listed file not there", ["file-missing /merchant/logo", "manifest-file-missing logo.png"]) {
            $0.leavesOut = ["logo.png"]
        },
        WrongPackage("SHA-1 digests", ["manifest-sha1 logo.png", "manifest-sha1 order.json"]) {
            let digest = String(repeating: "a", count: 40)
            $0.manifest = Array(#"{"logo.png":"\#(digest)","order.json":"\#(digest)"}"#.utf8)
        },
        WrongPackage("digests in another form", ["manifest-digest-form logo.png", "manifest-form order.json"]) {
            $0.manifest = Array(#"{"logo.png":"YWJj","order.json":1}"#.utf8)
        },
        WrongPackage("manifest lists itself", ["manifest-lists-itself signature"]) {
            let digest = String(repeating: "a", count: 64)
            $0.manifest = $0.honestManifest().dropLast() + Array(#","signature":"\#(digest)"}"#.utf8)
        },
        WrongPackage("comma before the brace", ["manifest-syntax manifest.json"]) {
            $0.manifest = $0.honestManifest().dropLast() + Array(",}".utf8)
        },
        WrongPackage("manifest is a list", ["manifest-form manifest.json"]) { $0.manifest = Array("[]".utf8) },
        WrongPackage("manifest edited after signing", ["signature-digest-mismatch signature"]) {
            let authority = try Fixtures.authority()
            $0.signature = try CMS.signDetached(
                $0.honestManifest(),
                signer: authority.identity.certificate,
                key: authority.identity.key,
                intermediates: [authority.intermediate],
                signingTime: Fixtures.now
            )
            $0.manifest = $0.honestManifest() + [0x0A]
        },
        WrongPackage(
            "enclosing folder",
            [
                "enclosing-folder x.pass", "manifest-missing manifest.json", "order-missing order.json",
                "signature-missing signature",
            ]
        ) { $0.prefix = "x.pass/" },
        WrongPackage("order of another type", ["order-type-mismatch /orderTypeIdentifier"]) {
            let text = String(decoding: $0.order, as: UTF8.self)
            $0.order = Array(text.replacing("order.com.example.shop", with: "order.com.example.Shop").utf8)
        },
        WrongPackage("order with faults of its own", ["missing-member /orderType"]) {
            let text = String(decoding: $0.order, as: UTF8.self)
            $0.order = Array(text.replacing(#""orderType":"ecommerce","#, with: "").utf8)
        },
        WrongPackage("order is no JSON", ["json-syntax order.json"]) { $0.order = Array("{,}".utf8) },
        WrongPackage("logo is a PDF", ["file-format logo.png"]) { $0.files[0].1 = Array("%PDF-1.7".utf8) },
        WrongPackage("logo is a GIF", ["file-format logo.png"]) { $0.files[0].1 = Array("GIF89a".utf8) },
        WrongPackage("logo in another case", ["file-missing /merchant/logo"]) { $0.files[0].0 = "Logo.png" },
        WrongPackage("an empty file", ["empty-file en.lproj/order.strings"]) {
            $0.files.append(("en.lproj/order.strings", []))
        },
        WrongPackage("localization folders", ["locale-name english.lproj", "strings-missing english.lproj"]) {
            $0.files.append(("english.lproj/logo.png", Fixtures.png(30)))
        },
        WrongPackage("5 MB", ["package-too-large ."]) { $0.files.append(("a.png", Fixtures.png(5_000_000))) },
        WrongPackage("no intermediate embedded", ["chain-incomplete signature"]) { $0.embedded = [] },
        WrongPackage("a look-alike embedded", ["chain-incomplete signature"]) {
            $0.embedded = [try Fixtures.authority().lookAlikeIntermediate()]
        },
    ]
}

/// A leaf that breaks Apple's policy in one way, and the code under which that is found.
struct PolicyBreach: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: @Sendable (inout CertificateTemplate) -> Void

    init(_ code: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void) {
        testDescription = code
        self.change = change
    }

    static let all: [PolicyBreach] = [
        PolicyBreach("certificate-usage") { $0.extendedKeyUsage = [WalletPolicy.clientUsage] },
        PolicyBreach("certificate-kind") {
            $0.privateExtensions = [.text(WalletPolicy.passType, "pass.com.example.shop")]
        },
        PolicyBreach("certificate-key-usage") { $0.keyUsage = .keyEncipherment },
        PolicyBreach("certificate-weak-signature") { $0.signature = .sha1 },
        PolicyBreach("order-type-mismatch") {
            $0.privateExtensions[0] = .text(WalletPolicy.orderType, "order.com.example.other")
        },
        PolicyBreach("certificate-expired") { $0.notAfter = Fixtures.now - 1 },
    ]
}

@Suite("Package verifier")
struct PackageVerifierTests {
    private func verifier(intermediates: [Certificate] = []) throws -> PackageVerifier {
        PackageVerifier(trust: [try Fixtures.authority().root], intermediates: intermediates)
    }

    private func errors(_ report: VerificationReport) -> [String] {
        report.findings.filter(\.isError).map { "\($0.code) \($0.pointer?.description ?? $0.path ?? "")" }.sorted()
    }

    @Test("a package of ours has no findings at all")
    func good() throws {
        let files = [try PackageFile(path: "logo.png", asset: Asset(Fixtures.png()))]
        let report = try verifier().verify(try Fixtures.package(files: files).bytes)
        #expect(report.findings == [])
        #expect(report.isValid)
        #expect(report.checked == ["archive", "manifest", "signature", "certificates", "order", "files"])
        #expect(report.files.map(\.path) == ["manifest.json", "order.json", "logo.png", "signature"])
        #expect(report.signer == (try Fixtures.authority().identity.certificate))
        #expect(report.signingTime == Fixtures.now)
        #expect(report.document?.orderIdentifier.text == "A-1")
    }

    @Test(
        "each fault is an error under its own code, at its own place, and nothing else is",
        arguments: WrongPackage.all
    )
    func faults(wrong: WrongPackage) throws {
        var parts = PackageParts()
        try wrong.change(&parts)
        let report = try verifier().verify(try parts.bytes())
        #expect(errors(report) == wrong.expected, "\(report.findings)")
        #expect(!report.isValid)
        for finding in report.findings {
            #expect(
                !finding.message.isEmpty && finding.message.hasSuffix(".") || finding.code == "json-syntax",
                "\(finding)"
            )
        }
    }

    @Test("what is no archive, or an empty one, is said to be")
    func noArchive() throws {
        #expect(
            errors(try verifier().verify(Array("no archive at all, but some text".utf8))) == ["zip-not-an-archive ."]
        )
        #expect(errors(try verifier().verify([])) == ["zip-not-an-archive ."])
        #expect(errors(try verifier().verify(ZipWriter().finish().flatMap(\.self))) == ["package-empty ."])
    }

    @Test("all faults come in one pass")
    func several() throws {
        var parts = PackageParts()
        parts.manifest = parts.honestManifest()
        parts.files[0].1[45] ^= 1
        parts.files.append(("extra.txt", [1]))
        parts.embedded = []
        parts.order = Array(#"{"orderTypeIdentifier":"order.com.example.other"}"#.utf8)
        let codes = Set(errors(try verifier().verify(try parts.bytes())).map { $0.split(separator: " ")[0] })
        #expect(
            codes.isSuperset(of: [
                "hash-mismatch", "manifest-entry-missing", "chain-incomplete", "order-type-mismatch", "missing-member",
            ]),
            "\(codes)"
        )
    }

    @Test("a chain whose intermediate is given by hand is valid, with a warning about what is embedded")
    func givenIntermediate() throws {
        let authority = try Fixtures.authority()
        var parts = PackageParts()
        parts.embedded = []
        let missing = try verifier(intermediates: [authority.intermediate]).verify(try parts.bytes())
        #expect(missing.isValid)
        #expect(missing.findings.map(\.code) == ["intermediate-missing"])
        parts.embedded = [try authority.lookAlikeIntermediate("G3")]
        let wrong = try verifier(intermediates: [authority.intermediate]).verify(try parts.bytes())
        #expect(wrong.isValid)
        #expect(wrong.findings.map(\.code) == ["intermediate-wrong"])
    }

    @Test("a test authority isn't trusted unless it is told to be")
    func untrusted() throws {
        let report = PackageVerifier().verify(try Fixtures.package().bytes)
        #expect(errors(report) == ["chain-untrusted signature"])
    }

    @Test("the certificates are judged at the signing time, or at the time given")
    func times() throws {
        let authority = try Fixtures.authority()
        let end = authority.identity.notAfter
        let bytes = try Fixtures.package(files: [PackageFile(path: "logo.png", asset: Asset(Fixtures.png()))], at: end)
            .bytes
        #expect(!(try verifier().verify(bytes)).findings.contains { $0.code == "certificate-expired" })
        let later = PackageVerifier(trust: [authority.root], at: end + 1).verify(bytes)
        #expect(errors(later) == ["certificate-expired signature"])
        let before = PackageVerifier(trust: [authority.root], at: authority.root.notBefore - 1).verify(bytes)
        #expect(errors(before) == Array(repeating: "certificate-not-yet-valid signature", count: 3))
    }

    @Test("a leaf that breaks Apple's policy is an error", arguments: PolicyBreach.all)
    func leaves(breach: PolicyBreach) throws {
        let authority = try Fixtures.authority()
        var template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
        breach.change(&template)
        let key = authority.identity.key
        var parts = PackageParts()
        parts.leaf = (try template.issue(for: key, issuer: (authority.intermediate, authority.intermediateKey)), key)
        let report = try verifier().verify(try parts.bytes())
        #expect(report.findings.filter(\.isError).map(\.code) == [breach.testDescription], "\(report.findings)")
    }

    @Test("chains of two and of four certificates, and an intermediate without the marker, are errors")
    func chains() throws {
        let authority = try Fixtures.authority()
        let key = authority.identity.key
        let leaf = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
        var parts = PackageParts()
        parts.leaf = (try leaf.issue(for: key, issuer: (authority.root, authority.rootKey)), key)
        parts.embedded = []
        #expect(errors(try verifier().verify(try parts.bytes())) == ["chain-length signature"])

        let middleKey = try PrivateKey.generateRSA()
        var template = TestCertificates.intermediate("G5", Fixtures.now)
        let middle = try template.issue(for: middleKey, issuer: (authority.intermediate, authority.intermediateKey))
        parts.leaf = (try leaf.issue(for: key, issuer: (middle, middleKey)), key)
        parts.embedded = [middle, authority.intermediate]
        #expect(errors(try verifier().verify(try parts.bytes())) == ["chain-length signature"])

        template.privateExtensions = []
        let bare = try template.issue(for: middleKey, issuer: (authority.root, authority.rootKey))
        parts.leaf = (try leaf.issue(for: key, issuer: (bare, middleKey)), key)
        parts.embedded = [bare]
        #expect(errors(try verifier().verify(try parts.bytes())) == ["intermediate-marker signature"])
    }

    @Test(
        "signatures of OpenSSL's in forms that Wallet refuses are errors; those it takes are not",
        arguments: [
            ("-outform DER -nosmimecap", []), ("-outform DER -nosmimecap -keyid", []),
            ("-outform DER", ["signature-attribute"]),
            ("-outform DER -nosmimecap -nodetach", ["signature-not-detached"]),
            (
                "-outform DER -noattr",
                [
                    "signature-attribute-missing", "signature-attribute-missing", "signature-attribute-missing",
                ]
            ),
            ("-outform DER -nosmimecap -md sha1", ["signature-digest-algorithm"]),
            ("-outform DER -nosmimecap -md sha512", ["signature-digest-algorithm"]),
            ("-outform DER -nosmimecap -signer second.pem", ["signature-signers"]),
            ("-outform DER -nosmimecap -keyopt rsa_padding_mode:pss", ["signature-algorithm"]),
            ("-outform DER -nosmimecap -certfile root.pem", ["signature-root"]),
            ("-outform DER -nosmimecap -nocerts", ["signer-missing"]), ("-outform PEM", ["signature-not-der"]),
            ("-outform SMIME", ["signature-not-der"]),
        ] as [(String, [String])]
    )
    func foreignSignatures(options: String, codes: [String]) async throws {
        var parts = PackageParts()
        parts.signature = try await PackageParts.signature(options, manifest: parts.honestManifest())
        let authority = try Fixtures.authority()
        // OpenSSL signs with the clock's time, which may lie beyond the test certificates.
        let report = PackageVerifier(trust: [authority.root], at: Fixtures.now).verify(try parts.bytes())
        #expect(report.findings.map(\.code) == codes, "\(report.findings)")
        #expect(report.isValid == codes.allSatisfy { ["signature-attribute", "signature-root"].contains($0) })
    }

    @Test("stray, unused and overridden files are warnings")
    func warnings() throws {
        var parts = PackageParts()
        parts.files += [
            (".DS_Store", [1]), ("unused.png", Fixtures.png(30)), ("en.lproj/logo.png", Fixtures.png(31)),
            ("en.lproj/order.strings", Array("\"Shop\" = \"b\";".utf8)), ("LOGO.png", Fixtures.png(32)),
        ]
        let report = try verifier().verify(try parts.bytes())
        #expect(report.isValid, "\(report.findings)")
        let warnings = Set(report.findings.map { "\($0.code) \($0.path ?? "")" })
        #expect(
            warnings == [
                "stray-file .DS_Store", "file-unused unused.png", "file-unused LOGO.png",
                "localized-file-overridden logo.png",
                "zip-similar-names LOGO.png",
            ]
        )
    }

    @Test("names with resolutions, without extension and in localization folders are found")
    func variants() throws {
        func codes(_ logo: String, _ paths: [String]) throws -> [String] {
            var files: [String: [UInt8]] = [:]
            for path in paths {
                files[path] = path.hasSuffix(".strings") ? Array(#""Shop" = "b";"#.utf8) : Fixtures.png(30)
            }
            let text = String(decoding: Fixtures.order, as: UTF8.self).replacing("\"logo.png\"", with: "\"\(logo)\"")
            return FileCheck.check(try JSONValue(parsing: Array(text.utf8)), files: files).map(\.code)
        }
        #expect(try codes("logo.png", ["logo@2x.png", "logo@3x.png"]) == [])
        #expect(try codes("logo", ["logo@2x.png"]) == [])
        #expect(try codes("logo", ["logo.jpg"]) == [])
        #expect(try codes("logo", ["logos.png"]) == ["file-missing", "file-unused"])
        #expect(try codes("logo.png", ["en.lproj/logo@2x.png", "en.lproj/order.strings"]) == [])
        #expect(
            try codes("logo.png", ["en.lproj/logo.png", "en.lproj/order.strings", "de.lproj/order.strings"])
                == ["localized-file-missing"]
        )
        #expect(try codes("logo.png", []) == ["file-missing"])
    }

    @Test("a flipped bit in any byte of a package is found, but in fields that bear on nothing")
    func flips() throws {
        let files = [try PackageFile(path: "logo.png", asset: Asset(Fixtures.png(40)))]
        let bytes = try Fixtures.package(files: files).bytes
        let verifier = try verifier()
        // Who made the archive, on what system, and file modes: fields of the directory that no reader needs.
        let records = bytes.indices.filter { bytes[$0...].starts(with: [0x50, 0x4B, 0x01, 0x02]) }
        let ignored = Set(records.flatMap { start in [4, 5, 36, 37, 38, 39, 40, 41].map { start + $0 } })
        var unnoticed: [Int] = []
        for index in bytes.indices where !ignored.contains(index) {
            var changed = bytes
            changed[index] ^= 1 << UInt8(index % 8)
            if verifier.verify(changed).findings.isEmpty { unnoticed.append(index) }
        }
        #expect(unnoticed == [])
    }
}
