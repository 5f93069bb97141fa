// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import TestPatience
import Testing
import ZipFiles

@testable import OrderPackage

@Suite("Package builder")
struct PackageBuilderTests {
    @Test("unzip, Python and OpenSSL accept a package")
    func outsideReaders() async throws {
        let folder = try TemporaryFolder()
        try folder.write(try Fixtures.package().bytes, to: "a.order")
        try folder.write(try Fixtures.authority().root.pem(), to: "root.pem")
        let zip = try await shell("cd \(folder.path) && unzip -t a.order && unzip -q a.order")
        #expect(zip.status == 0, "\(zip.output)")
        let python = try await shell(
            "python3 -c 'import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(z.namelist())'"
                + " \(folder.path)/a.order"
        )
        #expect(python.output == "['manifest.json', 'order.json', 'Zebra.jpg', 'logo.png', 'signature']\n")
        let openssl = try await shell(
            "cd \(folder.path) && openssl cms -verify -binary -inform DER -in signature -content manifest.json"
                + " -CAfile root.pem -purpose any -attime \(Fixtures.now) -out /dev/null"
        )
        #expect(openssl.status == 0, "\(openssl.output)")
        let sums = try await shell(
            "cd \(folder.path) && python3 -c 'import json,hashlib\nm=json.load(open(\"manifest.json\"))\n"
                + "assert sorted(m)==[\"Zebra.jpg\",\"logo.png\",\"order.json\"], m\n"
                + "for k,v in m.items(): assert hashlib.sha256(open(k,\"rb\").read()).hexdigest()==v, k'"
        )
        #expect(sums.status == 0, "\(sums.output)")
        let flipped = try await shell(
            "cd \(folder.path) && printf x >> manifest.json && openssl cms -verify -binary -inform DER -in signature"
                + " -content manifest.json -CAfile root.pem -purpose any -attime \(Fixtures.now) -out /dev/null"
        )
        #expect(flipped.status != 0)
    }

    @Test("a thousand builds give the same bytes, whatever the order of the files")
    func deterministic() throws {
        let builder = PackageBuilder(identity: try Fixtures.authority().identity)
        let files = try Fixtures.files()
        let first = try builder.build(order: Fixtures.order, files: files, signingTime: Fixtures.now).bytes
        for round in 0..<Patience.count(1_000) {
            let order = round % 2 == 0 ? files : files.reversed()
            let again = try builder.build(order: Fixtures.order, files: order, signingTime: Fixtures.now)
            guard again.bytes == first else {
                Issue.record("round \(round) differs")
                return
            }
        }
    }

    @Test("another second, file or order gives another signature digest")
    func distinct() throws {
        let base = try Fixtures.package()
        let later = try Fixtures.package(at: Fixtures.now + 1)
        let fewer = try Fixtures.package(files: [])
        #expect(Set([base, later, fewer].map(\.signatureDigest)).count == 3)
        #expect(base.byteCount == base.bytes.count)
    }

    @Test("the signature has Wallet's form: one signer by key id, three attributes, leaf and intermediate")
    func signatureForm() throws {
        let authority = try Fixtures.authority()
        let reader = try ZipReader(try Fixtures.package().bytes)
        let entry = try #require(reader.entry(named: "signature"))
        let data = try CMS.parse(try reader.contents(of: entry))
        #expect(data.isDetached)
        #expect(Set(data.certificates) == [authority.identity.certificate, authority.intermediate])
        #expect(data.signers.count == 1)
        let signer = try #require(data.signers.first)
        #expect(signer.signingTime == Fixtures.now)
        #expect(
            Set(signer.signedAttributes) == [
                CMS.contentTypeAttribute, CMS.messageDigestAttribute, CMS.signingTimeAttribute,
            ]
        )
        #expect(signer.signedAttributes.count == 3)
        #expect(
            signer.identifier
                == .subjectKeyIdentifier(try #require(authority.identity.certificate.subjectKeyIdentifier))
        )
    }

    @Test("an order older than the chain is signed at the chain's first second; one after its end isn't signed")
    func signingTime() throws {
        let identity = try Fixtures.authority().identity
        let early = try Fixtures.package(at: 0)
        #expect(early.bytes == (try Fixtures.package(at: identity.chainNotBefore).bytes))
        #expect(throws: Never.self) { try Fixtures.package(at: identity.chainNotAfter) }
        #expect { try Fixtures.package(at: identity.chainNotAfter + 1) } throws: {
            ($0 as? OrderPackageError)?.code == .expired
        }
    }

    @Test("a signing time in the future is told before anything is signed, as it is of the package")
    func future() throws {
        let builder = PackageBuilder(identity: try Fixtures.authority().identity)
        let now = Fixtures.now + 86_400
        #expect(builder.findings(signingAt: now + 86_400, now: now).isEmpty)
        let finding = try #require(builder.findings(signingAt: now + 86_401, now: now).first)
        #expect(finding.code == "signing-time-future" && finding.severity == .warning)
        #expect(finding.pointer?.description == "/updatedAt" && finding.message.contains("2026-01-03T00:00:01Z"))
        // What is older than the chain is signed at its first second.
        #expect(!builder.findings(signingAt: 0, now: builder.identity.chainNotBefore - 86_401).isEmpty)
    }

    @Test(
        "orders that don't fit the certificate are refused before signing",
        arguments: [
            (#"{"orderTypeIdentifier":"order.com.example.other"}"#, .orderTypeMismatch),
            (#"{"note":"\"orderTypeIdentifier\":\"order.com.example.shop\""}"#, .badOrder), ("{}", .badOrder),
            // The right text, but not as the order's own member.
            (
                #"{"a":{"orderTypeIdentifier":"order.com.example.shop"},"orderTypeIdentifier":"order.com.example.other"}"#,
                .orderTypeMismatch
            ),
            (#"{"a":[{"orderTypeIdentifier":"order.com.example.shop"}]}"#, .badOrder),
            (#"[{"orderTypeIdentifier":"order.com.example.shop"}]"#, .badOrder),
            (
                #"{"orderTypeIdentifier":"order.com.example.shop","order\u0054ypeIdentifier":"order.com.example.other"}"#,
                .badOrder
            ),
            (
                #"{"orderTypeIdentifier":"order.com.example.shop","orderTypeIdentifier":"order.com.example.shop"}"#,
                .badOrder
            ),
            (#"{"orderTypeIdentifier":"order.com.example.shop""#, .badOrder),
            (#"{"orderTypeIdentifier":"order.com.example.shop"}}"#, .badOrder),
            (#"{"orderTypeIdentifier":"order.com.example.shop"#, .badOrder),
            (#"{"orderTypeIdentifier":"order.com.example.shop"},"#, .badOrder),
            ("[]", .badOrder), ("", .badOrder), ("{", .badOrder),
            (#"{"orderTypeIdentifier":"order.com.example.shop",,}"#, .badOrder),
            (#"{"orderTypeIdentifier":"order.com.example.shop","a":[}"#, .badOrder),
            (#"{"orderTypeIdentifier":"order.com.example.shop","a":x}"#, .badOrder),
        ] as [(String, OrderPackageError.Code)]
    )
    func wrongOrders(text: String, code: OrderPackageError.Code) throws {
        #expect { try Fixtures.package(order: Array(text.utf8)) } throws: { ($0 as? OrderPackageError)?.code == code }
    }

    @Test("a document's own bytes give the package that the same bytes give; its type is the identity's")
    func documents() throws {
        let document = try #require(OrderDocument.validate(text: Fixtures.order).document)
        let builder = PackageBuilder(identity: try Fixtures.authority().identity)
        let order = document.packageForm()
        let read = try builder.build(order: order, files: Fixtures.files(), signingTime: Fixtures.now)
        let own = try builder.build(order, of: document, files: Fixtures.files(), signingTime: Fixtures.now)
        #expect(own.bytes == read.bytes)
        let text = String(decoding: Fixtures.order, as: UTF8.self)
            .replacing("order.com.example.shop", with: "order.com.b")
        let other = try #require(OrderDocument.validate(text: Array(text.utf8)).document)
        #expect { try builder.build(other.packageForm(), of: other, signingTime: Fixtures.now) } throws: {
            ($0 as? OrderPackageError)?.code == .orderTypeMismatch
        }
    }

    @Test("orders from a thousand callers at once come back each in its own package, signed")
    func crossTalk() async throws {
        let builder = PackageBuilder(identity: try Fixtures.authority().identity)
        let text = String(decoding: Fixtures.order, as: UTF8.self)
        let shared = try Fixtures.files()
        let verifier = PackageVerifier(trust: [try Fixtures.authority().root])
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let own = Array(text.replacing("\"A-1\"", with: "\"A-\(number)\"").utf8)
                    let note = try PackageFile(path: "note.txt", contents: Array("note \(number)".utf8))
                    let package = try builder.build(
                        order: own,
                        files: shared + [note],
                        signingTime: Fixtures.now + Int64(number)
                    )
                    let reader = try ZipReader(package.bytes)
                    let held = try reader.contents(of: try #require(reader.entry(named: "order.json")))
                    #expect(held == own, "\(number)")
                    // The whole of it for some: digests of each file, signature, order.
                    if number.isMultiple(of: 20) {
                        let report = verifier.verify(package.bytes)
                        #expect(report.isValid && report.signingTime == Fixtures.now + Int64(number))
                        #expect(report.order?["orderIdentifier"]?.stringValue == "A-\(number)")
                    }
                    await Task.yield()
                    return number
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(numbers.count == 1_000)
    }

    @Test("a package that is too large names its largest files")
    func largest() throws {
        let files = try [("a.png", 100), ("b.png", 3_000_000), ("c.png", 2_500_000), ("d.png", 2_000)].map {
            try PackageFile(path: $0.0, asset: Asset(Fixtures.png($0.1)))
        }
        let error = #expect(throws: OrderPackageError.self) { try Fixtures.package(files: files) }
        #expect(error?.code == .tooLarge)
        #expect(
            error?.message.contains("b.png (3000008 bytes), c.png (2500008 bytes), d.png (2008 bytes)") == true,
            "\(error?.message ?? "")"
        )
    }

    @Test("an order written with spaces is accepted")
    func spacedOrder() throws {
        let order = Array(#"{ "orderTypeIdentifier" : "order.com.example.shop" }"#.utf8)
        #expect(throws: Never.self) { try Fixtures.package(order: order) }
    }

    @Test("a byte order mark in front of an order is never written")
    func mark() throws {
        let package = try Fixtures.package(order: [0xEF, 0xBB, 0xBF] + Fixtures.order)
        #expect(package.bytes == (try Fixtures.package().bytes))
    }

    @Test(
        "paths that don't belong into a package are refused",
        arguments: [
            "order.json", "manifest.json", "signature", "Signature", "Order.JSON", "MANIFEST.json", ".DS_Store",
            "en.lproj/.hidden", "__MACOSX/logo.png",
            "logo.png.swp",
            "../logo.png", "/logo.png", "en.lproj/", "", "en.lproj", "de.lproj/EN.LPROJ",
        ]
    )
    func paths(path: String) throws {
        #expect { try PackageFile(path: path, contents: [1]) } throws: { ($0 as? OrderPackageError)?.code == .badPath }
    }

    @Test("empty files, two files of a path and packages of 5 MB are refused")
    func refusals() throws {
        #expect { try PackageFile(path: "en.lproj/order.strings", contents: []) } throws: {
            ($0 as? OrderPackageError)?.code == .emptyFile
        }
        let file = try PackageFile(path: "logo.png", asset: Asset(Fixtures.png()))
        #expect { try Fixtures.package(files: [file, file]) } throws: {
            ($0 as? OrderPackageError)?.code == .duplicatePath
        }
        for (path, inner) in [("a", "a/b/c"), ("a/b", "a/b/c"), ("a-b", "order.json/c")] {
            let files = [try PackageFile(path: inner, contents: [1]), try PackageFile(path: path, contents: [1])]
            #expect { try Fixtures.package(files: files) } throws: { ($0 as? OrderPackageError)?.code == .badPath }
        }
        let apart = [try PackageFile(path: "a", contents: [1]), try PackageFile(path: "a-b/c", contents: [1])]
        _ = try Fixtures.package(files: apart)
        let half = try Asset(Fixtures.png(2_500_000))
        let large = [try PackageFile(path: "a.png", asset: half), try PackageFile(path: "b.png", asset: half)]
        #expect { try Fixtures.package(files: large) } throws: { ($0 as? OrderPackageError)?.code == .tooLarge }
    }

    @Test("a manifest is compact JSON in byte order, with digests of 64 lower-case digits")
    func manifest() throws {
        let files = [
            try PackageFile(path: "b \"q\".txt", contents: [1]), try PackageFile(path: "Ä.txt", contents: [2]),
            try PackageFile(path: "z.txt", contents: [3]), try PackageFile(path: "A.txt", contents: [4]),
        ]
        let reader = try ZipReader(try Fixtures.package(files: files).bytes)
        let bytes = try reader.contents(of: try #require(reader.entry(named: "manifest.json")))
        let object = try #require(try JSONValue(parsing: bytes).objectValue)
        #expect(object.keys == ["A.txt", "b \"q\".txt", "order.json", "z.txt", "Ä.txt"])
        #expect(bytes == JSONValue.object(object).serialized())
        for (_, value) in object {
            let text = try #require(value.stringValue)
            #expect(text.utf8.count == 64)
            #expect(text == text.lowercased())
        }
    }
}
