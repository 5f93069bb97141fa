// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Orders that people really wrote, each with what a right validator says.
@Suite struct SampleTests {
    private func findings(_ name: String) throws -> [String] {
        OrderDocument.validate(text: try Fixture.bytes(name)).findings.map(\.summary)
    }

    @Test func `the bakery order is valid, and its items do not add up to its subtotal`() throws {
        let (document, findings) = OrderDocument.validate(text: try Fixture.bytes("order-bakery-pickup.json"))
        #expect(document != nil)
        #expect(findings.map(\.summary) == ["warning sum-mismatch /payment/summaryItems/0/value/amount"])
        #expect(findings.first?.message.contains("26") == true && findings.first?.message.contains("24") == true)
    }

    @Test func `a currency with a typo is the one fault of an order, and nothing is summed with it`() throws {
        #expect(try findings("order-usb-currency.json") == ["error unknown-currency /payment/total/currency"])
        let corrected = try Fixture.json("order-usb-currency.json").replacing("/payment/total/currency", with: "USD")
        #expect(OrderDocument.validate(corrected).findings.isEmpty)
    }

    @Test func `the typo of the currency is recognised`() throws {
        let findings = OrderDocument.validate(text: try Fixture.bytes("order-usb-currency.json")).findings
        #expect(findings.first?.fix?.contains("USD") == true)
    }

    @Test func `the least order with a web service has nothing to say about`() throws {
        #expect(try findings("order-vapor-minimal.json").isEmpty)
    }

    @Test func `every fault of a wrong order is found in one pass, each at its own pointer`() throws {
        let found = try findings("order-invalid-planner.json")
        #expect(
            Set(found) == [
                "error missing-member /schemaVersion", "error wrong-type /status",
                "error missing-member /payment/status",
                "error wrong-type /payment/paymentMethods/0", "error missing-member /fulfillments/0/fulfillmentType",
                "error unknown-member /fulfillments/0/estimatedDeliveryDate",
                "error unknown-member /fulfillments/0/shippingAddress", "warning sum-mismatch /payment/total/amount",
            ]
        )
        #expect(found.count == 8)
    }

    @Test func `a misspelt member is told its right name`() throws {
        let findings = OrderDocument.validate(text: try Fixture.bytes("order-invalid-planner.json")).findings
        func fix(_ pointer: String) -> String? { findings.first { $0.pointer?.description == pointer }?.fix }
        #expect(fix("/fulfillments/0/estimatedDeliveryDate")?.contains("estimatedDeliveryAt") == true)
        #expect(fix("/fulfillments/0/shippingAddress")?.contains("recipient") == true)
    }

    @Test func `dates are judged like Wallet judges them`() throws {
        let order = try Fixture.json("order-vapor-minimal.json").replacing("/updatedAt", with: "2036-01-01T00:00:00Z")
        let expected = [
            "2022-06-02T12:30:00Z": [], "2024-02-01T19:45:50+00:00": [],
            "2020-08-25T15:03:03.000Z": ["warning fractional-seconds /createdAt"],
        ]
        let forms = try #require(try Fixture.json("dates.json").arrayValue)
        #expect(forms.count == 11)
        for form in forms {
            let value = try #require(form["text"])
            let found = OrderDocument.validate(try order.replacing("/createdAt", with: value)).findings.map(\.summary)
            if let text = value.stringValue {
                #expect(found == expected[text] ?? ["error bad-date /createdAt"], "\(text)")
            } else {
                #expect(found == ["error wrong-type /createdAt"])
            }
        }
    }
}
