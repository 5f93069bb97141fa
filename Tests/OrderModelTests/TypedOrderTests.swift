// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// What one meets when working with typed orders.
@Suite struct TypedOrderTests {
    private func small() throws -> Order {
        try Order(
            orderTypeIdentifier: .init("order.com.example.shop"),
            orderIdentifier: .init("1001"),
            createdAt: .init("2026-01-31T18:00:00+01:00"),
            status: .open,
            merchant: .init(
                merchantIdentifier: .init("merchant.com.example.shop"),
                displayName: "Example Shop",
                url: .init("https://www.example.com/")
            ),
            orderManagementURL: .init("https://www.example.com/orders/1001")
        )
    }

    @Test func `an order from code is written with Apple's names in Apple's order`() throws {
        var order = try small()
        order.lineItems = [try .init(title: "Bread", quantity: 2, price: .init("4.90", "EUR"))]
        let expected =
            #"{"schemaVersion":1,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"1001","#
            + #""orderType":"ecommerce","createdAt":"2026-01-31T18:00:00+01:00","updatedAt":"2026-01-31T18:00:00+01:00","#
            + #""status":"open","merchant":{"merchantIdentifier":"merchant.com.example.shop","#
            + #""displayName":"Example Shop","url":"https://www.example.com/"},"#
            + #""orderManagementURL":"https://www.example.com/orders/1001","#
            + #""lineItems":[{"title":"Bread","quantity":2,"price":{"amount":"4.90","currency":"EUR"}}]}"#
        #expect(String(decoding: order.serialized(), as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("28.8", "28.8"), ("28.80", "28.80"), ("\"28.80\"", "28.80"), ("5.76e1", "57.6"), ("\"007.50\"", "007.50"),
        ("12345678901234567890.123456789", "12345678901234567890.123456789"), ("0.1", "0.1"),
    ])
    func `an amount keeps its digits and is written as a text`(sent: String, written: String) throws {
        let json = try small().json.replacing(
            "/payment",
            with: JSONValue(
                text: """
                    {"status":"paid","total":{"amount":\(sent),"currency":"USD"}}
                    """
            )
        )
        let order = try Order(json: json)
        #expect(order.payment?.total.amount.text == written)
        #expect(order.payment?.total.amount.value == DecimalAmount(written))
        #expect(order.json["payment"]?["total"]?["amount"] == .string(written))
    }

    @Test func `dates keep moment, zone and spelling, durations their text`() throws {
        let json = try small().json.replacing("/createdAt", with: "2024-02-01T19:45:50.000-03:30")
            .replacing(
                "/fulfillments",
                with: JSONValue(
                    text: """
                        [{"fulfillmentType":"pickup","fulfillmentIdentifier":"p","displayName":"Store","status":"open",
                        "pickupAt":"2024-02-02T10:00:00+00:00","pickupWindowDuration":"P0Y0M0DT0H30M0S"}]
                        """
                )
            )
        let order = try Order(json: json)
        #expect(order.createdAt.offset == -12_600 && order.createdAt.seconds == 1_706_829_350)
        #expect(order.createdAt == (try .init("2024-02-01T19:45:50-03:30")))
        #expect(order.createdAt != (try .init("2024-02-01T23:15:50Z")))
        #expect(order.createdAt > (try .init("2024-02-01T19:45:50Z")))
        guard case .pickup(let pickup) = try #require(order.fulfillments?.first) else {
            Issue.record("no pickup")
            return
        }
        #expect(pickup.pickupWindowDuration?.approximateSeconds == 1800 && pickup.pickupAt?.offset == 0)
        #expect(order.json == json)
    }

    @Test func `unknown fields are faults, or kept in their place when the options allow them`() throws {
        let json = try small().json.replacing("/x", with: nil).replacing("/giftNote", with: ["to": [1, .null]])
            .replacing("/merchant/slogan", with: .null)
        #expect(throws: InvalidOrderError.self) { try Order(json: json) }
        do {
            _ = try Order(json: json)
        } catch {
            #expect(
                error.findings.filter(\.isError).map(\.summary) == [
                    "error unknown-member /merchant/slogan", "error unknown-member /giftNote",
                ]
            )
        }
        let allowed = ValidationOptions(unknownMembers: .accept)
        var order = try Order(json: json, options: allowed)
        #expect(order.unknownFields == ["giftNote": ["to": [1, .null]]])
        #expect(order.merchant.unknownFields == ["slogan": .null])
        #expect(order.json == json)
        #expect(throws: InvalidOrderError.self) { try OrderDocument(order) }
        #expect(try Order(OrderDocument(order, allowed)) == order)
        // A name with a property of its own does not stand twice.
        order.unknownFields["status"] = "completed"
        #expect(order.json["status"] == "open")
    }

    @Test func `a value that Wallet would refuse is refused at once, with the finding of a document`() throws {
        func code(_ make: () throws -> Any) -> [String] {
            do {
                _ = try make()
                return []
            } catch let error as InvalidOrderError {
                return error.findings.map(\.code)
            } catch {
                return ["\(error)"]
            }
        }
        #expect(code { try Order.DateTime("2018-08-11T00:00:00") } == ["bad-date"])
        #expect(code { try Order.URI("www.example.com") } == ["bad-url"])
        #expect(code { try Order.CurrencyCode("USB") } == ["unknown-currency"])
        #expect(code { try Order.CountryCode("USA") } == ["bad-country"])
        #expect(code { try Order.Amount("1,50") } == ["bad-amount"])
        #expect(code { try Order.CurrencyAmount("1.50", "usd") } == ["unknown-currency"])
        #expect(code { try Order.Quantity("-1") }.contains("number-out-of-range"))
        #expect(code { try Order.Quantity("two") } == ["wrong-type"])
        #expect(code { try ISODuration("1800") } == ["bad-duration"])
        #expect(code { try Order.Location(latitude: 90.5, longitude: 0) } == ["number-out-of-range"])
        #expect(code { try Order.Location(latitude: 0, longitude: 0, altitude: .infinity) } == ["wrong-type"])
        #expect(code { try Order.Location(latitude: 48.137, longitude: 11.575, altitude: 519) } == [])
    }

    @Test func `rules across fields are told all at once, each with its place`() throws {
        var order = try small()
        order.updatedAt = .init(seconds: 0)
        order.webServiceURL = try .init("http://example.com/v1")
        order.payment = try .init(total: .init("1", "USD"))
        do {
            _ = try OrderDocument(order)
            Issue.record("not refused")
        } catch {
            let errors = error.findings.filter(\.isError).map(\.summary)
            #expect(
                Set(errors) == [
                    "error missing-member /payment/status", "error insecure-url /webServiceURL",
                    "error web-service-url-version /webServiceURL", "error missing-member /authenticationToken",
                    "error updated-before-created /updatedAt",
                ]
            )
            #expect(error.description.split(separator: "\n").count == errors.count)
            #expect(error.description.contains("/payment/status: "))
        }
        order = try small()
        order.schemaVersion = .version2
        order.payment = try .init(total: .init("1", "USD"))
        #expect(try Order(OrderDocument(order)) == order)
    }

    @Test func `a document that a service completes gets its version, and its creation as last change`() throws {
        let json = try small().json.replacing("/schemaVersion", with: nil).replacing("/updatedAt", with: nil)
        let order = try Order(json: json, options: .init(isServiceFilled: true))
        #expect(order == (try small()))
    }

    @Test func `a stored document that these rules don't pass is an error, with what is wrong`() throws {
        let json = try small().json
        let cases: [(String, JSONValue?, String)] = [
            ("/status", "lost", "error unknown-value /status"), ("/status", nil, "error missing-member /status"),
            ("/merchant/logo", "../logo.png", "error bad-file-name /merchant/logo"),
            ("/lineItems", [["title": "A", "quantity": true]], "error wrong-type /lineItems/0/quantity"),
            ("/updatedAt", "2018-08-11T00:00:00", "error bad-date /updatedAt"),
        ]
        for (pointer, value, expected) in cases {
            let document = try OrderDocument.trusted(json.replacing(pointer, with: value))
            let error = #expect(throws: InvalidOrderError.self) { try Order(document) }
            #expect(error?.findings.filter(\.isError).map(\.summary) == [expected])
        }
        // What only a service refuses has a typed form all the same.
        let stored = try OrderDocument.trusted(json.replacing("/merchant/logo", with: "Logo groß.png"))
        #expect(try Order(stored).merchant.logo?.text == "Logo groß.png")
    }

    @Test func `a text that is no JSON is one finding with line and column`() throws {
        do {
            _ = try Order(text: Array("{\n  \"status\": open}".utf8))
            Issue.record("not refused")
        } catch {
            #expect(error.findings.map(\.code) == ["json-syntax"] && error.findings.first?.line == 2)
        }
    }

    @Test func `equality is that of what is meant`() throws {
        #expect(try Order.Amount("28.8") == Order.Amount("28.80"))
        #expect(try Order.Quantity("2.0") == 2)
        #expect(try Order.URI("https://example.com/%C3%A9") != Order.URI("https://example.com/%c3%a9"))
        #expect(Set([try Order.Amount("1"), try Order.Amount("1.0")]).count == 1)
    }

    @Test func `the token of an order is not printed`() throws {
        var order = try small()
        order.authenticationToken = try AuthenticationToken("0123456789abcdef")
        #expect(!"\(order)".contains("0123456789abcdef") && !String(reflecting: order).contains("0123456789abcdef"))
    }
}
