// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import Testing
import ZipFiles

@testable import OrderPackage

@Suite("Broken packages")
struct BrokenPackageTests {
    private func lines(_ findings: [Finding]) -> [String] {
        findings.map { "\($0.severity.rawValue) \($0.code) \($0.pointer?.description ?? $0.path ?? "")" }.sorted()
    }

    /// Long runs of findings of one code are compared by their code alone.
    private func shortened(_ lines: [String]) -> [String] {
        lines.count < 50
            ? lines
            : lines.map { $0.hasPrefix("error") ? $0.split(separator: " ").prefix(2).joined(separator: " ") : $0 }
    }

    @Test(
        "each is told with exactly the findings it deserves, and each finding with a reason and a fix",
        arguments: BrokenPackage.all
    )
    func findings(broken: BrokenPackage) throws {
        let verifier = PackageVerifier(trust: [try Fixtures.authority().root])
        let bytes = try broken.bytes()
        let clock = ContinuousClock()
        var report = VerificationReport()
        let elapsed = clock.measure { report = verifier.verify(bytes) }
        print("verify \(elapsed / .milliseconds(1)) ms: \(broken.testDescription)")
        let found = shortened(lines(report.findings))
        #expect(found == broken.expected.sorted(), "\(broken.testDescription): \(found)")
        #expect(report.isValid == !broken.expected.contains { $0.hasPrefix("error") })
        for finding in report.findings {
            #expect(finding.message.hasSuffix("."), "\(finding)")
            #expect(finding.fix?.hasSuffix(".") == true, "\(finding)")
            #expect(
                PackageFindings.meaning(of: finding.code) ?? FindingCatalogue.meaning(of: finding.code) != nil,
                "\(finding.code) is in no catalogue"
            )
        }
    }

    @Test("the table is as large as it should be, and no two of its packages have one name")
    func size() {
        #expect(BrokenPackage.all.count >= 80)
        #expect(Set(BrokenPackage.all.map(\.testDescription)).count == BrokenPackage.all.count)
    }

    @Test("a package cut off anywhere is refused")
    func cuts() throws {
        let bytes = try PackageParts().bytes()
        let verifier = PackageVerifier(trust: [try Fixtures.authority().root])
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(!verifier.verify(Array(bytes.prefix(count))).isValid, "cut off after \(count)")
        }
    }
}
