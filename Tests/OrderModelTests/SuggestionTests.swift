// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// What findings propose: whoever copies it must get what was meant.
@Suite struct SuggestionTests {
    /// The findings of a whole order with some changes.
    private static func findings(_ changes: KeyValuePairs<String, JSONValue?>) throws -> [Finding] {
        var order = try JSONValue(text: ValidationTests.whole)
        for (pointer, value) in changes { order = try order.replacing(pointer, with: value) }
        return OrderDocument.validate(order).findings
    }

    /// What the finding of a code advises; nil when there is none.
    private static func fix(_ code: String, _ changes: KeyValuePairs<String, JSONValue?>) throws -> String? {
        try Self.findings(changes).first { $0.code == code }?.fix
    }

    // MARK: Currencies

    @Test(
        arguments: [
            ("RMB", "CNY"), ("CNH", "CNY"), ("NTD", "TWD"), ("UKP", "GBP"), ("USB", "USD"), ("EU", "EUR"),
            ("EURO", "EUR"),
            ("eur", "EUR"), ("JPX", "JPY"), ("nzd", "NZD"),
            // One letter off another money, in which nobody pays here, or off two of the common ones.
            ("BTC", nil), ("KZS", nil), ("CAF", nil), ("DEN", nil), ("XBT", nil), ("USDT", nil), ("GBX", nil),
            ("$", nil),
        ] as [(String, String?)]
    )
    func `no wrong money is proposed`(_ code: String, _ meant: String?) throws {
        let fix = try Self.fix("unknown-currency", ["/payment/total/currency": .string(code)])
        let plain = "Use the three capital letters of the currency."
        #expect(fix == (meant.map { "Did you mean \"\($0)\"? " } ?? "") + plain)
    }

    @Test func `the currency of the rest of an order is proposed before any other`() throws {
        let items: JSONValue = [["title": "A", "quantity": 1, "price": ["amount": "1", "currency": "KZT"]]]
        let fix = try Self.fix("unknown-currency", ["/lineItems": items, "/payment/total/currency": "KZS"])
        #expect(fix?.hasPrefix("Did you mean \"KZT\"?") == true)
        let swiss = try items.replacing("/0/price/currency", with: "CHF")
        let franc = try Self.fix("unknown-currency", ["/lineItems": swiss, "/payment/total/currency": "CAF"])
        #expect(franc?.hasPrefix("Did you mean \"CHF\"?") == true)
    }

    // MARK: Sums

    /// The items of these orders come to 0.5.
    @Test(
        arguments: [
            ([], "1.5", "The items add up to 0.5, the total says 1.5."),
            (["0.5"], "1.5", "The summary line says 0.5, the total says 1.5."),
            (["0.5", "0.2"], "1.7", "The summary lines add up to 0.7, the total says 1.7."),
            (["0.5", "0.2", "0.7"], "2", "The summary lines add up to 0.7, the total says 2."),
            (["0.5", "0.02"], "0.55", "The summary lines add up to 0.52, the total says 0.55."),
            (["0.5", "-0.1"], "-0.4", "The summary lines add up to 0.4, the total says -0.4."),
            (["0.2"], "0.8", "Items and summary lines add up to 0.7, the total says 0.8."),
        ] as [([String], String, String)]
    )
    func `a subtotal is not counted twice`(_ lines: [String], _ total: String, _ message: String) throws {
        let items = lines.map { amount in
            JSONValue.object(["label": "L", "value": ["amount": .string(amount), "currency": "USD"]])
        }
        let findings = try Self.findings([
            "/payment/total/amount": .string(total), "/payment/summaryItems": .array(items),
        ])
        #expect(findings.map(\.summary) == ["warning sum-mismatch /payment/total/amount"])
        #expect(findings.first?.message == message)
    }

    @Test func `a subtotal of goods by weight may be rounded`() throws {
        let third = JSONValue.number(try #require(JSONNumber("0.333")))
        let findings = try Self.findings([
            "/lineItems": [["title": "A", "quantity": third, "price": ["amount": "2.99", "currency": "USD"]]],
            "/payment/total/amount": "11",
            "/payment/summaryItems": [["label": "Subtotal", "value": ["amount": "1", "currency": "USD"]]],
        ])
        #expect(findings.first?.message == "The summary line says 1, the total says 11.")
    }

    // MARK: Fulfillments

    private static let parcel: JSONValue = [
        "fulfillmentType": "pickup", "fulfillmentIdentifier": "s", "status": "shipped", "carrier": "C",
        "trackingNumber": "1", "trackingURL": "https://www.example.com/t",
    ]
    private static let pickup: JSONValue = [
        "fulfillmentType": "shipping", "fulfillmentIdentifier": "s", "status": "readyForPickup", "displayName": "Store",
        "pickupAt": "2026-01-03T10:00:00Z",
    ]

    @Test func `a wrong type is one fault, not one of each other member`() throws {
        for (fulfillment, meant, members) in [
            (Self.parcel, "shipping", "carrier, trackingNumber and trackingURL"),
            (Self.pickup, "pickup", "displayName and pickupAt"),
        ] {
            let found = try Self.findings(["/fulfillments/0": fulfillment])
            #expect(found.map(\.summary) == ["error unknown-value /fulfillments/0/fulfillmentType"])
            #expect(found.first?.fix == "Did you mean \"\(meant)\"?")
            #expect(found.first?.message.contains(members) == true)
            // What is wrong of the type that is meant is told as such.
            let both = try Self.findings(["/fulfillments/0": try fulfillment.replacing("/status", with: "lost")])
            #expect(
                both.map(\.summary) == [
                    "error unknown-value /fulfillments/0/fulfillmentType", "error unknown-value /fulfillments/0/status",
                ]
            )
        }
    }

    @Test func `one member alone does not make the type a wrong one, nor do members that are let through`() throws {
        let stray = try Self.findings(["/fulfillments/1/carrier": "C"])
        #expect(stray.map(\.summary) == ["error unknown-member /fulfillments/1/carrier"])
        let order = try JSONValue(text: ValidationTests.whole).replacing("/fulfillments/0", with: Self.parcel)
            .replacing("/fulfillments/0/displayName", with: "Store").replacing("/fulfillments/0/status", with: "open")
        for unknown in [ValidationOptions.UnknownMembers.warn, .accept] {
            #expect(OrderDocument.validate(order, .init(unknownMembers: unknown)).document != nil)
        }
    }

    // MARK: Items

    @Test(arguments: [
        "cafe\u{301} cre\u{300}me", "Caf\u{E9} cr\u{E8}me ", " caf\u{E9}  cr\u{E8}me", "Caf\u{E9}\u{A0}cr\u{E8}me",
        "Caf\u{E9}\u{202F}\tcr\u{E8}me\u{200B}",
    ])
    func `a title is the same however its accents and blanks are written`(_ title: String) throws {
        let found = try Self.findings([
            "/lineItems/0/title": "Caf\u{E9} cr\u{E8}me",
            "/fulfillments/0/lineItems": [
                ["title": .string(title), "quantity": 3]
            ],
        ])
        #expect(found.isEmpty)
        let other = try Self.findings([
            "/lineItems/0/title": "Caf\u{E9} cr\u{E8}me",
            "/fulfillments/0/lineItems": [
                ["title": .string("\(title)s"), "quantity": 3]
            ],
        ])
        #expect(other.map(\.code) == ["item-not-ordered"])
    }

    @Test func `what comes back may be sent once more, and no more than that`() throws {
        func codes(_ quantity: JSONValue, _ status: JSONValue) throws -> [String] {
            let items: JSONValue = [["title": "A", "quantity": 3]]
            return try Self.findings([
                "/fulfillments/0/lineItems": items, "/fulfillments/0/status": "delivered",
                "/fulfillments/1/lineItems": [["title": "A", "quantity": quantity]],
                "/returns/0/lineItems": [["title": "A", "quantity": 2]], "/returns/0/status": status,
                "/returns/0/statusDescription": "As agreed",
            ]).map(\.code)
        }
        #expect(try codes(2, "completed").isEmpty)
        #expect(try codes(3, "completed") == ["more-than-ordered"])
        #expect(try codes(2, "cancelled") == ["more-than-ordered"])
    }

    // MARK: Names

    @Test func `names of other systems are told their own`() throws {
        #expect(try Self.fix("unknown-member", ["/orderDate": "2026-01-01T10:00:00Z"]) == "Use createdAt.")
        for (format, meant) in [("QR", "qr"), ("PDF417", "pdf417"), ("Aztec", "aztec"), ("Code128", "code128")] {
            let fix = try Self.fix("unknown-value", ["/barcode/format": .string("PKBarcodeFormat" + format)])
            #expect(fix?.hasPrefix("Did you mean \"\(meant)\"?") == true)
        }
    }

    @Test(arguments: ["data:image/png;base64,iVBORw0KGgo=", "DATA:,x", "data:image/png;base64,a//b", "data:,/"])
    func `an image inside of the order is an error of its own words`(_ logo: String) throws {
        for text in [logo, logo + String(repeating: "A", count: 3_000)] {
            let found = try Self.findings(["/merchant/logo": .string(text)])
            #expect(found.count == 1 && found.first?.isError == true, "\(found)")
            let code = text.utf8.count > 255 || text.hasSuffix("/") || text.contains("//")
            #expect(found.first?.code == (code ? "bad-file-name" : "file-embedded"))
            #expect(found.first?.message.contains("data: URL") == true)
            #expect(found.first?.fix?.contains("as a file") == true)
        }
    }

    @Test func `what customers are shown has something in it`() throws {
        for text in ["", "  ", "\u{A0}\n"] {
            for (pointer, count) in [
                ("/merchant/displayName", 1), ("/lineItems/0/title", 1), ("/fulfillments/1/notes", 0),
            ] {
                let found = try Self.findings([pointer: .string(text)])
                #expect(found.map(\.summary) == Array(repeating: "warning empty-text \(pointer)", count: count))
            }
        }
    }

    // MARK: Locales

    @Test(
        arguments: [
            ("zh_CN", "zh-CN"), ("pt_BR", "pt-BR"), ("zh_Hans_CN", "zh-Hans-CN"), ("en_US.UTF-8", "en-US"),
            ("en-UK", "en-GB"), ("en_uk", "en-GB"), ("jp", "ja"), ("jp-JP", "ja-JP"), ("German", "de"),
            ("deu_AT", "de-AT"),
            ("xy", nil), ("Base", nil), ("", nil), ("en-XY", nil), ("klingon", nil),
        ] as [(String, String?)]
    )
    func `a folder's name is told the language it most likely means`(_ name: String, _ meant: String?) {
        let plain = "Name the folder as in fr.lproj, pt-BR.lproj or zh-Hans.lproj."
        let expected = (meant.map { "Did you mean \($0).lproj? " } ?? "") + plain
        #expect(LocaleIdentifier.advice(for: name) == expected)
        let findings = (try? LocaleIdentifier(name))?.findings ?? []
        for finding in findings { #expect(finding.code == "unknown-locale" && finding.fix == expected) }
    }

    @Test func `an interface says it, too`() {
        let error = #expect(throws: IdentifierError.self) { try LocaleIdentifier("zh_CN") }
        #expect(error?.fix.hasPrefix("Did you mean \"zh-CN\"?") == true)
    }

    @Test(arguments: [("iw", "he"), ("in", "id"), ("iw-IL", "he-IL"), ("ji", "yi")])
    func `a withdrawn code is told its successor`(_ name: String, _ meant: String) throws {
        let findings = try LocaleIdentifier(name).findings
        #expect(findings.map(\.code) == ["unknown-locale"])
        #expect(findings.first?.message.hasPrefix("Devices ask for \"\(meant).lproj\"") == true)
        #expect(findings.first?.fix == "Rename the folder to \(meant).lproj.")
    }
}
