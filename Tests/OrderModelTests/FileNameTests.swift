// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Files that the order names, against those that are there.
@Suite struct FileNameTests {
    private func check(_ names: [String], _ paths: [String]) throws -> FileNameCheck {
        let items = names.map { JSONValue.object(["title": "A", "quantity": 1, "image": .string($0)]) }
        return FileNameCheck(.object(["lineItems": .array(items)]), paths: paths)
    }

    private func found(_ names: [String], _ paths: [String]) throws -> [String] {
        try check(names, paths).findings.map(\.summary)
    }

    @Test func `a file is found under its name, in other resolutions, and without its extension`() throws {
        #expect(try found(["a.png"], ["a.png"]) == [])
        #expect(try found(["a.png"], ["a@2x.png", "a@3x.png"]) == [])
        #expect(try found(["a"], ["a@2x.jpg"]) == [])
        // A dot alone makes no extension; a picture's extension is not left off.
        #expect(try found(["a.v2"], ["a.v2.png"]) == [])
        #expect(try found(["a.v2"], ["de.lproj/a.v2@2x.png"]) == [])
        #expect(
            try found(["a.PNG"], ["a.PNG.jpg"]) == [
                "error file-missing /lineItems/0/image", "warning file-unused a.PNG.jpg",
            ]
        )
        #expect(try check(["a.png", "a.png"], ["a@2x.png"]).used.map(\.path) == ["a@2x.png"])
    }

    @Test func `a missing file is an error wherever it is named, and an unused one a warning`() throws {
        #expect(
            try found(["a.png", "b.png", "a.png"], ["b.png", "c.png"]) == [
                "error file-missing /lineItems/0/image", "error file-missing /lineItems/2/image",
                "warning file-unused c.png",
            ]
        )
        let findings = try check(["Logo.png", "cake.png"], ["logo.png", "cakes.png"]).findings
        #expect(findings.first?.fix == "There is \"logo.png\"; upper and lower case count.")
        #expect(findings.dropFirst().first?.fix?.contains("\"cakes.png\"") == true)
    }

    @Test func `files of an order with faults are compared, too`() {
        let order: JSONValue = ["orderIdentifier": 7, "merchant": ["logo": "a.png"]]
        #expect(FileNameCheck(order, paths: []).findings.map(\.summary) == ["error file-missing /merchant/logo"])
    }

    @Test func `a receipt has no resolutions`() {
        let order: JSONValue = ["payment": ["transactions": [["receipt": "r.png"]]]]
        #expect(
            FileNameCheck(order, paths: ["r@2x.png"]).findings.map(\.summary) == [
                "error file-missing /payment/transactions/0/receipt", "warning file-unused r@2x.png",
            ]
        )
    }

    @Test func `the top level wins over languages`() throws {
        #expect(
            try found(["a.png"], ["a.png", "de.lproj/a@2x.png", "de.lproj/order.strings"]) == [
                "warning localized-file-overridden a.png"
            ]
        )
    }

    @Test func `each language has the image in as many resolutions`() throws {
        #expect(try found(["a.png"], ["de.lproj/a.png", "en.lproj/a.png"]) == [])
        #expect(
            try found(["a.png", "a.png"], ["de.lproj/a.png", "de.lproj/a@2x.png", "en.lproj/a.png"]) == [
                "warning localized-resolutions-differ /lineItems/0/image"
            ]
        )
        #expect(
            try found(["a.png"], ["de.lproj/a.png", "en.lproj/order.strings"]) == [
                "error localized-file-missing /lineItems/0/image"
            ]
        )
    }

    @Test func `names without extension are found in every folder, in the right resolutions`() throws {
        #expect(
            try found(["a"], ["de.lproj/a@2x.png", "de.lproj/a@3x.png", "en.lproj/a@2x.jpg"]) == [
                "warning localized-resolutions-differ /lineItems/0/image"
            ]
        )
        #expect(
            try found(["a"], ["de.lproj/a.png", "en.lproj/b.png"]) == [
                "error localized-file-missing /lineItems/0/image", "warning file-unused en.lproj/b.png",
            ]
        )
        #expect(try found(["a@2x"], ["a@2x.png"]) == [])
        #expect(try found(["de.lproj/a"], ["de.lproj/a@3x.png"]) == [])
    }

    @Test func `very many names and files are told up to a limit`() throws {
        let names = (0..<2_000).map { "n\($0)" }
        let files = (0..<2_000).map { "l\($0 % 200)-\($0).png" } + (0..<200).map { "a\($0).lproj/x.png" }
        let findings = try check(names, files).findings
        #expect(findings.count { $0.code == "file-missing" } == 1_000)
        #expect(findings.count { $0.code == "file-unused" } == 1_000)
        #expect(findings.count { $0.code == "findings-cut-off" } == 2)
        let folders = (0..<50).map { "a\($0).lproj/x.png" } + ["b.lproj/y.png"]
        let missing = try check(["y.png"], folders).findings.first
        #expect(missing?.message.contains("a12.lproj and others") == true)
    }

    @Test func `names with blanks, accents and folders are found, localized, too`() throws {
        #expect(try found(["Logo groß.png", "a/b c.png"], ["Logo groß.png", "a/b c@2x.png"]) == [])
        #expect(try found(["a/b.png"], ["de.lproj/a/b.png", "en.lproj/a/b.png"]) == [])
        #expect(
            try found(["a/b.png"], ["b.png"]) == [
                "error file-missing /lineItems/0/image", "warning file-unused b.png",
            ]
        )
    }

    @Test func `an accent that order and file write in two ways is told`() throws {
        let composed = "gr\u{F6}\u{DF}e.png"
        let decomposed = "gro\u{308}\u{DF}e.png"
        #expect(try found([composed], [composed]) == [])
        #expect(try found([composed], [decomposed]) == ["warning names-differ-in-case /lineItems/0/image"])
        #expect(
            try found([decomposed], ["de.lproj/\(composed)", "en.lproj/\(decomposed)"]) == [
                "warning names-differ-in-case /lineItems/0/image"
            ]
        )
    }

    @Test func `one name is another file for a receipt than for an image`() throws {
        let receipt: JSONValue = ["transactions": [["receipt": "doc"]]]
        for order: JSONValue in [
            ["payment": receipt, "merchant": ["logo": "doc"]], ["merchant": ["logo": "doc"], "payment": receipt],
        ] {
            let check = FileNameCheck(order, paths: ["doc.png"])
            #expect(check.findings.map(\.summary) == ["error file-missing /payment/transactions/0/receipt"])
            #expect(check.used.map(\.path) == ["doc.png"])
        }
        // Both are missing: each is told.
        let none = FileNameCheck(["merchant": ["logo": "doc"], "payment": receipt], paths: [])
        #expect(none.findings.count == 2)
    }

    @Test func `a cure does not lead into the next error`() throws {
        func fix(_ name: String, _ paths: [String]) throws -> String { try check([name], paths).findings[0].fix ?? "" }
        #expect(try fix("logo.png", ["images/logo.png"]).contains("There is \"images/logo.png\""))
        #expect(try fix("logo.png", ["de.lproj/Logo.png"]).contains("There is \"de.lproj/Logo.png\""))
        #expect(try fix("a/logo.png", ["logo.png"]).contains("There is \"logo.png\""))
        // Nor does one finding name the file that the next one throws away.
        for (name, path) in [
            ("logo.png", "images/logo.png"), ("Logo.png", "logo.png"), ("cake.png", "cakes.png"),
            ("logo.png", "de.lproj/Logo.png"),
        ] {
            let unused = try check([name], [path]).findings.filter { $0.code == "file-unused" }
            #expect(unused.map(\.path) == [path])
            #expect(unused.first?.fix?.contains("Leave it out") == false && unused.first?.fix?.contains(name) == true)
        }
        for path in ["en.lproj/Order.strings", "en.lproj/ORDER.STRINGS", "en.LPROJ/order.strings"] {
            let fix = try #require(try check([], [path]).findings.first?.fix)
            #expect(fix.contains("Rename") && fix.contains("en.lproj/order.strings"), "\(fix)")
        }
        for name in ["pass.strings", "Localizable.strings"] {
            let misnamed = try check([], ["en.lproj/\(name)"])
            #expect(misnamed.findings.first?.fix == "Rename it to en.lproj/order.strings.")
            #expect(misnamed.misnamedStrings == [ExactKey("en.lproj"): name])
            for paths in [["en.lproj/\(name)", "en.lproj/order.strings"], ["\(name)", "en.lproj/a/\(name)"]] {
                let needless = try check([], paths)
                #expect(needless.findings.first?.fix?.hasPrefix("Leave it out") == true)
                #expect(needless.misnamedStrings == [:])
            }
        }
        let several = ["Localizable.strings", "pass.strings", "Order.strings"]
        #expect(try check([], several.map { "en.lproj/" + $0 }).misnamedStrings.values.first == "Order.strings")
        let both = try check([], ["en.lproj/Order.strings", "en.lproj/order.strings"]).findings
        #expect(both.first?.fix?.contains("Leave it out") == true)
        #expect(try check([], ["Order.strings"]).findings.first?.fix?.contains("en.lproj/order.strings") == true)
        let strings = try check([], ["order.strings"]).findings
        #expect(strings.map(\.summary) == ["warning file-unused order.strings"])
        #expect(strings.first?.fix?.contains("en.lproj/order.strings") == true)
    }

    @Test func `texts count at the top level only, and are told where they lie deeper`() throws {
        for (path, place) in [
            ("res/en.lproj/order.strings", "en.lproj/order.strings"), ("a/b/fr.lproj/order.strings", "fr.lproj/"),
            ("en.lproj/de.lproj/order.strings", "de.lproj/order.strings"),
        ] {
            let findings = try check([], [path]).findings
            #expect(findings.map(\.summary) == ["warning file-unused \(path)"])
            #expect(findings.first?.message.contains("at the top level") == true)
            #expect(findings.first?.fix?.hasPrefix("Move it to \(place)") == true)
        }
        #expect(try found([], ["de.lproj/order.strings", "zh-Hans.lproj/order.strings"]) == [])
        // The place is taken.
        let both = try check([], ["en.lproj/order.strings", "res/en.lproj/order.strings"]).findings
        #expect(both.map(\.summary) == ["warning file-unused res/en.lproj/order.strings"])
        #expect(both.first?.fix?.hasPrefix("Leave it out") == true)
        // In no localization folder.
        #expect(try check([], ["res/order.strings"]).findings.first?.message.contains("names this file") == true)
    }

    @Test func `a name of the package's own files can't be added, but changed`() throws {
        for name in ["order.json", "manifest.json", "signature", "Manifest.JSON"] {
            let missing = try check([name], []).findings
            #expect(missing.map(\.summary) == ["error file-missing /lineItems/0/image"])
            #expect(missing.first?.fix?.hasPrefix("Give the file another name") == true)
        }
    }

    @Test func `a URL is no file name, and Wallet loads nothing from the web`() {
        let error = #expect(throws: IdentifierError.self) { try FileName("https://www.example.com/logo.png") }
        #expect(error?.message.contains("from the web") == true && error?.code == .badForm)
    }

    @Test func `names that differ in case only are told`() {
        #expect(
            FileNameCheck.similarNames(["logo.png", "b.png", "Logo.png", "de.lproj/logo.png"]).map(\.summary) == [
                "warning names-differ-in-case logo.png"
            ]
        )
    }
}
