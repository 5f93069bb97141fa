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

    @Test("a strings file in other case is to be renamed")
    func stringsFileInOtherCase() throws {
        let folder = try Fixtures.folder([("en.lproj/Order.strings", Array(#""Shop" = "Shop";"#.utf8))])
        let findings = try SourceFolder(folder.path).check().findings
        let missing = try #require(findings.first { $0.code == "strings-missing" })
        #expect(missing.fix == "Rename Order.strings to order.strings.")
        let unused = try #require(findings.first { $0.code == "file-unused" })
        #expect(unused.fix?.contains("Rename") == true)
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
