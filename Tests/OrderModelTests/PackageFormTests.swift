// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

@Suite struct PackageFormTests {
    private func document(_ text: String) throws -> OrderDocument {
        try #require(OrderDocument.validate(text: Array(text.utf8), .init(isServiceFilled: true)).document)
    }

    private static let sent = """
        {"status":"open","orderTypeIdentifier":"order.com.example","orderIdentifier":"1","orderType":"ecommerce",
        "createdAt":"2026-01-01T10:00:00.750+01:00","orderManagementURL":"https://www.example.com/a/b",
        "merchant":{"url":"https://www.example.com","displayName":"Bäcker","merchantIdentifier":"m","phoneNumber":null},
        "lineItems":[{"quantity":"2","title":"T","price":{"currency":"USD","amount":28.80}},{"title":"U","quantity":1.50}],
        "payment":{"status":"paid","total":{"amount":5.76e1,"currency":"USD"}}}
        """

    @Test func `a package has amounts as text, dates in whole seconds UTC, quantities as numbers, Apple's order`()
        throws
    {
        let bytes = try document(Self.sent).packageForm(
            updatedAt: 1_767_258_000,
            webServiceURL: "https://www.example.com/api",
            authenticationToken: "0123456789abcdef"
        )
        let expected =
            #"{"schemaVersion":1,"orderTypeIdentifier":"order.com.example","orderIdentifier":"1","orderType":"ecommerce","#
            + #""createdAt":"2026-01-01T09:00:00Z","updatedAt":"2026-01-01T09:00:00Z","status":"open","#
            + #""merchant":{"merchantIdentifier":"m","displayName":"Bäcker","url":"https://www.example.com"},"#
            + #""orderManagementURL":"https://www.example.com/a/b","#
            + #""lineItems":[{"title":"T","quantity":2,"price":{"amount":"28.80","currency":"USD"}},"#
            + #"{"title":"U","quantity":1.50}],"#
            + #""payment":{"total":{"amount":"57.6","currency":"USD"},"status":"paid"},"#
            + #""webServiceURL":"https://www.example.com/api","authenticationToken":"0123456789abcdef"}"#
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `a package names neither web service nor token when it lacks one of them`() throws {
        let order = try document(Self.sent)
        let bytes = order.packageForm(updatedAt: 0, webServiceURL: "https://www.example.com", authenticationToken: nil)
        let json = try JSONValue(parsing: bytes)
        #expect(json["webServiceURL"] == nil && json["authenticationToken"] == nil)
    }

    @Test func `a quantity is a number in the package also where its text is no JSON number`() throws {
        let order = try document(Self.sent.replacing("\"2\"", with: "\"02.50\""))
        let json = try JSONValue(parsing: order.packageForm())
        #expect(json["lineItems"]?[0]?["quantity"]?.numberValue?.text == "2.5")
    }

    @Test func `a package of every valid sample is valid itself and says the same again`() throws {
        for name in ["order-bakery-pickup.json", "order-vapor-minimal.json"] {
            let first = try #require(OrderDocument.validate(text: try Fixture.bytes(name)).document)
            let bytes = first.packageForm()
            let second = try #require(OrderDocument.validate(text: bytes).document)
            #expect(second.packageForm() == bytes)
        }
    }

    @Test func `the intake fills in what the service knows and says what it ignored`() throws {
        let sent = try JSONValue(text: Self.sent).replacing("/createdAt", with: nil)
            .replacing("/orderIdentifier", with: nil).replacing("/schemaVersion", with: 7)
            .replacing("/updatedAt", with: "2026-01-01T00:00:00Z")
            .replacing("/webServiceURL", with: "https://other.example.com")
            .replacing("/authenticationToken", with: "x")
        let intake = OrderIntake(
            now: 1_767_258_000,
            orderIdentifier: try OrderIdentifier("made"),
            webServiceURL: "https://www.example.com/api"
        )
        let (json, findings) = intake.complete(sent)
        #expect(
            findings.map(\.summary) == [
                "warning filled-in /schemaVersion", "warning filled-in /updatedAt", "warning filled-in /webServiceURL",
                "warning filled-in /authenticationToken",
            ]
        )
        let document = try #require(OrderDocument.validate(json, .init(isServiceFilled: true)).document)
        #expect(document.orderIdentifier.text == "made" && document.createdAt == 1_767_258_000)
        #expect(json["authenticationToken"] == nil && json["schemaVersion"] == 1)
        let shown = document.shown(updatedAt: 1_767_258_060, webServiceURL: "https://www.example.com/api")
        #expect(shown["updatedAt"] == "2026-01-01T09:01:00Z")
    }

    @Test func `an order from the future is refused`() throws {
        let sent = try JSONValue(text: Self.sent)
        let created: Int64 = 1_767_258_000
        #expect(OrderIntake(now: created - 600).complete(sent).findings.isEmpty)
        #expect(
            OrderIntake(now: created - 601).complete(sent).findings.map(\.summary) == [
                "error created-in-future /createdAt"
            ]
        )
    }

    @Test func `every file that a document names is found`() throws {
        let order = try #require(OrderDocument.validate(text: Array(ValidationTests.whole.utf8)).document)
        #expect(
            order.fileReferences.map { "\($0.use.rawValue) \($0.name) \($0.pointer)" } == [
                "receipt receipt.pdf /payment/transactions/0/receipt", "label label.pdf /returns/0/returnLabel",
            ]
        )
        let bakery = try #require(OrderDocument.validate(text: try Fixture.bytes("order-bakery-pickup.json")).document)
        #expect(bakery.imageNames == ["logo.png", "pastry.png", "cheesecake.png", "spongecake.png"])
        #expect(bakery.status == .completed && bakery.orderNumber == "BA050796")
        #expect(bakery.fulfillments.map(\.status) == [.pickedUp])
    }
}
