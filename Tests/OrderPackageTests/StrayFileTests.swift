// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OrderPackage

@Suite("Stray files")
struct StrayFileTests {
    @Test(
        "leftovers of systems and editors are told from files, wherever in a path they stand",
        arguments: [
            (".DS_Store", true), ("en.lproj/.DS_Store", true), ("__MACOSX/logo.png", true), ("a/__MACOSX", true),
            ("Thumbs.db", true), ("desktop.ini", true), ("logo.png~", true), ("~", true), (".swp", true),
            ("a/.logo.png.swp", true), ("logo.swo", true), ("order.json.bak", true), ("x.tmp/logo.png", true),
            ("#logo.png#", true), ("#", true), ("##", true), (".", true), ("a//.b", true), (".\u{308}x", true),
            ("logo.png", false), ("en.lproj/order.strings", false), ("#logo.png", false), ("logo#", false),
            ("thumbs.db", false), ("MACOSX", false), ("__MACOSX.png", false), ("a.b", false), ("", false), ("/", false),
            ("swp", false), ("tmp", false), ("a~b", false), ("bak.png", false),
        ]
    )
    func matching(path: String, isStray: Bool) {
        #expect(StrayFile.matches(path) == isStray)
    }

    @Test("only a dot hides a file or a folder")
    func hidden() {
        for path in [".a", "a/.b/c", ".swp"] { #expect(StrayFile.isHidden(path), "\(path)") }
        for path in ["a", "a.b", "a/b.", "~", "logo.png~", "#a#", ""] { #expect(!StrayFile.isHidden(path), "\(path)") }
    }
}
