// SPDX-License-Identifier: Apache-2.0

import OrderModel
import ServiceRuntime
import Testing

@testable import OrderPackage

/// Manifests as they are seen in public, in a package that is none of theirs.
@Suite("Sample manifests")
struct SampleManifestTests {
    /// What the manifest's check says; its files aren't there, so that is most of it.
    private func findings(_ sample: String, _ change: (inout String) -> Void = { _ in }) throws -> [String] {
        let root = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        var text = String(decoding: try Files.read("\(root)/OrderModelTests/Fixtures/\(sample)"), as: UTF8.self)
        change(&text)
        let files = [("manifest.json", Array(text.utf8)), ("order.json", Fixtures.order), ("logo.jpg", [1])]
        let list = ManifestCheck(ArchiveCheck(files: files)).list
        return list.findings.map { "\($0.code) \($0.path ?? "")\($0.line.map { " line \($0)" } ?? "")" }.sorted()
    }

    @Test("a manifest of a package that Wallet takes is fine in form; its digests are of other files")
    func receipt() throws {
        #expect(
            try findings("manifest-receipt-jpeg-logo.json") == ["hash-mismatch logo.jpg", "hash-mismatch order.json"]
        )
    }

    @Test("Apple's own example isn't JSON, and without its last comma its digests have SHA-1's length")
    func documentation() throws {
        let sample = "fragment-doc-manifest-sha1-length.json.txt"
        #expect(try findings(sample) == ["manifest-syntax manifest.json line 10"])
        let mended = try findings(sample) { $0 = $0.replacing("\",\n}", with: "\"\n}") }
        #expect(mended.filter { $0.hasPrefix("manifest-sha1") }.count == 9)
        // The package's logo.jpg isn't in it.
        #expect(mended.filter { !$0.hasPrefix("manifest-sha1") } == ["manifest-entry-missing logo.jpg"])
    }
}
