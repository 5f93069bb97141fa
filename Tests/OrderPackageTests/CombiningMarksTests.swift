// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import ServiceRuntime
import TestPatience
import Testing

@testable import OrderPackage

/// Swift's own comparison of texts sorts each run of combining marks first, in the square of its length. Whoever sends a
/// package, or an order's files, may put such a run wherever there is a name or a text.
@Suite("Runs of combining marks")
struct CombiningMarksTests {
    /// 200 KB of marks that are in the wrong order, pair by pair. One comparison by Swift's `==` takes some seconds.
    private static let marks = "a" + String(repeating: "\u{301}\u{323}", count: 50_000)

    /// Far above what walks along the bytes take, and below one comparison of the other kind.
    private static let bound = Duration.seconds(2) * Patience.factor

    private func expectLinear(_ what: String, _ body: () throws -> Void) rethrows {
        let time = try Patience.processorTime(body)
        #expect(time < Self.bound, "\(what): \(time)")
    }

    private func report(_ bytes: [UInt8]) throws -> VerificationReport {
        let verifier = PackageVerifier(trust: [try Fixtures.authority().root])
        var report = VerificationReport()
        expectLinear("verify") { report = verifier.verify(bytes) }
        return report
    }

    @Test("as a path in the manifest cost the verifier no more than reading them")
    func manifest() throws {
        for path in [Self.marks, "lib/" + Self.marks, Self.marks + "/manifest.json"] {
            for value in ["\"\(String(repeating: "a", count: 64))\"", "1", "\"\(Self.marks)\""] {
                var parts = PackageParts()
                parts.replaceInManifest("}", ",\"\(path)\":\(value)}")
                #expect(!(try report(parts.bytes())).isValid)
            }
        }
    }

    @Test("as names of entries cost the verifier no more than reading them")
    func names() async throws {
        let folder = try TemporaryFolder()
        // Names as long as an archive can have them; several have to be compared with each other.
        let script = """
            import zipfile
            marks = '\\u0301\\u0323' * 16000
            with zipfile.ZipFile('out', 'w') as z:
                for name in ['%s', 'b%s', '.%s', '%s/.DS_Store', '%s/order.json', '%s.lproj/order.strings', 'c%s']:
                    z.writestr(name % marks, b'' if name[0] == 'c' else b'x')
            """
        try folder.write(Array(script.utf8), to: "make.py")
        let made = try await shell("cd \(folder.path) && python3 make.py")
        try #require(made.status == 0, "\(made.output)")
        let report = try report(Files.read("\(folder.path)/out"))
        #expect(report.files.count == 7)
        #expect(report.findings.count { $0.code == "zip-unsafe-path" } == 7)
    }

    @Test("as what an order names cost the verifier no more than reading them, whatever lies beside it")
    func order() throws {
        for member in ["logo", "displayName"] {
            var parts = PackageParts()
            let old = member == "logo" ? "\"logo.png\"" : "\"Shop\""
            parts.replaceInOrder(old, "\"\(Self.marks)\",\"\(Self.marks)\":1")
            for stray in [".x.png", "en.lproj/.y@2x.png", "#z#"] { parts.files.append((stray, Fixtures.png(60))) }
            let report = try report(parts.bytes())
            #expect(report.findings.count { $0.code == "stray-file" } == 3)
            #expect(report.findings.contains { $0.code == "unknown-member" })
            #expect(report.findings.contains { $0.code == "file-missing" } == (member == "logo"))
        }
        var other = PackageParts()
        other.replaceInOrder("\"order.com.example.shop\"", "\"\(Self.marks)\"")
        #expect(try report(other.bytes()).findings.contains { $0.code == "order-type-mismatch" })
    }

    @Test("in a source folder cost who validates or builds no more than reading them")
    func folder() throws {
        let text = String(decoding: Fixtures.order, as: UTF8.self)
        let named = text.replacing("\"logo.png\"", with: "\"\(Self.marks)\",\"\(Self.marks)\":1")
        let strays: [(String, [UInt8])] = [(".x.png", [1]), (".y/z.png", [1])]
        let builder = PackageBuilder(identity: try Fixtures.authority().identity)
        // Nearly as many names as are read, each nearly as long as a disk takes it.
        for isDeep in [true, false] {
            let files = (0..<150).map { number -> (String, [UInt8]) in
                let name = "\(number)" + String(repeating: "\u{301}\u{323}", count: 50)
                return (isDeep ? "en.lproj/\(name)/\(name)/\(name)" : "en.lproj/\(name)", [UInt8(1)])
            }
            let folder = try Fixtures.folder(files + strays)
            try folder.write(Array(named.utf8), to: "order.json")
            try expectLinear("folder") {
                let source = try SourceFolder(folder.path, output: folder.path + "/out.order")
                let (document, findings) = source.check(.init(unknownMembers: .warn))
                #expect(document == nil && findings.contains { $0.code == "bad-file-name" })
                #expect(source.leftOut == [".x.png", ".y"] && source.files.count == 151)
                if isDeep { return }
                _ = try builder.build(order: source.order, files: source.packageFiles(), signingTime: Fixtures.now)
            }
        }
    }
}
