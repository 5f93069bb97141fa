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
}
