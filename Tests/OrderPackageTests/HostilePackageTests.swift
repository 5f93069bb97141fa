// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import ServiceRuntime
import TestPatience
import Testing
import ZipFiles

@testable import OrderPackage

/// Packages that are made to cost whoever looks at them time or memory.
enum HostilePackage {
    /// Entries that share their bytes, each of which promises nearly as much as a whole archive may hold.
    static func overlapping() throws -> [UInt8] {
        var writer = ZipWriter()
        try writer.add(StoredEntry(name: "000", contents: [UInt8](repeating: 1, count: 9_900_000), crc32: 7))
        var bytes = writer.finish().flatMap(\.self)
        let start = ArchiveEdit.record("000", bytes)
        let record = Array(bytes[start..<bytes.count - 22])
        let end = Array(bytes.suffix(22))
        bytes.removeSubrange(start...)
        for number in 1...200 {
            bytes += record
            for (place, digit) in [number / 100, number / 10 % 10, number % 10].enumerated() {
                bytes[bytes.count - 3 + place] = 0x30 + UInt8(digit)
            }
        }
        let size = bytes.count - start
        bytes += end
        ArchiveEdit.end(8, 2, 200)(&bytes)
        ArchiveEdit.end(10, 2, 200)(&bytes)
        ArchiveEdit.end(12, 4, size)(&bytes)
        return bytes
    }

    /// A manifest that lists a path through very many folders.
    static func deepPath() throws -> [UInt8] {
        var parts = PackageParts()
        let path = String(repeating: "a/", count: 16_000) + "x"
        parts.replaceInManifest("}", ",\"\(path)\":\"\(String(repeating: "a", count: 64))\"}")
        return try parts.bytes()
    }

    /// As much as is unpacked, in one file that is stored and in many that are deflated.
    static func full() async throws -> [[UInt8]] {
        let folder = try TemporaryFolder()
        let script = """
            import os, zipfile
            with zipfile.ZipFile('stored', 'w', 0) as z: z.writestr('a.txt', bytes(9_900_000))
            with zipfile.ZipFile('deflated', 'w', 8) as z:
                for i in range(190): z.writestr(f'{i}.lproj/order.strings', os.urandom(600) + bytes(51_000))
            """
        try folder.write(Array(script.utf8), to: "make.py")
        let made = try await shell("cd \(folder.path) && python3 make.py")
        try #require(made.status == 0, "\(made.output)")
        return [try Files.read("\(folder.path)/stored"), try Files.read("\(folder.path)/deflated")]
    }

    /// Far more languages and texts than any order has.
    static func manyTexts() throws -> [UInt8] {
        var parts = PackageParts()
        let strings = Array((0..<2_000).map { "\"k\($0)\";" }.joined().utf8)
        let letters = (0x61...0x7A).map { String(UnicodeScalar(UInt8($0))) }
        for language in letters.flatMap({ first in letters.map { first + $0 } }).prefix(190) {
            parts.files.append(("\(language).lproj/order.strings", strings))
        }
        return try parts.bytes()
    }
}

@Suite("Hostile packages")
struct HostilePackageTests {
    /// What a package costs the verifier in processor time, whatever else the machine does.
    private func report(_ bytes: [UInt8]) throws -> (report: VerificationReport, elapsed: Duration) {
        let verifier = PackageVerifier(trust: [try Fixtures.authority().root])
        var report = VerificationReport()
        let elapsed = Patience.processorTime { report = verifier.verify(bytes) }
        print("verify \(elapsed / .milliseconds(1)) ms, \(report.findings.count) findings")
        return (report, elapsed)
    }

    @Test("two hundred entries that share ten megabytes aren't unpacked two hundred times")
    func overlap() throws {
        let (report, elapsed) = try report(HostilePackage.overlapping())
        #expect(report.findings.contains { $0.code == "zip-overlap" } && !report.isValid)
        #expect(report.files.count == 200 && report.files.allSatisfy { $0.digest == nil })
        #expect(elapsed < .seconds(3) * Patience.factor)
    }

    @Test("a listed path through thousands of folders isn't looked for thousands of times, nor told in full")
    func deepPath() throws {
        let (report, elapsed) = try report(HostilePackage.deepPath())
        let finding = try #require(report.findings.first { $0.code == "manifest-file-missing" })
        #expect(finding.path?.hasPrefix("a/a/a/") == true && finding.path?.utf8.count == 255)
        #expect(report.findings.count == 1 && elapsed < .seconds(3) * Patience.factor)
    }

    @Test("texts in hundreds of languages are read up to a limit, and that is said once")
    func texts() throws {
        let (report, elapsed) = try report(HostilePackage.manyTexts())
        #expect(report.findings.filter { $0.code == "strings-too-many" }.count == 1)
        #expect(!report.isValid && elapsed < .seconds(30) * Patience.factor)
    }

    @Test("no broken or hostile package costs more than 64 MB of memory")
    func memory() async {
        // In a process of its own, where no other test's memory counts.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let verifier = PackageVerifier(trust: [try Fixtures.authority().root])
            var makers: [() throws -> [UInt8]] = [
                HostilePackage.overlapping, HostilePackage.deepPath, HostilePackage.manyTexts,
            ]
            for bytes in try await HostilePackage.full() { makers.append { bytes } }
            for broken in BrokenPackage.all { makers.append { try broken.bytes() } }
            var worst = 0
            for make in makers {
                let bytes = try make()
                let before = try await Memory.restartPeak()
                _ = verifier.verify(bytes)
                worst = max(worst, try Memory.peak() - before)
            }
            print("at most \(worst >> 20) MB")
            // The address sanitizer holds back what was freed, up to 256 MB.
            #expect(worst < (Patience.factor == 1 ? 64 : 64 + 256) << 20)
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}

/// What this process takes of the machine's memory, by Linux's own count.
private enum Memory {
    /// Forgets the highest figure so far, and gives the present one, in bytes.
    static func restartPeak() async throws -> Int {
        let done = try await shell("echo 5 > /proc/$PPID/clear_refs")
        try #require(done.status == 0, "\(done.output)")
        return try peak()
    }

    /// The highest figure since, in bytes.
    static func peak() throws -> Int {
        let text = String(decoding: try Files.read("/proc/self/status"), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ").dropLast().last ?? "")) << 10
    }
}
