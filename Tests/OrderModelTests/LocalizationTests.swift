// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Foundation
import TestPatience
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

    @Test func `what is too large, broken or not closed has a code of its own`() {
        func code(_ bytes: [UInt8]) -> String? {
            do throws(StringsError) {
                _ = try StringsTable.parse(bytes)
                return nil
            } catch {
                return Finding(strings: error, path: "en.lproj/order.strings").code
            }
        }
        func entries(_ count: Int) -> [UInt8] { Array((0..<count).map { "k\($0)=v;\n" }.joined().utf8) }
        #expect(code(entries(StringsTable.entryLimit)) == nil)
        #expect(code(entries(StringsTable.entryLimit + 1)) == "strings-limit")
        let comment = Array("/*".utf8) + Array(repeating: 0x20, count: StringsTable.byteLimit - 4) + Array("*/".utf8)
        #expect(code(comment) == nil)
        #expect(code(comment + [0x20]) == "strings-limit")
        #expect(code([0xFF]) == "strings-encoding")
        #expect(code(Array("\"a".utf8)) == "strings-unterminated")
        #expect(code(Array("a b".utf8)) == "strings-syntax")
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
            ("\n= \"b\";", .syntax, 2),
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

    @Test func `of a key that stands twice the last text counts, and each language is told`() throws {
        let bytes = Array("\"a\" = \"1\";\r\n\"b\" = \"2\";\n\"a\" = \"3\";".utf8)
        let table = try StringsTable.parse(bytes)
        #expect(table.entries == [.init(key: "a", text: "3"), .init(key: "b", text: "2")])
        #expect(table.repeated.map(\.line) == [3])
        let read = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        #expect((read as? [String: String])?["a"] == "3")
        let order = try Fixture.json("order-vapor-minimal.json")
            .replacing("/lineItems", with: [["title": "a", "quantity": 1, "subtitle": "b"]])
        let findings = LocalizationCheck.check(
            order,
            [try LocaleIdentifier("en"): table, try LocaleIdentifier("fr"): table]
        )
        #expect(
            findings.map(\.summary) == [
                "warning strings-duplicate-key en.lproj/order.strings",
                "warning strings-duplicate-key fr.lproj/order.strings",
            ]
        )
        #expect(findings.first?.line == 3)
    }

    @Test func `bytes that are no text are refused`() {
        #expect(throws: StringsError.self) { try StringsTable.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: StringsError.self) { try StringsTable.parse([0xFF, 0xFE, 0x22]) }
        #expect(throws: StringsError.self) { try StringsTable.parse([0xFF, 0xFE, 0x00, 0xD8, 0x22, 0x00]) }
    }

    @Test func `what Xcode compiles is named, and the source asked for`() {
        for text in ["bplist00\u{D1}", "<?xml version=\"1.0\"?><plist/>"] {
            let error = #expect(throws: StringsError.self) { try StringsTable.parse(Array(text.utf8)) }
            #expect(error?.code == .syntax && error?.message.contains("property list") == true)
        }
    }

    @Test func `keys that only look alike are two, and a text is only its own key`() throws {
        let table = try StringsTable.parse(Array("\"Caf\u{E9}\" = \"a\"; \"Cafe\u{301}\" = \"b\";".utf8))
        #expect(table.entries.count == 2 && table.repeated.isEmpty)
        #expect(table["Caf\u{E9}"] == "a" && table["Cafe\u{301}"] == "b")
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

    /// Foundation's reader of property lists knows this syntax, too; nobody here wrote it.
    @Test func `another reader reads what is written`() throws {
        var random = SeededGenerator(seed: 2)
        let alphabet: [Unicode.Scalar] = [
            "a", "\"", "\\", "\n", "\r", "\t", "/", "*", ";", "=", "é", "ü", "😀", "7", "U",
        ]
        for round in 0..<300 {
            let entries = (0..<3).map { index in
                var text = String.UnicodeScalarView()
                // Every other file is ASCII alone.
                let count = round % 2 == 0 ? alphabet.count : 10
                for _ in 0..<(random.next() % 12) { text.append(random.one(of: Array(alphabet.prefix(count)))) }
                return StringsTable.Entry(key: "\(index)" + String(text), text: String(text))
            }
            let bytes = StringsTable(entries).write()
            let read = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
            let texts = try #require(read as? [String: String])
            #expect(texts.count == 3)
            for entry in entries { #expect(texts[entry.key].map { Array($0.utf8) } == Array(entry.text.utf8)) }
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
        #expect(findings.first?.message.hasPrefix("1 key of other languages is missing: \"b\"") == true)
    }

    private func findings(_ order: JSONValue, _ texts: KeyValuePairs<String, [String: String]>) throws -> [Finding] {
        var tables: [LocaleIdentifier: StringsTable] = [:]
        for (name, entries) in texts {
            tables[try LocaleIdentifier(name)] = StringsTable(
                entries.sorted { $0.key < $1.key }.map { .init(key: $0.key, text: $0.value) }
            )
        }
        return LocalizationCheck.check(order, tables)
    }

    private func order(_ title: String) throws -> JSONValue {
        try Fixture.json("order-vapor-minimal.json")
            .replacing("/lineItems", with: [["title": .string(title), "quantity": 1]])
    }

    @Test func `a key that is no text of the order is told once for all languages`() throws {
        let found = try findings(order("A b"), ["en": ["A b": "1", "C": "2"], "fr": ["A b": "1", "C": "2"]])
        #expect(found.map(\.summary) == ["note strings-key-unused en.lproj/order.strings"])
        #expect(found.first?.message.contains("\"C\"") == true)
    }

    @Test func `when no key is used, nothing is translated, and the most likely slip is told`() throws {
        let found = try findings(order("Shirt"), ["en": ["shirt": "Shirt"], "fr": ["shirt": "Chemise"]])
        #expect(found.map(\.summary) == ["warning strings-key-unused en.lproj/order.strings"])
        #expect(found.first?.fix?.contains("Did you mean \"Shirt\" by \"shirt\"?") == true)
    }

    @Test func `keys that are kept for later are a note, also when the order uses none yet`() throws {
        let found = try findings(order("Shirt"), ["en": ["Handed over": "1"], "fr": ["Handed over": "2"]])
        #expect(found.map(\.summary) == ["note strings-key-unused en.lproj/order.strings"])
    }

    @Test func `languages are those of ISO 639-3, too`() throws {
        for name in ["yue", "ckb", "cmn-Hans", "de", "fil", "sr-Latn-RS"] {
            #expect(try LocaleIdentifier(name).findings.isEmpty, "\(name)")
        }
        #expect(try LocaleIdentifier("xq").findings.map(\.code) == ["unknown-locale"])
        #expect(try LocaleIdentifier("qzz").findings.map(\.code) == ["unknown-locale"])
    }

    @Test func `a thousand faults of a table are listed, and that there are more`() throws {
        let values = JSONObject((0..<60_000).map { ("k\($0)", JSONValue.number(JSONNumber(1))) })
        let (table, findings) = StringsTable.read(.object(values))
        #expect(table == nil && findings.count == 1_001 && findings.last?.code == "findings-cut-off")
    }

    @Test func `keys that are names want a language for everybody else`() throws {
        let named = try findings(order("NutWarning"), ["de": ["NutWarning": "Nüsse"]])
        #expect(named.map(\.summary) == ["note no-default-language de.lproj/order.strings"])
        #expect(try findings(order("NutWarning"), ["de": ["NutWarning": "1"], "en-GB": ["NutWarning": "2"]]).isEmpty)
        #expect(try findings(order("Contains nuts"), ["de": ["Contains nuts": "Nüsse"]]).isEmpty)
    }

    @Test func `a folder's name is a language as devices write it`() throws {
        func check(_ name: String) throws -> [String] {
            try findings(order("A b"), [name: ["A b": "1"]]).map(\.summary)
        }
        for name in ["de", "pt-BR", "zh-Hans", "zh-Hant-TW", "es-419", "fil"] {
            #expect(try check(name).isEmpty, "\(name)")
        }
        #expect(try check("DE") == ["warning locale-case DE.lproj"])
        #expect(try check("zh-hans") == ["warning locale-case zh-hans.lproj"])
        #expect(try check("xy") == ["warning unknown-locale xy.lproj"])
        #expect(try check("de-UK") == ["warning unknown-locale de-UK.lproj"])
        #expect(try check("zh-Abcd") == ["warning unknown-locale zh-Abcd.lproj"])
        // ISO 639 has these, too, but devices ask by the shorter code.
        for (name, asked) in [
            ("deu", "de"), ("ger", "de"), ("fra-CA", "fr-CA"), ("ZHO-hans", "zh-Hans"), ("chi", "zh"),
        ] {
            let findings = try LocaleIdentifier(name).findings
            let finding = try #require(findings.first)
            #expect(
                findings.map(\.code) == ["unknown-locale"] && finding.message.contains("\"\(asked).lproj\""),
                "\(finding)"
            )
            #expect(!finding.message.contains("no language"))
            #expect(finding.fix == "Rename the folder to \(asked).lproj.")
        }
        #expect(try check("deu-UK") == ["warning unknown-locale deu-UK.lproj", "warning unknown-locale deu-UK.lproj"])
        #expect(try LocaleIdentifier("ZH-hANS-cn").canonicalText == "zh-Hans-CN")
    }

    @Test func `a translation is as short as the text itself has to be`() throws {
        let found = try findings(order("A b"), ["en": ["A b": String(repeating: "x", count: 101)], "de": ["A b": "1"]])
        #expect(found.map(\.summary) == ["note text-too-long en.lproj/order.strings"])
    }

    @Test func `many keys in many languages are compared once each, and told up to a limit`() throws {
        var tables: [LocaleIdentifier: StringsTable] = [:]
        for (index, language) in ["de", "en", "fr", "it", "es", "pt", "nl", "sv", "da", "fi"].enumerated() {
            tables[try LocaleIdentifier(language)] = StringsTable(
                (0..<1_000).map { .init(key: String(repeating: "k", count: 56) + "\(index * 1_000 + $0)", text: "t") }
            )
        }
        let known = String(repeating: "k", count: 56)
        let titles = [known + "0"] + (0..<3_000).map { known + "x\($0)" }
        let items = titles.map { JSONValue.object(["title": .string($0), "quantity": 1]) }
        let order = try Fixture.json("order-vapor-minimal.json").replacing("/lineItems", with: .array(items))
        let findings = LocalizationCheck.check(order, tables)
        #expect(findings.count { $0.code == "string-key" } == 1_000)
        #expect(findings.count { $0.code == "findings-cut-off" } == 1)
        #expect(findings.count { $0.code == "strings-keys-differ" } == 10)
        #expect(findings.contains { $0.message.hasPrefix("9000 keys of other languages are missing") })
        #expect(findings.first { $0.code == "string-key" }?.fix?.contains("Did you mean") == true)
    }

    @Test func `a bounded distance is the whole one, or none`() {
        var random = SeededGenerator(seed: 3)
        /// The textbook's table, without bounds.
        func whole(_ left: [UInt8], _ right: [UInt8]) -> Int {
            var rows = [Array(0...right.count)]
            for row in 0..<left.count {
                rows.append([row + 1])
                for column in 0..<right.count {
                    let cost = left[row] == right[column] ? 0 : 1
                    var value = min(rows[row][column] + cost, rows[row][column + 1] + 1, rows[row + 1][column] + 1)
                    if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                        value = min(value, rows[row - 1][column - 1] + 1)
                    }
                    rows[row + 1].append(value)
                }
            }
            return rows[left.count][right.count]
        }
        for _ in 0..<5_000 {
            let left = (0..<(random.next() % 9)).map { _ in UInt8(97 + random.next() % 3) }
            let right = (0..<(random.next() % 9)).map { _ in UInt8(97 + random.next() % 3) }
            let limit = Int(random.next() % 8)
            let distance = whole(left, right)
            #expect(NearMiss.distance(left, right, limit: limit) == (distance <= limit ? distance : nil))
        }
    }

    @Test func `an order without languages has nothing to compare`() throws {
        #expect(LocalizationCheck.check(try Fixture.json("order-bakery-pickup.json"), [:]).isEmpty)
    }
}
