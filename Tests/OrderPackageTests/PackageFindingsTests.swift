// SPDX-License-Identifier: Apache-2.0

import OrderModel
import TestPatience
import Testing
import ZipFiles

@testable import OrderPackage

@Suite("Catalogue of findings")
struct PackageFindingsTests {
    /// Texts in kebab-case that are no codes of this module's findings.
    private static let others: Set<String> = Set(OrderPackageError.Code.allCases.map(\.rawValue))
        .subtracting(["order-type-mismatch", "empty-file"])
        .union(FindingCatalogue.entries.map(\.code)).union(["zip-"])

    /// Every text in the module's sources that has the form of a code, and the codes made from the zip reader's.
    private func given() throws -> Set<String> {
        var codes = Set(ZipError.Code.allCases.map { ArchiveAdvice.code($0) })
        codes.formUnion(ZipNotice.Code.allCases.map { ArchiveAdvice.code($0) })
        codes.formUnion(try kebabTexts(of: "OrderPackage", but: ["PackageFindings.swift"]))
        return codes.subtracting(Self.others)
    }

    @Test("every code that the module gives out is explained, and no other")
    func complete() throws {
        let given = try given()
        let explained = PackageFindings.entries.map(\.code)
        #expect(given.subtracting(explained) == [])
        #expect(Set(explained).subtracting(given) == [])
        #expect(explained == Set(explained).sorted())
        #expect(PackageFindings.meaning(of: "hash-mismatch") != nil && PackageFindings.meaning(of: "x") == nil)
        #expect(Set(explained).isDisjoint(with: FindingCatalogue.entries.map(\.code)))
    }

    @Test("every code is given out by a test, which holds it to its place")
    func tested() {
        let codes = Set(
            (BrokenPackage.all.flatMap(\.expected) + ForeignPackage.all.flatMap(\.expected))
                .map { String($0.split(separator: " ")[1]) }
        )
        // Tested with identities, images and source folders.
        let elsewhere: Set = [
            "identity-ending", "identity-legacy-ciphers", "identity-passed-over", "image-damaged", "image-transparent",
            "not-a-file", "not-signed", "strings-too-many",
        ]
        #expect(Set(PackageFindings.entries.map(\.code)).subtracting(codes) == elsewhere)
    }
}
