// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import TestPatience
import Testing
import ZipFiles

@testable import OrderPackage

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
        #expect(errors(try verifier().verify(bytes)) == [])
        let later = PackageVerifier(trust: [authority.root], at: end + 1).verify(bytes)
        #expect(errors(later) == ["certificate-expired signature"])
        #expect(later.findings.first?.message.contains("before the time asked for, ") == true)
        let before = PackageVerifier(trust: [authority.root], at: authority.root.notBefore - 1).verify(bytes)
        #expect(errors(before) == Array(repeating: "certificate-not-yet-valid signature", count: 3))
    }

    @Test("the advice about a chain that OpenSSL refuses is for the certificate that is at fault")
    func refusedChain() throws {
        let authority = try Fixtures.authority()
        let unknown = CertificateTemplate.PrivateExtension(oid: "1.2.3.4.5", der: DER.null, isCritical: true)
        func fix(_ leaf: (inout CertificateTemplate) -> Void, _ issuer: (inout CertificateTemplate) -> Void) throws
            -> String?
        {
            var middle = TestCertificates.intermediate("G5", Fixtures.now)
            issuer(&middle)
            let issued = try middle.issue(for: authority.intermediateKey, issuer: (authority.root, authority.rootKey))
            var template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            leaf(&template)
            let key = authority.identity.key
            var parts = PackageParts()
            parts.leaf = (try template.issue(for: key, issuer: (issued, authority.intermediateKey)), key)
            parts.embedded = [issued]
            return try verifier().verify(try parts.bytes()).findings.first { $0.code == "chain-refused" }?.fix
        }
        let own = try fix({ $0.privateExtensions.append(unknown) }, { _ in })
        #expect(own == "Ask for a new certificate.")
        // An empty name is in every message.
        let nameless = try fix({ $0.privateExtensions.append(unknown) }, { $0.subject = [] })
        #expect(nameless == "Ask for a new certificate.")
        let issuers = try fix({ _ in }, { $0.privateExtensions.append(unknown) })
        #expect(issuers?.hasPrefix("Embed the issuer as Apple publishes it") == true)
    }

    @Test("an order of 2,500 full line items, which is valid where it comes in, is valid in its package")
    func largeOrder() throws {
        let item = #"""
            {"title":"Bread","subtitle":"Rye","quantity":1,"price":{"amount":4.5,"currency":"EUR"},\#
            "sku":"A-1","gtin":"04006381333931"}
            """#
        var parts = PackageParts()
        let items = Array(repeating: item, count: 2_500).joined(separator: ",")
        parts.replaceInOrder("{\"sch", "{\"lineItems\":[\(items)],\"sch")
        #expect(OrderDocument.validate(text: parts.order).document != nil)
        let report = try verifier().verify(try parts.bytes())
        #expect(report.isValid && report.document != nil, "\(report.findings)")
    }

    @Test("files that the manifest lacks are told in the order of their paths, and the first hundred of them")
    func manyUnlisted() throws {
        var parts = PackageParts()
        parts.manifest = parts.honestManifest()
        for number in (0..<150).reversed() { parts.files.append(("\(1_000 + number).png", [1])) }
        let report = try verifier().verify(try parts.bytes())
        let told = report.findings.filter { $0.code == "manifest-entry-missing" }.map { $0.path ?? "" }
        #expect(told == (0..<100).map { "\(1_000 + $0).png" })
    }

    @Test("a finished package is told of as it is, not as what intake would make of it")
    func finished() throws {
        var parts = PackageParts()
        parts.replaceInOrder(
            #""updatedAt":"2026-01-01T00:00:00Z""#,
            #""updatedAt":"2026-12-31t23:59:60.5z","lineItems":[{"title":"Bread","quantity":"2"}],"customer":null"#
        )
        let findings = try verifier().verify(try parts.bytes()).findings
        #expect(
            Set(findings.map(\.code)) == [
                "fractional-seconds", "null-member", "numeric-string", "date-in-lower-case", "leap-second",
            ]
        )
        for finding in findings {
            #expect(!finding.message.contains("the package gets") && !finding.message.contains("not written"))
            #expect(finding.message.contains("this package"))
            #expect(finding.fix?.contains("Send") == false, "\(finding)")
        }
    }

    @Test("sizes behind the data are a warning that claims no more than is known")
    func descriptors() throws {
        var parts = PackageParts()
        parts.edit = ArchiveEdit.both("logo.png", 6, 2, 8)
        let notice = try verifier().verify(try parts.bytes()).findings.first { $0.code == "zip-data-descriptor" }
        #expect(notice?.severity == .warning && notice?.message.contains("may pass over") == true)
    }

    @Test("stray, unused and overridden files are warnings")
    func warnings() throws {
        var parts = PackageParts()
        parts.files += [
            ("Thumbs.db", [1]), ("unused.png", Fixtures.png(30)), ("en.lproj/logo.png", Fixtures.png(31)),
            ("en.lproj/order.strings", Array("\"Shop\" = \"b\";".utf8)), ("LOGO.png", Fixtures.png(32)),
        ]
        let report = try verifier().verify(try parts.bytes())
        #expect(report.isValid, "\(report.findings)")
        let warnings = Set(report.findings.map { "\($0.code) \($0.path ?? "")" })
        #expect(
            warnings == [
                "stray-file Thumbs.db", "file-unused unused.png", "file-unused LOGO.png",
                "localized-file-overridden logo.png",
                "zip-similar-names LOGO.png",
            ]
        )
    }

    @Test("what a verifier remembers of a signer never covers other bytes, other dates or other roots")
    func remembered() throws {
        let authority = try Fixtures.authority()
        let verifier = try verifier()
        let good = try PackageParts().bytes()
        for _ in 0..<3 { #expect(verifier.verify(good).findings == []) }
        // The same certificates and another signing time.
        let late = try Fixtures.package(
            files: [PackageFile(path: "logo.png", asset: Asset(Fixtures.png()))],
            at: authority.identity.notAfter
        )
        #expect(errors(verifier.verify(late.bytes)) == [])
        var parts = PackageParts()
        try parts.forge {
            $0.attributes[1] = ForgedSignature.signingTime(Array("490101000000Z".utf8), tag: 0x17)
        }
        #expect(
            errors(verifier.verify(try parts.bytes())) == Array(repeating: "certificate-expired signature", count: 3)
        )
        // The same leaf with one byte of its issuer's signature changed.
        var der = authority.identity.certificate.der
        der[der.count - 9] ^= 1
        let damaged = try Certificate(der: der)
        parts = PackageParts()
        try parts.forge {
            $0.signer = (damaged, authority.identity.key)
            $0.certificates[0] = damaged
        }
        #expect(errors(verifier.verify(try parts.bytes())) == ["chain-broken signature"])
        #expect(errors(PackageVerifier().verify(good)) == ["chain-untrusted signature"])
        // More strangers than are remembered.
        for index in 0..<70 {
            var template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
            template.notAfter += Int64(index)
            let key = authority.identity.key
            let leaf = try template.issue(for: key, issuer: (authority.intermediate, authority.intermediateKey))
            parts = PackageParts()
            parts.leaf = (leaf, key)
            #expect(verifier.verify(try parts.bytes()).isValid)
        }
        #expect(verifier.verify(good).findings == [])
    }

    @Test("an unpacked package is checked like a packed one, and signing times in the future are told")
    func unpacked() throws {
        let verifier = try verifier()
        let parts = PackageParts()
        let report = verifier.verify(files: try parts.allFiles())
        #expect(report.findings == [])
        #expect(report.checked == ["folder", "manifest", "signature", "certificates", "order", "files"])
        #expect(report.order == verifier.verify(try parts.bytes()).order)
        #expect(errors(verifier.verify(files: [])) == ["package-empty ."])
    }

    @Test("texts that the order names as an image or a receipt are no such file, read or known")
    func textsAsImage() throws {
        let path = "en.lproj/order.strings"
        let bytes = Array(#""Shop" = "b";"#.utf8)
        for (member, order) in [
            ("logo", ["merchant": ["logo": .string(path), "displayName": "Shop"]] as JSONValue),
            (
                "receipt",
                ["merchant": ["displayName": "Shop"], "payment": ["transactions": [["receipt": .string(path)]]]]
            ),
        ] {
            let read = FileCheck.check(order, files: [path: bytes])
            #expect(read.contains { $0.isError && $0.code == "file-format" && $0.path == path }, "\(member)")
            let known = FileCheck.check(order, [ExactKey(path): KnownFile.texts(try StringsTable.parse(bytes))])
            #expect(known == read, "\(member)")
        }
    }

    @Test("names with resolutions, without extension and in localization folders are found")
    func variants() throws {
        func codes(_ logo: String, _ paths: [String]) throws -> [String] {
            var files: [String: [UInt8]] = [:]
            for path in paths {
                let side: UInt32 = path.contains("@3x") ? 900 : path.contains("@2x") ? 600 : 300
                files[path] = path.hasSuffix(".strings") ? Array(#""Shop" = "b";"#.utf8) : Picture.png(side, side)
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
        let records = ArchiveBytes.records(bytes)
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
