// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import Testing

@testable import OrderPackage

/// What decides between valid and not: neither how much else is told of, nor what was verified before, nor what the
/// package happens to list first.
@Suite("Verdicts")
struct VerdictTests {
    private let authority: TestAuthority

    init() throws { authority = try Fixtures.authority() }

    private func verifier(_ intermediates: [Certificate] = []) -> PackageVerifier {
        PackageVerifier(trust: [authority.root], intermediates: intermediates)
    }

    private func told(_ report: VerificationReport) -> [String] {
        report.findings.map { "\($0.severity.rawValue) \($0.code)" }.sorted()
    }

    // MARK: Cutting the list of findings

    @Test("an error behind a hundred warnings of its code is told, and the package isn't valid")
    func manyWarnings() throws {
        var parts = PackageParts()
        for number in 100..<205 { parts.files.append(("\(number).bak", [1])) }
        parts.files.append(("z/.DS_Store", [1]))
        let report = verifier().verify(try parts.bytes())
        #expect(!report.isValid)
        #expect(report.findings.filter(\.isError).map(\.path) == ["z/.DS_Store"])
        let strays = report.findings.filter { $0.code == "stray-file" && $0.severity == .warning }
        #expect(strays.count == 100)
        let more = report.findings.filter { $0.code == "more-findings" }.map(\.message)
        #expect(more == ["There are 5 more warnings of stray-file."])
    }
}
