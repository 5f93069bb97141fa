// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// One change to a valid order, and the findings it makes.
struct ValidationCase: Sendable, CustomTestStringConvertible {
    let pointer: String
    let value: String?
    let findings: [String]
    let testDescription: String

    init(_ pointer: String, _ value: String?, _ findings: [String]) {
        self.pointer = pointer
        self.value = value
        self.findings = findings
        // A name of a test, not of thousands of letters.
        self.testDescription = "\(pointer) = \((value ?? "absent").prefix(60))"
    }
}

@Suite struct ValidationTests {
    static let whole = """
        {"schemaVersion":1,"orderTypeIdentifier":"order.com.example.shop","orderIdentifier":"A-1","orderType":"ecommerce",
        "createdAt":"2026-01-01T10:00:00Z","updatedAt":"2026-01-01T10:00:00Z","status":"open",
        "merchant":{"merchantIdentifier":"merchant.com.example","displayName":"Shop","url":"https://www.example.com/",
        "address":{"countryCode":"US"}},
        "orderManagementURL":"https://www.example.com/o","webServiceURL":"https://www.example.com/api",
        "authenticationToken":"0123456789abcdef","barcode":{"format":"qr","message":"1","messageEncoding":"iso-8859-1"},
        "lineItems":[{"title":"A","quantity":3,"price":{"amount":0.1,"currency":"USD"}},
        {"title":"B","quantity":1,"price":{"amount":"0.2","currency":"USD"}}],
        "payment":{"status":"paid","total":{"amount":"0.5","currency":"USD"},"transactions":[
        {"amount":{"amount":"0.5","currency":"USD"},"createdAt":"2026-01-01T10:00:00Z","paymentMethod":{"displayName":"Card"},
        "status":"completed","transactionType":"purchase","receipt":"receipt.pdf"}]},
        "fulfillments":[{"fulfillmentType":"shipping","fulfillmentIdentifier":"s","status":"open","carrier":"C",
        "trackingURL":"https://www.example.com/t","estimatedDeliveryAt":"2026-01-03T10:00:00Z",
        "estimatedDeliveryWindowDuration":"PT2H"},
        {"fulfillmentType":"pickup","fulfillmentIdentifier":"p","status":"open","displayName":"Store",
        "location":{"latitude":1,"longitude":2.5}}],
        "returns":[{"returnIdentifier":"r","status":"open","returnLabel":"label.pdf"}],
        "associatedApplications":[{"storeIdentifier":1}]}
        """

    static let cases: [ValidationCase] = [
        .init("/orderNumber", "\"1\"", []),
        .init("/schemaVersion", nil, ["error missing-member /schemaVersion"]),
        .init("/schemaVersion", "3", ["error unknown-value /schemaVersion"]),
        .init("/schemaVersion", "\"1\"", ["error wrong-type /schemaVersion"]),
        .init("/schemaVersion", "2", ["note schema-version-2 /schemaVersion"]),
        .init("/orderType", "\"shop\"", ["error unknown-value /orderType"]),
        .init("/orderTypeIdentifier", "\"shop\"", ["error bad-identifier /orderTypeIdentifier"]),
        .init("/orderTypeIdentifier", "\"com.example.a\"", ["note unusual-order-type /orderTypeIdentifier"]),
        .init("/orderIdentifier", "\"a b\"", ["warning identifier-not-url-safe /orderIdentifier"]),
        .init(
            "/orderIdentifier",
            "\"a\\u0000b\"",
            ["error bad-identifier /orderIdentifier"]
        ),
        .init("/orderIdentifier", "\"\"", ["error bad-identifier /orderIdentifier"]),
        .init("/orderManagementURL", "\"www.example.com\"", ["error bad-url /orderManagementURL"]),
        .init("/orderManagementURL", "\"https://\"", ["error bad-url /orderManagementURL"]),
        .init("/orderManagementURL", "\"https://a b\"", ["error bad-url /orderManagementURL"]),
        .init("/webServiceURL", "\"http://www.example.com/\"", ["error insecure-url /webServiceURL"]),
        .init("/webServiceURL", "\"https://www.example.com/v1\"", ["error web-service-url-version /webServiceURL"]),
        .init("/webServiceURL", "\"https://www.example.com/v1/\"", ["error web-service-url-version /webServiceURL"]),
        .init("/webServiceURL", "\"https://www.example.com/av1/\"", []),
        .init("/webServiceURL", "\"https://www.example.com:8443/\"", []),
        .init("/webServiceURL", "\"https://[::1]/\"", []),
        .init("/webServiceURL", "\"https://[::1]:443/\"", []),
        .init(
            "/webServiceURL",
            "\"https://www.example.com:99999/\"",
            ["error web-service-url-authority /webServiceURL"]
        ),
        .init("/webServiceURL", "\"https://www.example.com:0/\"", ["error web-service-url-authority /webServiceURL"]),
        .init("/webServiceURL", "\"https://u:p@www.example.com/\"", ["error web-service-url-authority /webServiceURL"]),
        .init("/webServiceURL", nil, ["error missing-member /webServiceURL"]),
        .init("/authenticationToken", nil, ["error missing-member /authenticationToken"]),
        .init("/authenticationToken", "\"0123456789abcde\"", ["error token-too-short /authenticationToken"]),
        .init("/updatedAt", "\"2026-01-01T09:59:59Z\"", ["error updated-before-created /updatedAt"]),
        .init("/updatedAt", "\"2026-01-01T11:00:00+01:00\"", []),
        .init("/createdAt", "\"2026-01-01T10:00:00.900Z\"", ["warning fractional-seconds /createdAt"]),
        .init("/createdAt", "\"2026-01-01t10:00:00Z\"", ["warning date-in-lower-case /createdAt"]),
        .init("/createdAt", "\"2026-01-01T10:00:00z\"", ["warning date-in-lower-case /createdAt"]),
        .init("/createdAt", "\"2016-12-31T23:59:60Z\"", ["warning leap-second /createdAt"]),
        .init(
            "/createdAt",
            "\"2016-12-31t23:59:60.5z\"",
            [
                "warning fractional-seconds /createdAt", "warning date-in-lower-case /createdAt",
                "warning leap-second /createdAt",
            ]
        ),
        .init("/updatedAt", "\"2026-01-01T10:00Z\"", ["error bad-date /updatedAt"]),
        .init("/barcode/message", "123", ["error wrong-type /barcode/message"]),
        .init("/barcode/format", "\"PKBarcodeFormatQR\"", ["error unknown-value /barcode/format"]),
        .init("/lineItems/0/quantity", "\"3\"", ["warning numeric-string /lineItems/0/quantity"]),
        .init(
            "/lineItems/0/quantity",
            "0",
            ["warning number-out-of-range /lineItems/0/quantity", "warning sum-mismatch /payment/total/amount"]
        ),
        .init(
            "/lineItems/0/quantity",
            "\"0.0\"",
            [
                "warning numeric-string /lineItems/0/quantity", "warning number-out-of-range /lineItems/0/quantity",
                "warning sum-mismatch /payment/total/amount",
            ]
        ),
        .init(
            "/lineItems/0/quantity",
            "\"-1\"",
            [
                "warning numeric-string /lineItems/0/quantity", "error number-out-of-range /lineItems/0/quantity",
            ]
        ),
        .init(
            "/authenticationToken",
            "\"\(String(repeating: "a", count: 2_048))\"",
            []
        ),
        .init(
            "/authenticationToken",
            "\"\(String(repeating: "a", count: 2_049))\"",
            ["error bad-token /authenticationToken"]
        ),
        .init("/orderManagementURL", "\"https://a/\(String(repeating: "a", count: 7_990))\"", []),
        .init(
            "/orderManagementURL",
            "\"https://a/\(String(repeating: "a", count: 7_991))\"",
            ["error bad-url /orderManagementURL"]
        ),
        .init("/lineItems/0/quantity", "\"three\"", ["error wrong-type /lineItems/0/quantity"]),
        .init("/lineItems/0/price/amount", "\"1,00\"", ["error bad-amount /lineItems/0/price/amount"]),
        .init("/lineItems/0/price/amount", "true", ["error wrong-type /lineItems/0/price/amount"]),
        .init("/lineItems/0/price/currency", "\"EUR\"", ["warning mixed-currencies /lineItems/0/price/currency"]),
        .init("/lineItems/0/price/currency", "\"usd\"", ["error unknown-currency /lineItems/0/price/currency"]),
        .init("/payment/total/amount", "\"0.50\"", []),
        .init("/payment/total/amount", "0.5", []),
        .init("/payment/total/amount", "5e-1", []),
        .init(
            "/payment/total/amount",
            "\"0.501\"",
            [
                "warning sum-mismatch /payment/total/amount", "warning amount-precision /payment/total/amount",
            ]
        ),
        .init("/payment/status", nil, ["error missing-member /payment/status"]),
        .init("/payment/status", "\"Paid\"", ["error unknown-value /payment/status"]),
        .init("/merchant/address/countryCode", "\"us\"", ["warning unknown-country /merchant/address/countryCode"]),
        .init("/merchant/address/countryCode", "\"USA\"", ["error bad-country /merchant/address/countryCode"]),
        .init("/merchant/logo", "\"../x.png\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"/x.png\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"a\\\\b.png\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"c:logo.png\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"manifest.json\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"Order.JSON\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"signature\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"signature.png\"", []),
        .init("/merchant/logo", "\"a\\u0000.png\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"\(String(repeating: "a", count: 256))\"", ["error bad-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"\(String(repeating: "a", count: 255))\"", []),
        .init("/merchant/logo", "\"My logo (2), big+new.png\"", []),
        .init("/merchant/logo", "\"Logo groß.png\"", ["warning unusual-file-name /merchant/logo"]),
        .init("/merchant/logo", "\".logo.png\"", ["warning unusual-file-name /merchant/logo"]),
        .init("/merchant/logo", "\"images/logo.png\"", ["warning file-in-folder /merchant/logo"]),
        .init("/merchant/logo", "\"de.lproj/logo.png\"", ["warning file-in-folder /merchant/logo"]),
        .init("/merchant/displayName", "null", ["error missing-member /merchant/displayName"]),
        .init("/merchant/phoneNumber", "null", ["warning null-member /merchant/phoneNumber"]),
        .init("/fulfillments/0/carrier", nil, ["note tracking-without-carrier /fulfillments/0"]),
        .init("/fulfillments/0/status", "\"pickedUp\"", ["error unknown-value /fulfillments/0/status"]),
        .init(
            "/fulfillments/0/estimatedDeliveryWindowDuration",
            "1800",
            [
                "error wrong-type /fulfillments/0/estimatedDeliveryWindowDuration"
            ]
        ),
        .init(
            "/fulfillments/0/estimatedDeliveryWindowDuration",
            "\"2H\"",
            [
                "error bad-duration /fulfillments/0/estimatedDeliveryWindowDuration"
            ]
        ),
        .init(
            "/fulfillments/0/estimatedDeliveryAt",
            nil,
            [
                "warning window-without-start /fulfillments/0/estimatedDeliveryWindowDuration"
            ]
        ),
        .init(
            "/fulfillments/1/fulfillmentIdentifier",
            "\"s\"",
            [
                "error duplicate-identifier /fulfillments/1/fulfillmentIdentifier"
            ]
        ),
        .init(
            "/fulfillments/1/fulfillmentType",
            "\"delivery\"",
            ["error unknown-value /fulfillments/1/fulfillmentType"]
        ),
        .init("/fulfillments/1/pickupWindow", "1", ["error unknown-member /fulfillments/1/pickupWindow"]),
        .init(
            "/fulfillments/1/location/latitude",
            "91",
            ["error number-out-of-range /fulfillments/1/location/latitude"]
        ),
        .init("/fulfillments/1", "7", ["error wrong-type /fulfillments/1"]),
        .init(
            "/returns/1",
            #"{"returnIdentifier":"r","status":"open"}"#,
            [
                "error duplicate-identifier /returns/1/returnIdentifier"
            ]
        ),
        .init(
            "/associatedApplications/0/storeIdentifier",
            "1.5",
            [
                "error number-out-of-range /associatedApplications/0/storeIdentifier"
            ]
        ),
        .init("/a~1b", "1", ["error unknown-member /a~1b"]),
    ]

    @Test(arguments: cases)
    func `a change makes exactly its findings`(_ change: ValidationCase) throws {
        let order = try JSONValue(text: Self.whole)
            .replacing(change.pointer, with: try change.value.map { try JSONValue(text: $0) })
        let (document, findings) = OrderDocument.validate(order)
        #expect(Set(findings.map(\.summary)) == Set(change.findings))
        #expect(findings.count == change.findings.count)
        #expect((document == nil) == findings.contains(where: \.isError))
    }

    @Test func `a whole order has no findings`() throws {
        #expect(OrderDocument.validate(text: Array(Self.whole.utf8)).findings.isEmpty)
    }

    @Test func `version 2 does without the payment's status`() throws {
        let order = try JSONValue(text: Self.whole).replacing("/schemaVersion", with: 2)
            .replacing("/payment/status", with: nil)
        #expect(OrderDocument.validate(order).findings.map(\.summary) == ["note schema-version-2 /schemaVersion"])
    }

    @Test func `a service takes the file names that its routes can have, in events, too`() throws {
        let service = ValidationOptions(isServiceFilled: true)
        let names: [(String, String?)] = [
            ("logo.png", nil), ("Logo groß.png", "bad-file-name"), ("a b.png", "bad-file-name"),
            ("images/logo.png", "bad-file-name"), (".logo.png", "bad-file-name"), ("de.lproj/logo.png", nil),
            (String(repeating: "a", count: 101), "bad-file-name"), ("Signature", "bad-file-name"),
            (String(repeating: "é", count: 200), "bad-file-name"),
        ]
        for (name, code) in names {
            let order = try JSONValue(text: Self.whole).replacing("/merchant/logo", with: .string(name))
            #expect(OrderDocument.validate(order, service).findings.first { $0.isError }?.code == code)
            let item: JSONValue = ["title": "A", "quantity": 1, "image": .string(name)]
            let (event, findings) = OrderEvent.parse(["eventIdentifier": "e", "order": ["lineItems": [item]]])
            #expect(findings.first { $0.isError }?.code == code)
            guard let event else { continue }
            let entry = LogEntry(event, occurredAt: 1)
            #expect(OrderFold().fold(try Story.base(), [entry]).verdicts["e"] == .applied)
        }
    }

    @Test func `a date that Wallet may refuse comes with the one to send`() throws {
        let order = try JSONValue(text: Self.whole).replacing("/createdAt", with: "2016-12-31t23:59:60.5z")
        let (document, findings) = OrderDocument.validate(order)
        #expect(findings.allSatisfy { $0.fix == "Send 2017-01-01T00:00:00Z." } && findings.count == 3)
        let text = String(decoding: try #require(document).packageForm(), as: UTF8.self)
        #expect(text.contains(#""createdAt":"2017-01-01T00:00:00Z""#))
    }

    @Test func `version 2 and members of newer systems are told to those who aim at older ones`() throws {
        let order = try JSONValue(text: Self.whole)
        let found = OrderDocument.validate(order, .init(target: .ios16)).findings.map(\.summary)
        #expect(
            Set(found) == [
                "note newer-than-target /returns", "note newer-than-target /payment/transactions",
            ]
        )
        let second = try order.replacing("/schemaVersion", with: 2)
        #expect(OrderDocument.validate(second, .init(target: .ios16)).document == nil)
    }

    @Test func `of very many faults the first are listed, and warnings leave errors their room`() throws {
        var item: JSONObject = ["title": "A", "quantity": 1]
        for number in 0..<3_000 { item["x\(number)"] = 1 }
        let order = try JSONValue(text: Self.whole).replacing("/lineItems/0", with: .object(item))
        let lenient = OrderDocument.validate(order, .init(unknownMembers: .warn))
        #expect(lenient.document != nil)
        #expect(lenient.findings.count { $0.code == "unknown-member" } == 1_000)
        let strict = OrderDocument.validate(order)
        #expect(strict.document == nil && strict.findings.filter(\.isError).count == 1_000)
        #expect(strict.findings.contains { $0.code == "findings-cut-off" })
        let both = try order.replacing("/status", with: "lost")
        #expect(OrderDocument.validate(both, .init(unknownMembers: .warn)).document == nil)
    }

    @Test func `an order of too many values is one fault, as a value and as a text`() throws {
        let order = try JSONValue(text: Self.whole)
            .replacing("/associatedApplicationIdentifiers", with: .array(Array(repeating: "a", count: 200_000)))
        for findings in [
            OrderDocument.validate(order).findings, OrderDocument.validate(text: order.serialized()).findings,
        ] {
            #expect(findings.map(\.summary) == ["error order-too-large "])
        }
    }

    @Test func `faults that only rules find are listed up to the same limit`() throws {
        let parcel: JSONValue = ["fulfillmentType": "shipping", "fulfillmentIdentifier": "s", "status": "issue"]
        let order = try JSONValue(text: Self.whole)
            .replacing("/fulfillments", with: .array(Array(repeating: parcel, count: 3_000)))
        let (document, findings) = OrderDocument.validate(order)
        #expect(document == nil)
        #expect(findings.count { $0.code == "duplicate-identifier" } == 1_000)
        #expect(findings.count { $0.code == "unexplained-status" } == 1_000)
        #expect(findings.count { $0.code == "findings-cut-off" } == 2 && findings.count == 2_002)
    }

    @Test func `what has no room is not worded, so many faults cost no more than as many values`() throws {
        let zeros = JSONValue.array(Array(repeating: 0, count: 100_000))
        let faults = try JSONValue(text: Self.whole).replacing("/lineItems", with: zeros)
        let found = OrderDocument.validate(faults).findings
        #expect(found.count { $0.code == "wrong-type" } == 1_000 && found.last?.code == "findings-cut-off")
        var list = BoundedFindings()
        for number in 0..<2_000 {
            list.append(Finding(severity: .error, code: "wrong-type", pointer: .root, message: "\(number)."))
        }
        #expect(!list.hasRoom(for: .error) && list.hasRoom(for: .note) && list.list.count == 1_001)
    }

    @Test func `text that is no JSON is one finding with its line and column`() {
        let findings = OrderDocument.validate(text: Array("{\n  \"a\": 1,\n}".utf8)).findings
        #expect(findings.map(\.code) == ["json-syntax"])
        #expect(findings.first?.line == 2 && findings.first?.column == 9)
    }

    @Test func `unknown members can be let through`() throws {
        let order = try JSONValue(text: Self.whole).replacing("/x", with: 1)
        #expect(OrderDocument.validate(order, .init(unknownMembers: .accept)).findings.isEmpty)
        let warned = OrderDocument.validate(order, .init(unknownMembers: .warn))
        #expect(warned.document != nil && warned.findings.map(\.summary) == ["warning unknown-member /x"])
    }

    @Test func `a finding has exactly the agreed members`() throws {
        let finding = Finding(
            severity: .error,
            code: "wrong-type",
            pointer: JSONPointer(tokens: ["a"]),
            message: "M",
            fix: "F"
        )
        #expect(
            String(decoding: finding.json.serialized(), as: UTF8.self)
                == #"{"severity":"error","code":"wrong-type","pointer":"/a","message":"M","fix":"F"}"#
        )
        let report = FindingReport(file: "x", checked: ["rules"], findings: [finding])
        #expect(report.json["valid"]?.boolValue == false)
        #expect(report.json["findings"]?.arrayValue == [finding.json])
        #expect(finding.nested(under: JSONPointer(tokens: ["order"])).pointer?.description == "/order/a")
    }
}
