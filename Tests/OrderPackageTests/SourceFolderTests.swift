// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import ServiceRuntime
import Testing

@testable import OrderPackage

@Suite("Source folder")
struct SourceFolderTests {
    private let strings: [(String, [UInt8])] = [
        ("en.lproj/order.strings", Array(#""Shop" = "Shop";"#.utf8)),
        ("de.lproj/order.strings", Array(#""Shop" = "Laden";"#.utf8)),
    ]

    @Test("leftovers stay out, and are listed; so does a former package's own")
    func leftovers() throws {
        let folder = try Fixtures.folder(
            strings + [
                (".DS_Store", [1]), ("en.lproj/.order.strings.swp", [1]), ("__MACOSX/a", [1]), ("manifest.json", [1]),
                ("signature", [1]),
            ]
        )
        let source = try SourceFolder(folder.path)
        #expect(source.files.keys.sorted() == ["de.lproj/order.strings", "en.lproj/order.strings", "logo.png"])
        #expect(
            source.leftOut == [".DS_Store", "__MACOSX", "en.lproj/.order.strings.swp", "manifest.json", "signature"]
        )
        let (document, findings) = source.check()
        #expect(document != nil)
        #expect(findings == [])
    }

    @Test("B25 a folder and the same files in memory give the same package, with and without a closing slash")
    func sameAsMemory() throws {
        let folder = try Fixtures.folder(strings)
        let files = try strings.map { try PackageFile(path: $0.0, contents: $0.1) }
        let memory = try Fixtures.package(
            files: files + [PackageFile(path: "logo.png", asset: Asset(Fixtures.png(300)))]
        )
        for path in [folder.path, folder.path + "/", folder.path + "/."] {
            let source = try SourceFolder(path)
            let built = try Fixtures.package(order: source.order, files: source.packageFiles())
            #expect(built.bytes == memory.bytes)
        }
        let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(memory.bytes)
        #expect(report.findings == [])
    }

    @Test("languages are checked: broken files with their line, different keys, near misses of keys")
    func languages() throws {
        func findings(_ files: [(String, [UInt8])]) throws -> [Finding] {
            let folder = try Fixtures.folder(files)
            return try withExtendedLifetime(folder) { try SourceFolder(folder.path).check().findings }
        }
        func codes(_ files: [(String, [UInt8])]) throws -> [String] {
            try findings(files).map { "\($0.code) \($0.path ?? "")" }
        }
        let broken = try findings([
            strings[0], ("de.lproj/order.strings", Array("\"Shop\" = \"La\"den\";\n".utf8)),
        ])
        #expect(broken.map(\.path) == ["de.lproj/order.strings"])
        #expect(broken.first?.line == 1 && broken.first?.isError == true)
        #expect(
            try codes([strings[0], ("de.lproj/order.strings", Array(#""shop" = "Laden";"#.utf8))])
                == ["strings-keys-differ de.lproj/order.strings", "strings-keys-differ en.lproj/order.strings"]
        )
        #expect(try codes([strings[0], ("de.lproj/logo.png", Fixtures.png(20))]).contains("strings-missing de.lproj"))
        #expect(try codes([("de.lproj/order.strings", [])]) == ["empty-file de.lproj/order.strings"])
    }

    @Test("Apple's bakery example, whole, has its one sum and its two missing keys as warnings, and nothing else")
    func bakery() throws {
        let samples =
            #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/OrderModelTests/Fixtures"
        let folder = try TemporaryFolder()
        for (sample, path) in [
            ("order-bakery-pickup.json", "order.json"), ("order-bakery.en.strings", "en.lproj/order.strings"),
            ("order-bakery.de.strings", "de.lproj/order.strings"),
        ] {
            try folder.write(try Files.read("\(samples)/\(sample)"), to: path)
        }
        for name in ["logo", "pastry", "cheesecake", "spongecake"] {
            try folder.write(Fixtures.png(200, seed: UInt8(name.utf8.count)), to: name + ".png")
        }
        let source = try withExtendedLifetime(folder) { try SourceFolder(folder.path) }
        let (document, findings) = source.check()
        #expect(findings.map(\.severity) == [.warning, .warning, .warning], "\(findings)")
        #expect(findings.filter { $0.code == "string-key" }.count == 2)
        let order = try #require(document)
        let identity = try Fixtures.authority().identity(for: order.orderTypeIdentifier, now: Fixtures.now)
        let package = try PackageBuilder(identity: identity)
            .build(order: order.packageForm(), files: source.packageFiles(), signingTime: order.createdAt)
        let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes)
        #expect(report.isValid)
        #expect(report.findings.map(\.code).sorted() == findings.map(\.code).sorted(), "\(report.findings)")
    }

    @Test("B47 editors', Finder's and archivers' leftovers stay out, wherever they lie, and are listed")
    func editors() throws {
        let strays = [
            ".order.json.swp", "#order.json#", ".git/config", "Thumbs.db", "desktop.ini", "logo.png.bak", "logo.png~",
            "logo.tmp", "en.lproj/.DS_Store", "en.lproj/._order.strings",
        ]
        let folder = try Fixtures.folder(strings + strays.map { ($0, [1]) })
        let source = try SourceFolder(folder.path)
        #expect(source.leftOut.sorted() == (strays.filter { $0 != ".git/config" } + [".git"]).sorted())
        #expect(source.files.keys.sorted() == ["de.lproj/order.strings", "en.lproj/order.strings", "logo.png"])
    }

    @Test("receipts and labels of a folder are PDF, or told of, and travel as they are")
    func documents() throws {
        let pdf = Array("%PDF-1.4\n".utf8) + [UInt8](repeating: 7, count: 500)
        for (receipt, label, expected) in [
            (pdf, pdf, []), (pdf, Array("GIF89a".utf8), ["file-format label.pdf"]),
            (Array("%!PS".utf8), pdf, ["file-format receipt.pdf"]),
        ] as [([UInt8], [UInt8], [String])] {
            let folder = try Fixtures.folder([("receipt.pdf", receipt), ("label.pdf", label)])
            let order = String(decoding: Fixtures.order, as: UTF8.self)
                .replacing("{\"sch", with: "{\(BrokenPackage.documents("receipt.pdf", "label.pdf")),\"sch")
            try folder.write(Array(order.utf8), to: "order.json")
            let source = try SourceFolder(folder.path)
            let errors = source.check().findings.filter(\.isError).map { "\($0.code) \($0.path ?? "")" }
            #expect(errors == expected)
            guard expected.isEmpty else { continue }
            let package = try Fixtures.package(order: source.order, files: source.packageFiles())
            let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes)
            #expect(report.isValid && report.files.map(\.path).contains("receipt.pdf"), "\(report.findings)")
        }
    }

    @Test("what the order names is no leftover, whatever folder it lies in; its neighbours stay out")
    func namedInLeftovers() throws {
        let places = [".assets/logo.png", "old~/a.png", "a.bak/b.tmp/c.png", "__MACOSX/d.png"]
        let neighbours = [".assets/.x", ".assets/more.png", "a.bak/other.png", "a.bak/d.tmp/e.png"]
        let localized = "en.lproj/.images/f.png"
        let folder = try Fixtures.folder(
            strings + (places + neighbours + [localized, "de.lproj/.images/f.png"]).map { ($0, Fixtures.png(300)) }
        )
        var order = String(decoding: Fixtures.order, as: UTF8.self)
        order.replace("logo.png", with: places[0])
        let items = (places.dropFirst() + [".images/f.png"])
            .map { #"{"title":"A","quantity":1,"image":"\#($0)"}"# }
        order.replace(#"{"sch"#, with: #"{"lineItems":[\#(items.joined(separator: ","))],"sch"#)
        try folder.write(Array(order.utf8), to: "order.json")
        let source = try SourceFolder(folder.path)
        #expect(source.leftOut.sorted() == [".assets/.x", ".assets/more.png", "a.bak/d.tmp", "a.bak/other.png"])
        for path in places + [localized] { #expect(source.files[path] != nil, "\(path)") }
        #expect(source.check().findings.filter(\.isError) == [])
        let package = try Fixtures.package(order: source.order, files: source.packageFiles())
        let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes)
        #expect(report.findings.filter(\.isError) == [])
    }

    @Test("a folder gives no package of more files than a verifier reads")
    func manyFiles() throws {
        let folder = try Fixtures.folder()
        for number in 1...197 { try folder.write([1], to: "\(number).txt") }
        let source = try SourceFolder(folder.path)
        let found = source.check().findings.filter { $0.code == "zip-too-many-entries" }
        #expect(found.count == 1 && found[0].isError && found[0].message.contains("198 files"), "\(found)")
        #expect(found.first?.fix?.contains("one image may serve many") == true)
        #expect { try source.packageFiles() } throws: { ($0 as? OrderPackageError)?.code == .tooManyFiles }
        let files = try (1...198).map { try PackageFile(path: "\($0).txt", contents: [1]) }
        #expect { try Fixtures.package(files: files) } throws: {
            let error = $0 as? OrderPackageError
            return error?.code == .tooManyFiles && error?.message.contains("198 files") == true
        }
        try Files.removeTree("\(folder.path)/1.txt")
        let package = try Fixtures.package(files: SourceFolder(folder.path).packageFiles())
        let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes)
        #expect(report.isValid && report.files.count == 200)
        #expect(throws: Never.self) { try UnpackedFolder(folder.path) }
        try folder.write([1], to: "more/1.txt")
        for number in 1...4 { try folder.write([1], to: "more/\(number).txt") }
        let unpacked = PackageVerifier().verify(try UnpackedFolder(folder.path))
        let more = unpacked.findings.filter { $0.code == "zip-too-many-entries" }
        #expect(more.count == 1 && more[0].message.contains("202 files"), "\(more)")
    }

    @Test("a folder with names in blanks, accents and folders is built, verified and unpacked")
    func names() async throws {
        let folder = try Fixtures.folder(
            strings + [
                ("Logo groß.png", Fixtures.png(300)), ("images/a b.png", Fixtures.png(400)),
                ("images/old~", Fixtures.png(500)),
            ]
        )
        var order = String(decoding: Fixtures.order, as: UTF8.self)
        order.replace("logo.png", with: "Logo groß.png")
        let items = ["images/a b.png", "images/old~"].map { #"{"title":"A","quantity":1,"image":"\#($0)"}"# }
        order.replace(#"{"sch"#, with: #"{"lineItems":[\#(items.joined(separator: ","))],"sch"#)
        try folder.write(Array(order.utf8), to: "order.json")
        let source = try SourceFolder(folder.path)
        let (document, findings) = source.check()
        #expect(document != nil && source.leftOut == [])
        #expect(
            findings.map { "\($0.severity) \($0.code) \($0.path ?? $0.pointer?.description ?? "")" } == [
                "warning file-in-folder /lineItems/0/image", "warning file-in-folder /lineItems/1/image",
                "warning unusual-file-name /merchant/logo", "warning file-unused logo.png",
            ]
        )
        let package = try Fixtures.package(order: source.order, files: source.packageFiles())
        let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes)
        #expect(report.isValid && report.findings.map(\.code) == findings.map(\.code), "\(report.findings)")
        try folder.write(package.bytes, to: "out/a.order")
        let names = source.files.keys.sorted().map { "'\($0)'" }.joined(separator: " ")
        for command in [
            "unzip -q a.order -d u", "bsdtar -C b -xf a.order",
            "python3 -c 'import zipfile; zipfile.ZipFile(\"a.order\").extractall(\"p\")'",
        ] {
            let unpacked = command.contains("-d u") ? "u" : command.contains("bsdtar") ? "b" : "p"
            let result = try await shell(
                "export LC_ALL=C.UTF-8; cd \(folder.path)/out && mkdir \(unpacked) && \(command)"
                    + " && for f in \(names); do cmp \"../$f\" \"\(unpacked)/$f\"; done"
            )
            #expect(result.status == 0 && result.output == "", "\(command): \(result.output)")
        }
        withExtendedLifetime(folder) {}
    }

    @Test("a file that the order names is no leftover, whatever its name ends in")
    func namedLeftovers() throws {
        let folder = try Fixtures.folder([("a@2x.bak", Picture.png(600, 600)), ("b.bak", [1])])
        let text = String(decoding: Fixtures.order, as: UTF8.self).replacing("logo.png", with: "a.bak")
        try folder.write(Array(text.utf8), to: "order.json")
        let source = try SourceFolder(folder.path)
        #expect(source.leftOut == ["b.bak"])
        let (_, findings) = source.check()
        #expect(findings.map { "\($0.code) \($0.path ?? "")" } == ["file-unused logo.png"])
        let package = try Fixtures.package(order: source.order, files: source.packageFiles())
        let report = PackageVerifier(trust: [try Fixtures.authority().root]).verify(package.bytes)
        #expect(report.findings == findings)
    }

    @Test("links, pipes and two spellings of one name are errors; nothing is followed or waited for")
    func oddities() async throws {
        let folder = try Fixtures.folder([
            ("caf\u{E9}.png", Fixtures.png(300)), ("cafe\u{301}.png", Fixtures.png(300, seed: 2)),
        ])
        let made = try await shell(
            "cd \(folder.path) && ln -s /etc/passwd link.png && ln -s . around && mkfifo pipe.png"
        )
        #expect(made.status == 0)
        let source = try SourceFolder(folder.path)
        let (_, findings) = source.check()
        let errors = findings.filter(\.isError).map { "\($0.code) \($0.path ?? "")" }
        #expect(
            errors == [
                "not-a-file around", "names-differ-in-case caf\u{E9}.png", "not-a-file link.png", "not-a-file pipe.png",
            ],
            "\(errors)"
        )
        let linked = try TemporaryFolder()
        _ = try await shell("ln -s \(folder.path)/order.json \(linked.path)/order.json")
        #expect { try SourceFolder(linked.path) } throws: { ($0 as? OrderPackageError)?.code == .unreadableFile }
    }

    @Test("names that no package can hold, and files too large together, are errors before anything is signed")
    func refusedByTheBuilder() throws {
        let folder = try Fixtures.folder([("a\\b.png", Fixtures.png(300)), ("c\nd.png", Fixtures.png(300))])
        let source = try SourceFolder(folder.path)
        let errors = source.check().findings.filter(\.isError)
        #expect(Set(errors.map(\.code)) == ["zip-unsafe-path"])
        #expect(errors.map(\.path) == ["a\\b.png", "c\nd.png"])
        let unpacked = PackageVerifier().verify(files: [("a\\b.png", [1])])
        #expect(unpacked.findings.contains { $0.code == "zip-unsafe-path" && $0.path == "a\\b.png" })
        let language = try Fixtures.folder([("en.lproj", Fixtures.png(300))])
        let named = try SourceFolder(language.path).check().findings.filter(\.isError)
        #expect(named.map { "\($0.code) \($0.path ?? "")" } == ["zip-unsafe-path en.lproj"], "\(named)")
        let twice = PackageVerifier().verify(files: [("a", [1]), ("a/b.png", [1])])
        #expect(twice.findings.contains { $0.code == "zip-unsafe-path" && $0.path == "a" })
        let large = try Fixtures.folder([("a.png", Fixtures.png(2_600_000)), ("b.png", Fixtures.png(2_600_000))])
        let tooLarge = try SourceFolder(large.path).check().findings.filter(\.isError)
        #expect(tooLarge.map(\.code) == ["package-too-large"])
        #expect(tooLarge.first?.message.contains("a.png (2600008 bytes)") == true)
    }

    @Test("every reason why nothing was built is a finding with an explained code and a fix")
    func reasons() {
        for code in OrderPackageError.Code.allCases {
            let finding = OrderPackageError(code, path: "a.png", "it is so").finding
            #expect(PackageFindings.meaning(of: finding.code) != nil, "\(finding.code)")
            #expect(finding.isError && finding.message == "It is so." && finding.fix?.hasSuffix(".") == true)
        }
        #expect(OrderPackageError(.signing, "it is so").finding.code == "not-signed")
    }

    @Test("a damaged image is told, and so is an unusual one")
    func images() throws {
        func codes(_ image: [UInt8]) throws -> [String] {
            let folder = try Fixtures.folder([("logo.png", image)])
            return try withExtendedLifetime(folder) { try SourceFolder(folder.path).check().findings.map(\.code) }
        }
        #expect(try codes(Array(Fixtures.png(300).dropLast(20))) == ["image-damaged"])
        #expect(try codes(Picture.png(64, 64, colour: 6)) == ["image-size", "image-transparent"])
        #expect(try codes(Picture.jpeg(300, 300)) == [])
    }

    @Test("a folder whose order stands inside of a request's wrapper has one error, not ten")
    func wrapped() throws {
        let folder = try Fixtures.folder()
        try folder.write(Array("{\"order\":".utf8) + Fixtures.order + Array("}".utf8), to: "order.json")
        let (document, findings) = try SourceFolder(folder.path).check()
        #expect(document == nil)
        #expect(
            findings.map { "\($0.code) \($0.path ?? $0.pointer?.description ?? "")" } == [
                "unknown-member /order", "file-unused logo.png",
            ]
        )
    }

    @Test("a folder without an order, or that is none, says so")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: OrderPackageError.self) { try SourceFolder(folder.path) }
        #expect(error?.code == .unreadableFile)
        #expect(error?.path == "\(folder.path)/order.json")
        #expect(throws: OrderPackageError.self) { try SourceFolder("/nowhere") }
    }

    @Test("folders deep within each other and files from 5 MB are refused with findings")
    func bounds() throws {
        let deep = try Fixtures.folder([("a/b/c/d/e.txt", [1])])
        #expect { try SourceFolder(deep.path) } throws: { ($0 as? OrderPackageError)?.code == .tooLarge }
        let large = try Fixtures.folder([("logo.png", Fixtures.png(5_000_000)), ("note.txt", [1])])
        let source = try SourceFolder(large.path)
        let errors = source.check().findings.filter(\.isError)
        #expect(errors.map(\.code) == ["package-too-large"], "\(errors)")
        #expect(errors.first?.message.contains("logo.png (5000008 bytes), note.txt (1 bytes)") == true)
        #expect { try source.packageFiles() } throws: { ($0 as? OrderPackageError)?.code == .tooLarge }
        let many = try Fixtures.folder((0..<5).map { ("\($0).png", Fixtures.png(4_900_000 - $0)) })
        let all = try SourceFolder(many.path).check().findings.filter { $0.code == "package-too-large" }
        #expect(all.count == 1 && all[0].message.contains("0.png (4900008 bytes), 1.png") == true)
        let long = try Fixtures.folder()
        try long.write([UInt8](repeating: 0x20, count: 5_000_000), to: "order.json")
        #expect(try SourceFolder(long.path).check().findings.map(\.code) == ["order-too-large"])
        let unpacked = try Fixtures.folder([("a.png", Fixtures.png(11_000_000))])
        let told = PackageVerifier().verify(try UnpackedFolder(unpacked.path)).findings
        let sizes = told.filter { $0.code == "package-too-large" }
        // Those behind it are read all the same, and are not at fault.
        #expect(sizes.map(\.path) == ["a.png", ArchiveCheck.whole] && !told.contains { $0.code == "order-missing" })
        let several = try Fixtures.folder((0..<3).map { ("\($0).png", Fixtures.png(4_000_000)) })
        let sum = PackageVerifier().verify(try UnpackedFolder(several.path)).findings
            .filter { $0.code == "package-too-large" }
        #expect(sum.count == 1 && sum[0].message.contains("has 12000") == true, "\(sum)")
    }
}
