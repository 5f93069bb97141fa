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

    // MARK: The last second

    @Test("a chain's last second is one of its validity, whatever else a verifier has seen, and the next is not")
    func lastSecond() throws {
        let end = authority.identity.chainNotAfter
        let files = [try PackageFile(path: "logo.png", asset: Asset(Fixtures.png()))]
        let early = try Fixtures.package(files: files).bytes
        let late = try Fixtures.package(files: files, at: end).bytes
        for packages in [[late], [early, late], [late, early]] {
            let verifier = verifier()
            for package in packages {
                let errors = verifier.verify(package).findings.filter(\.isError)
                #expect(errors == [])
            }
        }
        for (second, expected) in [(end - 1, []), (end, []), (end + 1, ["certificate-expired"])] {
            let report = PackageVerifier(trust: [authority.root], at: second).verify(early)
            #expect(report.findings.filter(\.isError).map(\.code) == expected, "\(second - end)")
        }
    }

    @Test("an identity whose chain is in date for one second alone is loaded, and signs that second")
    func singleSecond() throws {
        var template = TestAuthority.leafTemplate(try Fixtures.orderType(), now: Fixtures.now)
        template.notBefore = Fixtures.now
        template.notAfter = Fixtures.now
        let identity = try authority.issue(template)
        #expect(identity.chainNotBefore == identity.chainNotAfter)
        #expect(throws: Never.self) {
            try PackageBuilder(identity: identity).build(order: Fixtures.order, signingTime: Fixtures.now)
        }
    }
}
