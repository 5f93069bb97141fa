// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

@Suite struct StringsTests {
    private static let text = "/* a */ \"Bäcker\" = \"a \\\"b\\\" \\\\ c\\n\"; // 😀\nbare = \"x\ny\";\"k\";"

    static func encoded(_ text: String, _ encoding: String) -> [UInt8] {
        func units(big: Bool) -> [UInt8] {
            text.utf16.flatMap { unit in
                let pair = [UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit)]
                return big ? pair : pair.reversed()
            }
        }
        switch encoding {
        case "UTF-8 with mark": return [0xEF, 0xBB, 0xBF] + Array(text.utf8)
        case "UTF-16 little": return [0xFF, 0xFE] + units(big: false)
        case "UTF-16 big": return [0xFE, 0xFF] + units(big: true)
        case "UTF-16 little without mark": return units(big: false)
        case "UTF-16 big without mark": return units(big: true)
        default: return Array(text.utf8)
        }
    }

    @Test(arguments: [
        "UTF-8", "UTF-8 with mark", "UTF-16 little", "UTF-16 big", "UTF-16 little without mark",
        "UTF-16 big without mark",
    ])
    func `every encoding gives the same table`(_ encoding: String) throws {
        let table = try StringsTable.parse(Self.encoded(Self.text, encoding))
        #expect(
            table.entries == [
                .init(key: "Bäcker", text: "a \"b\" \\ c\n"), .init(key: "bare", text: "x\ny"),
                .init(key: "k", text: "k"),
            ]
        )
    }

    @Test(
        arguments: [
            ("\"a\" = \"b\"", .syntax, 1), ("\"a\" = \"b\";\n\"c\" = \"d\n\n", .unterminated, 2),
            ("\"a\" = \"say \"hi\"\";\n", .syntax, 1), ("\n\n\"a\" \"b\";", .syntax, 3), ("\n/* x", .unterminated, 2),
            ("\"a\" = \"1\";\r\n\"a\" = \"2\";", .duplicateKey, 2), ("\n= \"b\";", .syntax, 2),
            ("\"a\" = ;", .syntax, 1),
            ("{}", .syntax, 1),
        ] as [(String, StringsError.Code, Int)]
    )
    func `a broken file names the line`(_ text: String, _ code: StringsError.Code, _ line: Int) {
        do throws(StringsError) {
            _ = try StringsTable.parse(Array(text.utf8))
            Issue.record("\(text) was read")
        } catch {
            #expect(error.code == code && error.line == line, "\(error)")
        }
    }

    @Test func `bytes that are no text are refused`() {
        #expect(throws: StringsError.self) { try StringsTable.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: StringsError.self) { try StringsTable.parse([0xFF, 0xFE, 0x22]) }
        #expect(throws: StringsError.self) { try StringsTable.parse([0xFF, 0xFE, 0x00, 0xD8, 0x22, 0x00]) }
    }

    @Test func `escapes are read as they are meant`() throws {
        let table = try StringsTable.parse(Array(#""a" = "\U00e9\u00E9\t\'\101\UD83D\UDE00\q";"#.utf8))
        #expect(table["a"] == "éé\t'A😀q")
    }

    @Test func `what is written is read back, in ASCII or UTF-16 with a mark`() throws {
        let plain = StringsTable([.init(key: "a", text: "a \"b\" \\ c\n\r\t\u{1}\u{7F}")])
        #expect(plain.write().allSatisfy { $0 < 0x80 })
        #expect(try StringsTable.parse(plain.write()) == plain)
        let other = StringsTable([.init(key: "ä", text: "😀 ü"), .init(key: "b", text: "")])
        #expect(other.write().starts(with: [0xFF, 0xFE]))
        #expect(try StringsTable.parse(other.write()) == other)
        #expect(StringsTable([]).write().isEmpty)
        #expect(try StringsTable.parse([]).entries.isEmpty)
    }

    @Test func `random texts survive writing and reading`() throws {
        var random = SeededGenerator(seed: 1)
        let alphabet: [Unicode.Scalar] = ["a", "\"", "\\", "\n", "\r", "/", "*", ";", "=", "é", "😀", "\u{0}", "7", "U"]
        for _ in 0..<500 {
            let entries = (0..<3).map { index in
                var text = String.UnicodeScalarView()
                for _ in 0..<(random.next() % 12) { text.append(random.one(of: alphabet)) }
                return StringsTable.Entry(key: "\(index)" + String(text), text: String(text))
            }
            #expect(try StringsTable.parse(StringsTable(entries).write()).entries == entries)
        }
    }

    @Test func `a request's texts are read, and faults named`() throws {
        let good = StringsTable.read(["a": "b"])
        #expect(good.table?["a"] == "b" && good.findings.isEmpty)
        #expect(StringsTable.read(["a": 1]).findings.map(\.summary) == ["error wrong-type /a"])
        #expect(StringsTable.read([]).findings.map(\.summary) == ["error wrong-type "])
    }
}

@Suite struct LocalizationTests {
    private func tables() throws -> [LocaleIdentifier: StringsTable] {
        [
            try LocaleIdentifier("de"): try StringsTable.parse(Fixture.bytes("order-bakery.de.strings")),
            try LocaleIdentifier("en"): try StringsTable.parse(Fixture.bytes("order-bakery.en.strings")),
        ]
    }

    @Test func `the bakery's languages miss two texts, each told once with the near miss`() throws {
        let findings = LocalizationCheck.check(try Fixture.json("order-bakery-pickup.json"), try tables())
        #expect(
            findings.map(\.summary) == [
                "warning string-key /lineItems/0/title", "warning string-key /lineItems/1/title",
            ]
        )
        #expect(findings.last?.fix?.contains("\"CheeseCakeSlice\"") == true)
        #expect(findings.first?.fix?.contains("Did you mean") == false)
        #expect(try tables()[LocaleIdentifier("de")]?["NutWarning"] == "Kann Nüsse enthalten")
    }

    @Test func `languages with different keys are told`() throws {
        let findings = LocalizationCheck.check(
            try Fixture.json("order-vapor-minimal.json"),
            [
                try LocaleIdentifier("de"): StringsTable([.init(key: "a", text: "1")]),
                try LocaleIdentifier("fr"): StringsTable([.init(key: "a", text: "1"), .init(key: "b", text: "2")]),
            ]
        )
        #expect(findings.map(\.summary) == ["error strings-keys-differ de.lproj/order.strings"])
    }

    @Test func `an order without languages has nothing to compare`() throws {
        #expect(LocalizationCheck.check(try Fixture.json("order-bakery-pickup.json"), [:]).isEmpty)
    }
}
