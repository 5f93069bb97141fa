// SPDX-License-Identifier: Apache-2.0

import Cryptography

@testable import OrderPackage

extension BrokenPackage {
    private static let pdf = Array("%PDF-".utf8)

    /// Where files lie, and which.
    static let places: [BrokenPackage] = [
        BrokenPackage("no manifest", ["error manifest-missing manifest.json"]) { $0.leavesOut = ["manifest.json"] },
        BrokenPackage("no order", ["error manifest-file-missing order.json", "error order-missing order.json"]) {
            $0.leavesOut = ["order.json"]
        },
        BrokenPackage("no signature", ["error signature-missing signature"]) { $0.leavesOut = ["signature"] },
        BrokenPackage(
            "everything in a folder",
            [
                "error enclosing-folder x.order", "error manifest-missing manifest.json",
                "error order-missing order.json", "error signature-missing signature",
            ]
        ) { $0.prefix = "x.order/" },
        BrokenPackage("Finder's metadata", ["error stray-file .DS_Store"]) { $0.files.append((".DS_Store", [1])) },
        BrokenPackage("an editor's swap file", ["warning stray-file .order.json.swp"]) {
            $0.files.append((".order.json.swp", [1]))
        },
        BrokenPackage(
            "resource forks",
            ["error manifest-entry-missing __MACOSX/._logo.png", "warning stray-file __MACOSX/._logo.png"]
        ) {
            $0.manifest = $0.honestManifest()
            $0.files.append(("__MACOSX/._logo.png", [1]))
        },
        BrokenPackage("a file not listed", ["error manifest-entry-missing extra.txt", "warning file-unused extra.txt"])
        {
            $0.manifest = $0.honestManifest()
            $0.files.append(("extra.txt", [1]))
        },
        BrokenPackage(
            "a file not listed whose name only looks like a listed one",
            [
                "error manifest-entry-missing a\u{212A}.pdf", "warning file-unused a\u{212A}.pdf",
                "warning file-unused aK.pdf", "warning zip-similar-names a\u{212A}.pdf",
            ]
        ) {
            $0.files.append(("aK.pdf", pdf))
            $0.manifest = $0.honestManifest()
            $0.files.append(("axyz.pdf", pdf))
            $0.edit = { bytes in
                ArchiveEdit.both("axyz.pdf", 6, 2, 0x800)(&bytes)
                ArchiveEdit.rename("axyz.pdf", Array("a\u{212A}.pdf".utf8))(&bytes)
            }
        },
        BrokenPackage(
            "a file whose name only looks like the listed one",
            [
                "error manifest-entry-missing a\u{212A}.pdf", "error manifest-file-missing aK.pdf",
                "warning file-unused a\u{212A}.pdf",
            ]
        ) {
            $0.files.append(("aK.pdf", pdf))
            $0.manifest = $0.honestManifest()
            $0.files[1].0 = "a\u{212A}.pdf"
        },
        BrokenPackage(
            "a file listed with its accent in one letter and zipped with it in two",
            [
                "error manifest-entry-missing e\u{301}.pdf", "error manifest-file-missing \u{E9}.pdf",
                "warning file-unused e\u{301}.pdf",
            ]
        ) {
            $0.files.append(("\u{E9}.pdf", pdf))
            $0.manifest = $0.honestManifest()
            $0.files[1].0 = "e\u{301}.pdf"
        },
        BrokenPackage(
            "files whose names are the package's own in other case",
            ["Order.json", "Signature"].flatMap { ["error reserved-name \($0)", "warning file-unused \($0)"] }
                + ["warning zip-similar-names Order.json", "warning zip-similar-names signature"]
        ) {
            $0.files += [("Order.json", [1]), ("Signature", [1])]
        },
        BrokenPackage(
            "a listed file that isn't there",
            ["error file-missing /merchant/logo", "error manifest-file-missing logo.png"]
        ) { $0.leavesOut = ["logo.png"] },
        BrokenPackage("an image changed after signing", ["error hash-mismatch logo.png"]) {
            $0.manifest = $0.honestManifest()
            $0.files[0].1 = Fixtures.png(70)
        },
        BrokenPackage("the order changed after signing", ["error hash-mismatch order.json"]) {
            $0.manifest = $0.honestManifest()
            $0.order.append(0x0A)
        },
    ]

    private static let digest = String(repeating: "a", count: 64)

    private static func manifest(_ title: String, _ expected: [String], _ text: String) -> BrokenPackage {
        BrokenPackage(title, expected) { $0.manifest = Array(text.utf8) }
    }

    /// `manifest.json`.
    static let manifests: [BrokenPackage] = [
        manifest("an empty manifest", ["error empty-file manifest.json"], ""),
        manifest("a manifest that is a list", ["error manifest-form manifest.json"], "[]"),
        manifest("a manifest that is a property list", ["error manifest-syntax manifest.json"], "<plist/>"),
        manifest("a manifest with a comment", ["error manifest-syntax manifest.json"], "{} // sums"),
        manifest(
            "a manifest that lists nothing",
            ["error manifest-entry-missing logo.png", "error manifest-entry-missing order.json"],
            "{}"
        ),
        manifest(
            "digests of SHA-1, as in passes",
            ["error manifest-sha1 logo.png", "error manifest-sha1 order.json"],
            #"{"logo.png":"\#(digest.prefix(40))","order.json":"\#(digest.prefix(40))"}"#
        ),
        manifest(
            "a digest in Base64 and one as a number",
            ["error manifest-digest-form logo.png", "error manifest-form order.json"],
            #"{"logo.png":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=","order.json":1}"#
        ),
        manifest(
            "digests of MD5 and of SHA-512",
            ["error manifest-digest-form logo.png", "error manifest-digest-form order.json"],
            #"{"logo.png":"\#(digest.prefix(32))","order.json":"\#(digest)\#(digest)"}"#
        ),
        manifest(
            "a digest that is an object",
            ["error manifest-form order.json", "error manifest-sha1 logo.png"],
            #"{"logo.png":"\#(digest.prefix(40))","order.json":{"sha256":"\#(digest)"}}"#
        ),
        BrokenPackage("a manifest that lists a path twice", ["error manifest-syntax manifest.json"]) {
            let text = String(decoding: $0.honestManifest(), as: UTF8.self)
            $0.manifest = Array((text.dropLast() + "," + text.dropFirst()).utf8)
        },
        manifest(
            "a manifest of more values than a package has files",
            ["error manifest-too-large manifest.json"],
            #"{"x":[\#(String(repeating: "1,", count: 5_000))1]}"#
        ),
        BrokenPackage("a comma before the brace", ["error manifest-syntax manifest.json"]) {
            $0.replaceInManifest("}", ",}")
        },
        BrokenPackage("a manifest in UTF-16", ["error manifest-syntax manifest.json"]) {
            $0.manifest = [0xFF, 0xFE] + $0.honestManifest().flatMap { [$0, 0] }
        },
        BrokenPackage(
            "digests in upper case",
            ["warning manifest-digest-case logo.png", "warning manifest-digest-case order.json"]
        ) {
            let all = [("order.json", $0.order)] + $0.files
            $0.manifest = Manifest.bytes(all.map { ($0.0, SHA256.hash($0.1).hex.uppercased()) })
        },
        BrokenPackage("a manifest that lists the signature", ["error manifest-lists-itself signature"]) {
            $0.replaceInManifest("}", #","signature":"\#(digest)"}"#)
        },
        BrokenPackage("a manifest that lists itself", ["error manifest-lists-itself manifest.json"]) {
            $0.replaceInManifest("}", #","manifest.json":"\#(digest)"}"#)
        },
        BrokenPackage(
            "paths with ./ in front",
            [
                "error manifest-entry-missing logo.png", "error manifest-entry-missing order.json",
                "error manifest-file-missing ./logo.png", "error manifest-file-missing ./order.json",
            ]
        ) {
            $0.replaceInManifest("logo.png", "./logo.png")
            $0.replaceInManifest("order.json", "./order.json")
        },
        BrokenPackage(
            "the folder in the paths",
            ["error manifest-entry-missing logo.png", "error manifest-file-missing x.order/logo.png"]
        ) { $0.replaceInManifest("logo.png", "x.order/logo.png") },
        BrokenPackage("the digests swapped", ["error hash-mismatch logo.png", "error hash-mismatch order.json"]) {
            let digests = ($0.files[0].1, $0.order)
            $0.manifest = Manifest.bytes([
                ("logo.png", SHA256.hash(digests.1).hex), ("order.json", SHA256.hash(digests.0).hex),
            ])
        },
        BrokenPackage("a manifest edited after signing", ["error signature-digest-mismatch signature"]) {
            let manifest = $0.honestManifest()
            $0.signature = try $0.honestSignature(manifest)
            $0.manifest = manifest + [0x0A]
        },
        BrokenPackage(
            "a manifest whose line ends were changed for signing",
            ["error signature-digest-mismatch signature"]
        ) {
            $0.replaceInManifest(",", ",\n")
            let manifest = String(decoding: $0.manifest ?? [], as: UTF8.self)
            $0.signature = try $0.honestSignature(Array(manifest.replacing("\n", with: "\r\n").utf8))
        },
        BrokenPackage(
            "a manifest that lists 150 files too many",
            Array(repeating: "error manifest-file-missing", count: 100) + ["note more-findings ."]
        ) {
            let more = (100..<250).map { #","\#($0).png":"\#(digest)""# }.joined()
            $0.replaceInManifest("}", more + "}")
        },
    ]
}
