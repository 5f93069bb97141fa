// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import ServiceRuntime
import Testing

@testable import OrderPackage

/// What lies in source folders and unpacked packages that doesn't belong there.
@Suite("Folders with foreign files")
struct FolderCaseTests {
    private func errors(_ findings: [Finding]) -> [String] {
        findings.filter(\.isError).map { "\($0.code) \($0.path ?? "")" }.sorted()
    }

    @Test("B42 a former package in the folder is no part of the next, under whatever name it was written")
    func formerPackages() throws {
        let folder = try Fixtures.folder()
        let names = ["a.order", "B.ORDER", "c.pkpass", "sub/out.zip"]
        let first = try SourceFolder(folder.path, output: "\(folder.path)/sub/out.zip")
        for name in names { try folder.write([1], to: name) }
        let second = try SourceFolder(folder.path, output: "\(folder.path)/sub/../sub/out.zip")
        #expect(second.leftOut == ["B.ORDER", "a.order", "c.pkpass", "sub/out.zip"])
        #expect(first.files == second.files && first.files.keys.sorted() == ["logo.png"])
        // Elsewhere, it is a file as any other.
        #expect(try SourceFolder(folder.path).files.keys.sorted() == ["logo.png", "sub/out.zip"])
    }

    @Test("names that are the package's own in other case are errors")
    func reservedNames() throws {
        let folder = try Fixtures.folder([("Signature", [1]), ("Manifest.json", [1]), ("ORDER.json", [1])])
        let source = try SourceFolder(folder.path)
        #expect(
            errors(source.check().findings) == [
                "reserved-name Manifest.json", "reserved-name ORDER.json", "reserved-name Signature",
            ]
        )
        #expect { try source.packageFiles() } throws: { ($0 as? OrderPackageError)?.code == .badPath }
    }

    @Test("B09 the strings file of a pass is told by its name")
    func passStrings() throws {
        let folder = try Fixtures.folder([("en.lproj/pass.strings", Array(#""Shop" = "Shop";"#.utf8))])
        let findings = try SourceFolder(folder.path).check().findings
        let finding = try #require(findings.first { $0.code == "strings-missing" })
        #expect(finding.message.contains("pass.strings") && finding.fix == "Rename pass.strings to order.strings.")
    }

    @Test("what is said of a folder's texts and of a file there leads to one and the same cure")
    func misnamedStrings() throws {
        let strings = Array(#""Shop" = "Shop";"#.utf8)
        for name in ["pass.strings", "Localizable.strings", "ORDER.strings"] {
            let folder = try Fixtures.folder([("en.lproj/\(name)", strings)])
            let findings = try SourceFolder(folder.path).check().findings
            #expect(findings.map(\.code).sorted() == ["file-unused", "strings-missing"])
            for finding in findings {
                #expect(finding.fix?.hasPrefix("Rename ") == true && finding.fix?.contains("order.strings") == true)
            }
        }
    }

    @Test("an empty file that is needed is to be written, not left out")
    func emptyFiles() throws {
        func fixes(_ path: String) throws -> [String?] {
            let folder = try Fixtures.folder([("en.lproj/order.strings", Array(#""Shop" = "Shop";"#.utf8))])
            try folder.write([], to: path)
            let source = try SourceFolder(folder.path)
            let own = source.check().findings.filter { $0.code == "empty-file" }.map(\.fix)
            let error = #expect(throws: OrderPackageError.self) { try source.packageFiles() }
            let packed = PackageVerifier().verify(try UnpackedFolder(folder.path)).findings
            return own + [error?.finding.fix] + packed.filter { $0.code == "empty-file" }.map(\.fix)
        }
        let texts = try fixes("en.lproj/order.strings")
        #expect(texts.count == 3 && Set(texts).count == 1 && texts[0]?.contains("leave its whole folder out.") == true)
        let logo = try fixes("logo.png")
        #expect(logo.count == 3 && Set(logo).count == 1 && logo[0]?.hasPrefix("Put the file itself there, or") == true)
        let order = PackageVerifier().verify(files: [("order.json", [])]).findings.first { $0.code == "empty-file" }
        #expect(order?.fix?.hasPrefix("Write its contents") == true)
    }

    @Test("a strings file in other case is to be renamed")
    func stringsFileInOtherCase() throws {
        let folder = try Fixtures.folder([("en.lproj/Order.strings", Array(#""Shop" = "Shop";"#.utf8))])
        let findings = try SourceFolder(folder.path).check().findings
        let missing = try #require(findings.first { $0.code == "strings-missing" })
        #expect(missing.fix == "Rename Order.strings to order.strings.")
        let unused = try #require(findings.first { $0.code == "file-unused" })
        #expect(unused.fix?.contains("Rename") == true)
    }

    @Test("of a folder with more names than any package, whatever they are, no more are looked at")
    func manyNames() async throws {
        let folder = try Fixtures.folder()
        // With order.json and logo.png there are as many as are looked at. Links are at fault, each by itself.
        let made = try await shell("cd \(folder.path) && seq 9000 | xargs touch && seq -f 'ln -s / l%g' 998 | sh")
        #expect(made.status == 0, "\(made.output)")
        #expect(try SourceFolder(folder.path).check().findings.count { $0.code == "not-a-file" } > 900)
        #expect(throws: Never.self) { try UnpackedFolder(folder.path) }
        try folder.write([1], to: "z")
        let errors = [
            #expect(throws: OrderPackageError.self) { try SourceFolder(folder.path) },
            #expect(throws: OrderPackageError.self) { try UnpackedFolder(folder.path) },
        ]
        #expect(Set(errors).count == 1)
        #expect(errors[0]?.code == .tooManyFiles && errors[0]?.message.contains("more than 10000 files") == true)
    }

    @Test("names that aren't UTF-8, links and pipes are findings of a source folder and of an unpacked package")
    func unreadableEntries() async throws {
        let folder = try Fixtures.folder()
        let made = try await shell(
            "cd \(folder.path) && touch $'\\xff.png' && mkdir $'\\xfe' && ln -s /etc link.png && mkfifo pipe.png"
        )
        #expect(made.status == 0, "\(made.output)")
        let expected = [
            "not-a-file link.png", "not-a-file pipe.png", "zip-bad-name \u{FFFD}", "zip-bad-name \u{FFFD}.png",
        ]
        #expect(errors(try SourceFolder(folder.path).check().findings) == expected)
        let unpacked = PackageVerifier().verify(try UnpackedFolder(folder.path))
        #expect(errors(unpacked.findings).filter { $0.hasPrefix("not-a") || $0.hasPrefix("zip") } == expected)
        #expect(unpacked.checked.contains("order") && unpacked.files.count == 6)
    }
}
