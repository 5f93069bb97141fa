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

    // MARK: Several certificates of one key

    /// The authority's intermediate as it was issued for another time: same name, same key.
    private func reissued(_ change: (inout CertificateTemplate) -> Void) throws -> Certificate {
        var template = TestCertificates.intermediate("G4", Fixtures.now)
        change(&template)
        return try template.issue(for: authority.intermediateKey, issuer: (authority.root, authority.rootKey))
    }

    private func expired() throws -> Certificate {
        try reissued {
            $0.notBefore = Fixtures.now - 900_000
            $0.notAfter = Fixtures.now - 1
        }
    }

    @Test("of two embedded issuers with one key the one in date counts, in whatever order they stand")
    func embeddedIssuers() throws {
        let (old, early) = (try expired(), try reissued { $0.notBefore = Fixtures.now + 1 })
        for other in [old, early] {
            for embedded in [[other, authority.intermediate], [authority.intermediate, other]] {
                var parts = PackageParts()
                parts.embedded = embedded
                let report = verifier().verify(try parts.bytes())
                #expect(told(report) == ["note certificate-unneeded"])
                let note = report.findings.first { $0.code == "certificate-unneeded" }
                #expect(note?.message.contains("another of the same key") == true, "\(note?.message ?? "")")
            }
        }
    }

    @Test("an embedded issuer that is out of date doesn't hide a known one in date")
    func knownIssuer() throws {
        let old = try expired()
        var parts = PackageParts()
        parts.embedded = [old]
        let bytes = try parts.bytes()
        #expect(told(verifier([old, authority.intermediate]).verify(bytes)) == ["warning intermediate-wrong"])
        #expect(told(verifier().verify(bytes)) == ["error certificate-expired"])
    }

    @Test("of two trusted roots with one key the one in date counts")
    func roots() throws {
        var template = TestCertificates.root(Fixtures.now)
        template.notAfter = Fixtures.now - 1
        let old = try template.issue(for: authority.rootKey, issuer: nil)
        let bytes = try PackageParts().bytes()
        for trusted in [[old, authority.root], [authority.root, old]] {
            #expect(told(PackageVerifier(trust: trusted).verify(bytes)) == [])
        }
        #expect(told(PackageVerifier(trust: [old]).verify(bytes)) == ["error certificate-expired"])
    }

    @Test("of two issuers with one key that are given, or found in the identity's file, the one that ends last signs")
    func signingIssuers() throws {
        let old = try expired()
        let (leaf, key) = (authority.identity.certificate, authority.identity.key)
        for issuers in [[old, authority.intermediate], [authority.intermediate, old]] {
            let given = try SigningIdentity(certificate: leaf, key: key, intermediates: issuers)
            #expect(given.intermediate == authority.intermediate)
            let found = try SigningIdentity(certificate: leaf, key: key, given: [], found: issuers, findings: [])
            #expect(found.intermediate == authority.intermediate)
        }
        // One that only has the right names is no issuer, however long it lasts.
        var template = TestCertificates.intermediate("G4", Fixtures.now)
        template.notAfter += 86_400
        template.hasKeyIdentifiers = false
        let identifier = try #require(authority.intermediate.subjectKeyIdentifier)
        template.privateExtensions.append(.init(oid: "2.5.29.14", der: DER.octetString(identifier)))
        let pretender = try template.issue(for: .generateRSA(), issuer: (authority.root, authority.rootKey))
        #expect(pretender.subjectKeyIdentifier == identifier)
        let identity = try SigningIdentity(
            certificate: leaf,
            key: key,
            intermediates: [pretender, authority.intermediate]
        )
        #expect(identity.intermediate == authority.intermediate)
    }
}
