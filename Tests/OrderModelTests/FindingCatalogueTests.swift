// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import TestPatience
import Testing

@testable import OrderModel

@Suite struct FindingCatalogueTests {
    /// Texts in kebab-case that are no codes of findings.
    private static let others: Set<String> = Set(
        // One of these is a finding's code, too.
        Verdict.allCases.map(\.rawValue).filter { $0 != "type-mismatch" } + FileUse.allCases.map(\.rawValue)
            + [
                IdentifierError.Code.empty, .tooLong, .tooShort, .badCharacter, .badForm,
            ].map(\.rawValue) + [StringsError.Code.duplicateKey.rawValue, "date-time"]
    )

    /// Every text in the sources that has the form of a code.
    private func emitted() throws -> Set<String> {
        let made: Set<String> = Set(
            [StringsError.Code.encoding, .unterminated, .syntax, .duplicateKey, .limit].map { "strings-" + $0.rawValue }
        )
        // But for the list itself, and names that IANA gave.
        let written = try kebabTexts(of: "OrderModel", but: ["FindingCatalogue.swift", "CharacterSetName.swift"])
        return made.union(written).subtracting(Self.others)
    }

    @Test func `every code occurs in a test`() throws {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        var words: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name.hasSuffix("Tests.swift") && name != "FindingCatalogueTests.swift" {
            let data = try #require(FileManager.default.contents(atPath: folder + "/" + name))
            let pieces = [UInt8](data).split {
                !((0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D)
            }
            for piece in pieces where piece.contains(0x2D) { words.insert(String(decoding: piece, as: UTF8.self)) }
        }
        #expect(FindingCatalogue.entries.map(\.code).filter { !words.contains($0) } == [])
    }

    @Test func `every code that a check gives out is explained, and no other`() throws {
        let emitted = try emitted()
        let explained = Set(FindingCatalogue.entries.map(\.code))
        #expect(emitted.subtracting(explained).isEmpty)
        #expect(explained.subtracting(emitted).isEmpty)
        #expect(FindingCatalogue.entries.map(\.code) == explained.sorted())
        #expect(FindingCatalogue.meaning(of: "bad-date") != nil && FindingCatalogue.meaning(of: "x") == nil)
    }
}
