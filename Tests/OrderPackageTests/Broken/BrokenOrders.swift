// SPDX-License-Identifier: Apache-2.0

import Cryptography

@testable import OrderPackage

extension BrokenPackage {
    private static func order(
        _ title: String,
        _ expected: [String],
        _ old: String,
        _ new: String
    ) -> BrokenPackage {
        BrokenPackage(title, expected) { $0.replaceInOrder(old, new) }
    }

    private static func files(
        _ title: String,
        _ expected: [String],
        _ change: @escaping @Sendable (inout PackageParts) throws -> Void
    ) -> BrokenPackage { BrokenPackage(title, expected, change) }

    private static let strings = Array(#""Shop" = "b";"#.utf8)

    private static let pdf = Array("%PDF-1.7\n%".utf8) + [0xE2, 0xE3, 0xCF, 0xD3, 0x0A]

    /// The documents of an order: a receipt and a label for a return.
    static func documents(_ receipt: String, _ label: String) -> String {
        #"""
        "payment":{"status":"paid","total":{"amount":5,"currency":"EUR"},"transactions":[{"amount":{"amount":5,"currency":"EUR"},\#
        "createdAt":"2026-01-01T00:00:00Z","paymentMethod":{"displayName":"Card"},"status":"completed",\#
        "transactionType":"purchase","receipt":"\#(receipt)"}]},\#
        "returns":[{"returnIdentifier":"r","status":"open","returnLabel":"\#(label)"}]
        """#
    }

    private static func documents(_ title: String, _ expected: [String], _ files: [(String, [UInt8])]) -> BrokenPackage
    {
        BrokenPackage(title, expected) {
            $0.replaceInOrder("{\"sch", "{\(documents(files[0].0, files[1].0)),\"sch")
            $0.files += files
        }
    }

    /// `order.json` and what it names.
    static let orders: [BrokenPackage] = [
        BrokenPackage("an empty order", ["error empty-file order.json"]) { $0.order = [] },
        BrokenPackage("an order that is no JSON", ["error json-syntax order.json"]) { $0.order = Array("{,}".utf8) },
        BrokenPackage("an order that is a list", ["error wrong-type ", "warning file-unused logo.png"]) {
            $0.order = Array("[]".utf8)
        },
        BrokenPackage("an order nested too deep", ["error order-too-large order.json"]) {
            $0.order = [UInt8](repeating: 0x5B, count: 5_000)
        },
        BrokenPackage("an order of more than a million values", ["error order-too-large order.json"]) {
            $0.order = Array("[\(String(repeating: "1,", count: 1_000_000))1]".utf8)
        },
        BrokenPackage("an order of objects beyond number", ["error order-too-large order.json"]) {
            $0.order = Array("[\(String(repeating: #"{"a":{}},"#, count: 150_000))1]".utf8)
        },
        order(
            "an order of another type",
            ["error order-type-mismatch /orderTypeIdentifier"],
            "order.com.example.shop",
            "order.com.example.Shop"
        ),
        order("a member missing", ["error missing-member /orderType"], #""orderType":"ecommerce","#, ""),
        order("a status that Wallet doesn't know", ["error unknown-value /status"], #""open""#, #""shipped""#),
        order(
            "a member that Wallet doesn't know",
            ["warning unknown-member /receipts"],
            "{\"sch",
            "{\"receipts\":[],\"sch"
        ),
        order(
            "a quantity as a text",
            ["error numeric-string /lineItems/0/quantity"],
            "{\"sch",
            #"{"lineItems":[{"title":"Bread","quantity":"2"}],"sch"#
        ),
        order(
            "a date with fractions, and a null",
            ["warning fractional-seconds /updatedAt", "warning null-member /customer"],
            #""updatedAt":"2026-01-01T00:00:00Z""#,
            #""customer":null,"updatedAt":"2026-01-01T00:00:00.5Z""#
        ),
        BrokenPackage("an order behind a byte order mark", ["warning byte-order-mark order.json"]) {
            $0.order = PackageBuilder.mark + $0.order
        },
        BrokenPackage("a manifest behind a byte order mark", ["warning byte-order-mark manifest.json"]) {
            $0.manifest = PackageBuilder.mark + $0.honestManifest()
        },
        files("an image that is named like a leftover", []) {
            $0.files[0].0 = "a.bak"
            $0.replaceInOrder("logo.png", "a.bak")
        },
        order(
            "a date as a number",
            ["error wrong-type /updatedAt"],
            #""updatedAt":"2026-01-01T00:00:00Z""#,
            #""updatedAt":1"#
        ),
        order(
            "a web service without token, and not secure",
            ["error insecure-url /webServiceURL", "error missing-member /authenticationToken"],
            "{\"sch",
            #"{"webServiceURL":"http://www.example.com/","sch"#
        ),
        files("texts in Latin-1", ["error strings-encoding en.lproj/order.strings"]) {
            $0.files.append(("en.lproj/order.strings", Array(#""Shop" = ""#.utf8) + [0xE9] + Array(#"";"#.utf8)))
        },
        files("texts in UTF-8 and in UTF-16", []) {
            let utf16 = #""Shop" = "ä";"#.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            $0.files.append(("en.lproj/order.strings", Array(#""Shop" = "é";"#.utf8)))
            $0.files.append(("de.lproj/order.strings", [0xFF, 0xFE] + utf16))
        },
        files("a logo in another case", ["error file-missing /merchant/logo", "warning file-unused Logo.png"]) {
            $0.files[0].0 = "Logo.png"
        },
        files(
            "an accent that the manifest and the order write in another way than the archive",
            [
                "error manifest-entry-missing lo\u{308}go.png", "error manifest-file-missing l\u{F6}go.png",
                "warning names-differ-in-case /merchant/logo", "warning unusual-file-name /merchant/logo",
            ]
        ) {
            $0.files[0].0 = "lo\u{308}go.png"
            $0.replaceInOrder("logo.png", "l\u{F6}go.png")
            $0.manifest = Manifest.bytes([
                ("l\u{F6}go.png", SHA256.hash($0.files[0].1).hex), ("order.json", SHA256.hash($0.order).hex),
            ])
        },
        files("a logo as Xcode writes it for iOS", ["note image-apple-only logo.png"]) {
            $0.files[0].1.insert(contentsOf: Picture.chunk("CgBI", [0x50, 0, 0x20, 2]), at: 8)
        },
        files("a logo for the largest screens that isn't large", ["warning image-size logo@3x.png"]) {
            $0.files.append(("logo@3x.png", Picture.png(300, 300)))
        },
        files("a small logo", ["warning image-size logo.png"]) { $0.files[0].1 = Picture.png(100, 100) },
        files("a logo that is PDF", ["error file-format logo.png"]) { $0.files[0].1 = Array("%PDF-1.7".utf8) },
        files("a logo that is GIF", ["error file-format logo.png"]) { $0.files[0].1 = Array("GIF89a".utf8) },
        files("a logo that is WebP", ["error file-format logo.png"]) {
            $0.files[0].1 = Array("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ".utf8)
        },
        files("a logo that is a page", ["error file-format logo.png"]) { $0.files[0].1 = Array("<html>".utf8) },
        files("an empty logo", ["error empty-file logo.png"]) { $0.files[0].1 = [] },
        files("a file that nothing names", ["warning file-unused icon.png"]) {
            $0.files.append(("icon.png", Fixtures.png(30)))
        },
        documents("a receipt and a label that are PDF", [], [("receipt.pdf", pdf), ("label.pdf", pdf)]),
        documents(
            "a receipt and a label that are images",
            [],
            [("receipt.png", Picture.png(1_240, 1_754)), ("label.jpg", Picture.jpeg(640, 480))]
        ),
        documents(
            "a receipt that is a page, and a label that is a text",
            ["error file-format label.pdf", "error file-format receipt.pdf"],
            [("receipt.pdf", Array("<html>%PDF-1.7".utf8)), ("label.pdf", Array("PDF-1.7".utf8))]
        ),
        documents(
            "a receipt that is empty, and a label that isn't there",
            [
                "error empty-file receipt.pdf", "error file-missing /returns/0/returnLabel",
                "warning file-unused other.pdf",
            ],
            [("receipt.pdf", []), ("label.pdf", pdf)]
        ).renaming("label.pdf", "other.pdf"),
        files("empty texts", ["error empty-file en.lproj/order.strings"]) {
            $0.files.append(("en.lproj/order.strings", []))
        },
        files("broken texts", ["error strings-syntax en.lproj/order.strings"]) {
            $0.files.append(("en.lproj/order.strings", Array(#""Shop" = "say "b"";"#.utf8)))
        },
        files(
            "texts that differ in keys",
            ["error strings-keys-differ de.lproj/order.strings", "error strings-keys-differ en.lproj/order.strings"]
        ) {
            $0.files.append(("en.lproj/order.strings", strings))
            $0.files.append(("de.lproj/order.strings", Array(#""c" = "d";"#.utf8)))
        },
        files(
            "a localization folder with no texts and no language",
            [
                "error locale-name english.lproj", "error strings-missing english.lproj",
                "warning localized-file-overridden logo.png",
            ]
        ) {
            $0.files.append(("english.lproj/logo.png", Fixtures.png(30)))
        },
        files(
            "pass.strings, as in passes",
            ["error strings-missing en.lproj", "warning file-unused en.lproj/pass.strings"]
        ) {
            $0.files.append(("en.lproj/pass.strings", strings))
        },
        files("an image in one language only", ["error localized-file-missing /merchant/logo"]) {
            $0.files[0].0 = "en.lproj/logo.png"
            $0.files.append(("en.lproj/order.strings", strings))
            $0.files.append(("de.lproj/order.strings", strings))
        },
        files("an image at the top and localized", ["warning localized-file-overridden logo.png"]) {
            $0.files.append(("en.lproj/logo.png", Fixtures.png(30)))
            $0.files.append(("en.lproj/order.strings", strings))
        },
    ]
}

extension BrokenPackage {
    /// The same, with a file under another name than the order's.
    fileprivate func renaming(_ old: String, _ new: String) -> BrokenPackage {
        BrokenPackage(testDescription, expected) { parts in
            try change(&parts)
            for index in parts.files.indices where parts.files[index].0 == old { parts.files[index].0 = new }
        }
    }
}
