// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import Testing
import ZipFiles

@testable import OrderPackage

/// Packages that are made to cost whoever looks at them time or memory.
enum HostilePackage {
    /// A manifest that lists a path through very many folders.
    static func deepPath() throws -> [UInt8] {
        var parts = PackageParts()
        let path = String(repeating: "a/", count: 16_000) + "x"
        parts.replaceInManifest("}", ",\"\(path)\":\"\(String(repeating: "a", count: 64))\"}")
        return try parts.bytes()
    }

}

@Suite("Hostile packages")
struct HostilePackageTests {
    private func report(_ bytes: [UInt8]) throws -> (report: VerificationReport, elapsed: Duration) {
        let verifier = PackageVerifier(trust: [try Fixtures.authority().root])
        var report = VerificationReport()
        let elapsed = ContinuousClock().measure { report = verifier.verify(bytes) }
        print("verify \(elapsed / .milliseconds(1)) ms, \(report.findings.count) findings")
        return (report, elapsed)
    }

    @Test("a listed path through thousands of folders isn't looked for thousands of times, nor told in full")
    func deepPath() throws {
        let (report, elapsed) = try report(HostilePackage.deepPath())
        let finding = try #require(report.findings.first { $0.code == "manifest-file-missing" })
        #expect(finding.path?.hasPrefix("a/a/a/") == true && finding.path?.utf8.count == 255)
        #expect(report.findings.count == 1 && elapsed < .seconds(3))
    }

}
