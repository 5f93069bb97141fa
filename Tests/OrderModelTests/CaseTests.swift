// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// One row of the list of cases that people really hit: changes to a valid order, and what a right validator says.
struct OrderCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let changes: KeyValuePairs<String, JSONValue?>
    let findings: [String]

    /// - Parameter row: the row's id in the list, then the gist.
    init(_ row: String, _ changes: KeyValuePairs<String, JSONValue?>, _ findings: String...) {
        self.testDescription = row
        self.changes = changes
        self.findings = findings
    }
}

/// Problems that developers reported with Wallet orders and passes, by the row of the list that they were gathered in.
@Suite struct CaseTests {
    private static let longToken: JSONValue = "0123456789abcdef"
    private static let shortToken: JSONValue = "0123456789abcde"

    static let orders: [OrderCase] = [
        .init("B03 version 1 needs payment.status", ["/payment/status": nil], "error missing-member /payment/status"),
        .init(
            "B03 version 2 does without",
            ["/payment/status": nil, "/schemaVersion": 2],
            "note schema-version-2 /schemaVersion"
        ),
        .init("B07 a self-contained order", ["/webServiceURL": nil, "/authenticationToken": nil]),
        .init(
            "B07 a token without a service",
            ["/webServiceURL": nil],
            "error missing-member /webServiceURL"
        ),
        .init(
            "B07 a service without a token",
            ["/authenticationToken": nil],
            "error missing-member /authenticationToken"
        ),
        .init("B14 a date as a number", ["/createdAt": 1_767_261_600], "error wrong-type /createdAt"),
        .init(
            "B18 a tracking link without carrier and number",
            ["/fulfillments/0/carrier": nil],
            "note tracking-without-carrier /fulfillments/0"
        ),
        .init("B52 a barcode's message as a number", ["/barcode/message": 123], "error wrong-type /barcode/message"),
        .init(
            "B53 a token of 15 characters",
            ["/authenticationToken": shortToken],
            "error token-too-short /authenticationToken"
        ),
        .init("B53 a token of 16 characters", ["/authenticationToken": longToken]),
        .init(
            "B54 a service without TLS",
            ["/webServiceURL": "http://www.example.com/"],
            "error insecure-url /webServiceURL"
        ),
        .init(
            "B78 the version in the URL",
            ["/webServiceURL": "https://www.example.com/v1"],
            "error web-service-url-version /webServiceURL"
        ),
        .init(
            "B78 the version in the URL, with a slash",
            ["/webServiceURL": "https://www.example.com/v1/"],
            "error web-service-url-version /webServiceURL"
        ),
        .init("B78 a slash at the end", ["/webServiceURL": "https://www.example.com/orders/"]),
        .init(
            "B92 a clock that went back",
            ["/updatedAt": "2026-01-01T09:00:00Z"],
            "error updated-before-created /updatedAt"
        ),
        .init(
            "D02 a quantity as text",
            ["/lineItems/0/quantity": "3"],
            "warning numeric-string /lineItems/0/quantity"
        ),
        .init("D03 an amount as a number", ["/payment/total/amount": .number(JSONNumber("0.50") ?? JSONNumber(0))]),
        .init("D06 D07 version 2 is read, with a note", ["/schemaVersion": 2], "note schema-version-2 /schemaVersion"),
    ]

    static let dates: [OrderCase] = [
        .init(
            "B56 milliseconds",
            ["/updatedAt": "2026-01-01T10:00:03.000Z"],
            "warning fractional-seconds /updatedAt"
        ),
        .init("B59 no offset", ["/updatedAt": "2026-01-01T10:00:00"], "error bad-date /updatedAt"),
        .init("B60 a serializer's default", ["/updatedAt": "/Date(1767261600000)/"], "error bad-date /updatedAt"),
        .init("B62 Z is right", ["/updatedAt": "2026-04-26T02:10:09Z"]),
        .init("B66 hours", ["/fulfillments/0/estimatedDeliveryWindowDuration": "PT2H"]),
        .init("B66 every unit", ["/fulfillments/0/estimatedDeliveryWindowDuration": "P0Y0M0DT0H30M0S"]),
        .init(
            "B66 a number of seconds",
            ["/fulfillments/0/estimatedDeliveryWindowDuration": 1800],
            "error wrong-type /fulfillments/0/estimatedDeliveryWindowDuration"
        ),
    ]

    @Test(arguments: orders + dates)
    func `a case has its right value`(_ row: OrderCase) throws {
        var order = try JSONValue(text: ValidationTests.whole)
        for (pointer, value) in row.changes { order = try order.replacing(pointer, with: value) }
        let (document, findings) = OrderDocument.validate(order)
        #expect(findings.map(\.summary).sorted() == row.findings.sorted())
        #expect((document == nil) == row.findings.contains { $0.hasPrefix("error") })
    }

    @Test func `B02 the copied order has one typo, and is valid without it`() throws {
        let order = try Fixture.json("order-usb-currency.json")
        #expect(
            OrderDocument.validate(order).findings.map(\.summary) == ["error unknown-currency /payment/total/currency"]
        )
        #expect(OrderDocument.validate(try order.replacing("/payment/total/currency", with: "USD")).findings.isEmpty)
    }

    @Test func `B14 B56 packages hold whole seconds, whatever was sent`() throws {
        let order = try JSONValue(text: ValidationTests.whole)
            .replacing("/updatedAt", with: "2026-01-01T11:00:03.000+01:00")
        let package = try JSONValue(parsing: #require(OrderDocument.validate(order).document).packageForm())
        #expect(package["updatedAt"] == "2026-01-01T10:00:03Z" && package["createdAt"] == "2026-01-01T10:00:00Z")
    }

    @Test(arguments: ["28.8", "28.80", "19.99", "0.1"])
    func `B64 money is kept as it was sent, number or text`(_ amount: String) throws {
        let number = JSONValue.number(try #require(JSONNumber(amount)))
        for value in [number, .string(amount)] {
            let order = try Fixture.json("order-vapor-minimal.json").replacing(
                "/payment",
                with: ["status": "paid", "total": .object(["amount": value, "currency": "USD"])]
            )
            let (document, findings) = OrderDocument.validate(order)
            #expect(findings.isEmpty)
            let package = try JSONValue(parsing: #require(document).packageForm())
            #expect(package["payment"]?["total"]?["amount"] == .string(amount))
        }
    }

    @Test func `B64 a tenth and two tenths are three tenths`() throws {
        let tenths = try #require(DecimalAmount("0.2"))
        let sum = try #require(DecimalAmount("0.1")?.adding(tenths))
        #expect(sum.description == "0.3" && sum == DecimalAmount("0.30"))
    }

    @Test func `B65 numbers, texts and totals that don't match are read, the last with a warning`() throws {
        let order = try JSONValue(text: ValidationTests.whole).replacing("/payment/total/amount", with: "0.51")
        let (document, findings) = OrderDocument.validate(order)
        #expect(document != nil && findings.map(\.summary) == ["warning sum-mismatch /payment/total/amount"])
    }

    @Test func `B48 every image that is named is there, and no icon is needed`() throws {
        let order = try Fixture.json("order-vapor-minimal.json")
        #expect(FileNameCheck(order, paths: ["pet_store_logo@3x.png"]).findings.isEmpty)
        #expect(FileNameCheck(order, paths: []).findings.map(\.summary) == ["error file-missing /merchant/logo"])
        #expect(
            FileNameCheck(order, paths: ["pet_store_logo.png", "icon.png"]).findings.map(\.summary)
                == ["warning file-unused icon.png"]
        )
    }

    @Test func `B49 quotes, backslashes and line ends survive, and a broken file names its line`() throws {
        let table = StringsTable([.init(key: "a \"b\" \\ c\n", text: "a \"b\" \\ c\n")])
        #expect(try StringsTable.parse(table.write()) == table)
        let broken = Array("\"a\" = \"1\";\n\"b\" = \"say \"hi\"\";\n".utf8)
        let error = #expect(throws: StringsError.self) { try StringsTable.parse(broken) }
        let finding = Finding(strings: try #require(error), path: "de.lproj/order.strings")
        #expect(finding.summary == "error strings-syntax de.lproj/order.strings" && finding.line == 2)
    }

    @Test(arguments: ["UTF-8", "UTF-8 with mark", "UTF-16 little", "UTF-16 big"])
    func `B50 D09 every encoding is read`(_ encoding: String) throws {
        let text = "/* a */ \"ä\" = \"ö\"; // b\n"
        #expect(try StringsTable.parse(StringsTests.encoded(text, encoding)).entries == [.init(key: "ä", text: "ö")])
    }

    @Test func `B50 D09 what is not ASCII is written as UTF-16 with a mark`() {
        #expect(StringsTable([.init(key: "ä", text: "ö")]).write().starts(with: [0xFF, 0xFE, 0x22, 0x00]))
        #expect(StringsTable([.init(key: "a", text: "o")]).write() == Array("\"a\" = \"o\";\n".utf8))
    }

    @Test func `D08 an image at the top level hides the localized ones`() throws {
        let order = try Fixture.json("order-vapor-minimal.json")
        let paths = ["pet_store_logo.png", "fr.lproj/pet_store_logo.png", "fr.lproj/order.strings"]
        #expect(
            FileNameCheck(order, paths: paths).findings.map(\.summary)
                == ["warning localized-file-overridden pet_store_logo.png"]
        )
    }
}

/// The bakery's order as a source folder: its two languages, and the images that it names.
@Suite struct BakeryFolderTests {
    @Test func `the bakery's folder has its sum and its two keys as warnings, and nothing else`() throws {
        let order = try Fixture.json("order-bakery-pickup.json")
        var tables: [LocaleIdentifier: StringsTable] = [:]
        for name in ["de", "en"] {
            tables[try LocaleIdentifier(name)] = try StringsTable.parse(Fixture.bytes("order-bakery.\(name).strings"))
        }
        let images = ["logo.png", "pastry.png", "cheesecake.png", "spongecake.png"]
        let paths = images + tables.keys.map { $0.folder + "/order.strings" }
        let findings =
            OrderDocument.validate(order).findings + FileNameCheck(order, paths: paths).findings
            + FileNameCheck.similarNames(paths) + LocalizationCheck.check(order, tables)
        #expect(
            findings.map(\.summary) == [
                "warning sum-mismatch /payment/summaryItems/0/value/amount", "warning string-key /lineItems/0/title",
                "warning string-key /lineItems/1/title",
            ]
        )
    }
}
