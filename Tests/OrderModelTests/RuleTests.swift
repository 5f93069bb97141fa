// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Some changes to a valid order, and the findings they make together.
struct RuleCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let changes: KeyValuePairs<String, JSONValue>
    let findings: [String]

    init(_ name: String, _ changes: KeyValuePairs<String, JSONValue>, _ findings: String...) {
        self.testDescription = name
        self.changes = changes
        self.findings = findings
    }
}

/// The rules that no single field can tell.
@Suite struct RuleTests {
    private static let parcel = "/fulfillments/0"
    private static let pickup = "/fulfillments/1"
    private static let third = JSONValue.number(JSONNumber("0.333") ?? JSONNumber(0))

    static let dates: [RuleCase] = [
        .init("delivered with its date", ["\(parcel)/status": "delivered", "\(parcel)/deliveredAt": day(4)]),
        .init(
            "a delivery date while shipped",
            ["\(parcel)/status": "shipped", "\(parcel)/deliveredAt": day(4)],
            "warning status-behind-date /fulfillments/0/status"
        ),
        .init(
            "a delivery date on a cancelled parcel",
            [
                "\(parcel)/status": "cancelled", "\(parcel)/deliveredAt": day(4),
                "\(parcel)/statusDescription": "Sold out",
            ],
            "warning status-behind-date /fulfillments/0/status"
        ),
        .init(
            "delivered, but damaged",
            [
                "\(parcel)/status": "issue", "\(parcel)/deliveredAt": day(4), "\(parcel)/statusDescription": "Damaged",
            ]
        ),
        .init(
            "both dates while processing are one contradiction",
            ["\(parcel)/status": "processing", "\(parcel)/shippedAt": day(2), "\(parcel)/deliveredAt": day(4)],
            "warning status-behind-date /fulfillments/0/status"
        ),
        .init(
            "shipped while open",
            ["\(parcel)/shippedAt": day(2)],
            "warning status-behind-date /fulfillments/0/status"
        ),
        .init(
            "shipped and cancelled on the way",
            ["\(parcel)/status": "cancelled", "\(parcel)/shippedAt": day(2)],
            "note unexplained-status /fulfillments/0/statusDescription"
        ),
        .init("shipped and out for delivery", ["\(parcel)/status": "outForDelivery", "\(parcel)/shippedAt": day(2)]),
        .init(
            "an unknown status has one finding",
            ["\(parcel)/status": "Delivered", "\(parcel)/deliveredAt": day(4)],
            "error unknown-value /fulfillments/0/status"
        ),
        .init(
            "an unreadable date has one finding",
            ["\(parcel)/deliveredAt": "yesterday"],
            "error bad-date /fulfillments/0/deliveredAt"
        ),
        .init(
            "picked up while ready",
            ["\(pickup)/status": "readyForPickup", "\(pickup)/pickedUpAt": day(3)],
            "warning status-behind-date /fulfillments/1/status"
        ),
        .init("picked up", ["\(pickup)/status": "pickedUp", "\(pickup)/pickedUpAt": day(3)]),
        .init("a pickup that is planned", ["\(pickup)/pickupAt": day(3)]),
        .init(
            "back while open",
            ["/returns/0/returnedAt": day(9)],
            "warning status-behind-date /returns/0/status"
        ),
        .init(
            "back though cancelled",
            [
                "/returns/0/status": "cancelled", "/returns/0/returnedAt": day(9),
                "/returns/0/statusDescription": "Called off",
            ],
            "warning status-behind-date /returns/0/status"
        ),
        .init("back and looked at", ["/returns/0/status": "processing", "/returns/0/returnedAt": day(9)]),
        .init(
            "delivered before it was shipped",
            ["\(parcel)/status": "delivered", "\(parcel)/shippedAt": day(5), "\(parcel)/deliveredAt": day(3)],
            "warning dates-out-of-order /fulfillments/0/estimatedDeliveryAt",
            "warning dates-out-of-order /fulfillments/0/deliveredAt"
        ),
        .init(
            "shipped on the day of the order, told as midnight",
            ["\(parcel)/status": "shipped", "\(parcel)/shippedAt": "2026-01-01T00:00:00Z"]
        ),
        .init(
            "shipped in the year before",
            ["\(parcel)/status": "shipped", "\(parcel)/shippedAt": "2025-01-02T10:00:00Z"],
            "warning dates-out-of-order /fulfillments/0/shippedAt"
        ),
        .init(
            "a return that ends before it begins",
            [
                "/returns/0/status": "completed", "/returns/0/initiatedAt": day(20), "/returns/0/returnedAt": day(9),
                "/returns/0/dropOffBy": day(10),
            ],
            "warning dates-out-of-order /returns/0/dropOffBy",
            "warning dates-out-of-order /returns/0/returnedAt"
        ),
        .init(
            "a deadline before the order",
            [
                "/returnInfo": [
                    "returnPolicyURL": "https://www.example.com/r", "returnDeadline": "2025-02-01T00:00:00Z",
                ]
            ],
            "warning dates-out-of-order /returnInfo/returnDeadline"
        ),
    ]

    static let statuses: [RuleCase] = [
        .init(
            "completed with an open parcel",
            ["/status": "completed"],
            "warning completed-too-early /status"
        ),
        .init(
            "completed with the last status without carrier events",
            ["/status": "completed", "\(parcel)/status": "shipped", "\(pickup)/status": "pickedUp"]
        ),
        .init(
            "cancelled without a reason, with terms of return",
            ["/status": "cancelled", "/returnInfo": ["returnPolicyURL": "https://www.example.com/r"]],
            "note unexplained-status /statusDescription",
            "warning return-info-without-goods /returnInfo"
        ),
        .init(
            "an issue without a reason",
            ["\(parcel)/status": "issue"],
            "note unexplained-status /fulfillments/0/statusDescription"
        ),
        .init(
            "a pickup that is cancelled without a reason",
            ["\(pickup)/status": "cancelled"],
            "note unexplained-status /fulfillments/1/statusDescription"
        ),
        .init(
            "a return that is cancelled without a reason",
            ["/returns/0/status": "cancelled"],
            "note unexplained-status /returns/0/statusDescription"
        ),
        .init(
            "a return with an issue and no reason",
            ["/returns/0/status": "issue"],
            "note unexplained-status /returns/0/statusDescription"
        ),
        .init(
            "a countdown to nothing",
            ["/returnInfo": ["returnPolicyURL": "https://www.example.com/r", "displayCountdown": true]],
            "warning countdown-without-deadline /returnInfo/displayCountdown"
        ),
        .init(
            "a number that the customer has to look up",
            ["\(parcel)/trackingNumber": "1", "\(parcel)/trackingURL": "x"],
            "error bad-url /fulfillments/0/trackingURL"
        ),
    ]

    static let items: [RuleCase] = [
        .init(
            "a part of the items",
            [
                "\(parcel)/lineItems": [["title": "A", "quantity": 2]],
                "\(pickup)/lineItems": [["title": "a", "quantity": 1]],
            ]
        ),
        .init(
            "an item that was not ordered",
            ["\(parcel)/lineItems": [["title": "C", "quantity": 1]]],
            "warning item-not-ordered /fulfillments/0/lineItems/0"
        ),
        .init(
            "more than was ordered, over two fulfillments, told once",
            [
                "\(parcel)/lineItems": [["title": "A", "quantity": 2]],
                "\(pickup)/lineItems": [["title": "A", "quantity": 2], ["title": "A", "quantity": 2]],
            ],
            "warning more-than-ordered /fulfillments/1/lineItems/0/quantity"
        ),
        .init(
            "sent again after an issue",
            [
                "\(parcel)/status": "issue", "\(parcel)/statusDescription": "Lost",
                "\(parcel)/lineItems": [["title": "A", "quantity": 3]],
                "/fulfillments/1": [
                    "fulfillmentType": "shipping", "fulfillmentIdentifier": "t", "status": "open",
                    "lineItems": [["title": "A", "quantity": 3]],
                ],
            ]
        ),
        .init(
            "what was delivered and comes back counts by itself",
            [
                "\(parcel)/lineItems": [["title": "A", "quantity": 3]],
                "/returns/0/lineItems": [["title": "A", "quantity": 3]],
            ]
        ),
        .init(
            "more comes back than was ordered",
            ["/returns/0/lineItems": [["title": "B", "quantity": 2]]],
            "warning more-than-ordered /returns/0/lineItems/0/quantity"
        ),
        .init(
            "two sizes under one title, told apart by sku",
            [
                "/lineItems/0/sku": "a-s", "/lineItems/1/title": "A", "/lineItems/1/sku": "a-m",
                "\(parcel)/lineItems": [["title": "A", "sku": "a-m", "quantity": 1]],
                "\(pickup)/lineItems": [["title": "A", "quantity": 3]],
            ]
        ),
        .init(
            "the same sku under another title",
            ["/lineItems/0/sku": "a", "\(parcel)/lineItems": [["title": "A, blue", "sku": "a", "quantity": 3]]]
        ),
        .init(
            "a quantity out of range has one finding",
            ["\(parcel)/lineItems": [["title": "A", "quantity": -3]]],
            "error number-out-of-range /fulfillments/0/lineItems/0/quantity"
        ),
        .init(
            "an order without items has nothing to compare with",
            ["/lineItems": .array([]), "\(parcel)/lineItems": [["title": "C", "quantity": 1]]]
        ),
    ]

    static let barcodes: [RuleCase] = [
        .init("another spelling of the set", ["/barcode/messageEncoding": "ISO-8859-1"]),
        .init(
            "a name that is none",
            ["/barcode/messageEncoding": "utf8"],
            "warning unknown-encoding /barcode/messageEncoding"
        ),
        .init(
            "a character that Latin 1 lacks",
            ["/barcode/message": "10 €"],
            "warning barcode-characters /barcode/message"
        ),
        .init("the same in UTF-8", ["/barcode/message": "10 €", "/barcode/messageEncoding": "utf-8"]),
        .init(
            "Code 128 with an umlaut",
            ["/barcode/message": "Ö1", "/barcode/format": "code128"],
            "warning barcode-characters /barcode/message"
        ),
        .init("nothing to scan", ["/barcode/message": ""], "warning barcode-length /barcode/message"),
        .init(
            "more than a pickup's barcode holds",
            [
                "\(pickup)/barcode": [
                    "format": "pdf417", "message": .string(String(repeating: "A", count: 1109)),
                    "messageEncoding": "us-ascii",
                ]
            ],
            "warning barcode-length /fulfillments/1/barcode/message"
        ),
        .init(
            "digits alone, which a symbol holds more of",
            [
                "\(pickup)/barcode": [
                    "format": "pdf417", "message": .string(String(repeating: "1", count: 2710)),
                    "messageEncoding": "us-ascii",
                ]
            ]
        ),
        .init(
            "one more than it holds",
            [
                "\(pickup)/barcode": [
                    "format": "pdf417", "message": .string(String(repeating: "1", count: 2711)),
                    "messageEncoding": "us-ascii",
                ]
            ],
            "warning barcode-length /fulfillments/1/barcode/message"
        ),
        .init(
            "umlauts that are one byte each in Latin 1",
            [
                "/barcode/message": .string(String(repeating: "ü", count: 2000)),
                "/barcode/messageEncoding": "iso-8859-1",
            ]
        ),
        .init(
            "and two in UTF-8",
            ["/barcode/message": .string(String(repeating: "ü", count: 2000)), "/barcode/messageEncoding": "utf-8"],
            "warning barcode-length /barcode/message"
        ),
    ]

    static let money: [RuleCase] = [
        .init(
            "another currency in a transaction",
            ["/payment/transactions/0/amount/currency": "EUR"],
            "warning mixed-currencies /payment/transactions/0/amount/currency"
        ),
        .init(
            "another currency twice is told once",
            [
                "/payment/transactions/0/amount/currency": "EUR",
                "\(parcel)/lineItems": [["title": "A", "quantity": 1, "price": ["amount": "1", "currency": "EUR"]]],
            ],
            "warning mixed-currencies /payment/transactions/0/amount/currency"
        ),
        .init(
            "a withdrawn currency",
            [
                "/payment": ["status": "paid", "total": ["amount": "5.00", "currency": "HRK"]],
                "/lineItems": [["title": "A", "quantity": 1, "price": ["amount": "5.00", "currency": "HRK"]]],
            ],
            "warning withdrawn-currency /payment/total/currency"
        ),
        .init(
            "a currency that was in use then",
            [
                "/createdAt": "2022-12-31T10:00:00Z",
                "/payment": ["status": "paid", "total": ["amount": "5.00", "currency": "HRK"]],
                "/lineItems": .array([]),
            ]
        ),
        .init(
            "a code that nobody pays with",
            ["/payment": ["status": "paid", "total": ["amount": "5", "currency": "XXX"]], "/lineItems": .array([])],
            "warning special-currency /payment/total/currency"
        ),
        .init(
            "decimals of a currency without any",
            [
                "/payment": ["status": "paid", "total": ["amount": "100.5", "currency": "JPY"]],
                "/lineItems": .array([]),
            ],
            "warning amount-precision /payment/total/amount"
        ),
        .init(
            "three decimals where there are three",
            [
                "/payment": ["status": "paid", "total": ["amount": "1.005", "currency": "KWD"]],
                "/lineItems": .array([]),
            ]
        ),
        .init(
            "goods by weight, rounded",
            [
                "/payment": ["status": "paid", "total": ["amount": "1.00", "currency": "USD"]],
                "/lineItems": [["title": "A", "quantity": third, "price": ["amount": "2.99", "currency": "USD"]]],
            ]
        ),
        .init(
            "goods by weight, wrong",
            [
                "/payment": ["status": "paid", "total": ["amount": "1.01", "currency": "USD"]],
                "/lineItems": [["title": "A", "quantity": third, "price": ["amount": "2.99", "currency": "USD"]]],
            ],
            "warning sum-mismatch /payment/total/amount"
        ),
        .init(
            "the total once more as the last line",
            ["/payment/summaryItems": lines("0.5", "0.1", "0.2", "0.8"), "/payment/total/amount": "0.8"]
        ),
        .init(
            "the total once more, under a subtotal that the items don't make",
            ["/payment/summaryItems": lines("0.6", "0.1", "0.7"), "/payment/total/amount": "0.7"],
            "warning sum-mismatch /payment/summaryItems/0/value/amount"
        ),
        .init(
            "tax that is in the prices already",
            ["/payment/summaryItems": lines("0.5", "0.08"), "/payment/total/amount": "1"]
        ),
        .init(
            "tax that is in the prices already, the items before it told net",
            ["/payment/summaryItems": lines("0.42", "0.08")]
        ),
        .init(
            "one line of many is in the prices already",
            [
                "/payment/summaryItems": lines("7", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1"),
                "/payment/total/amount": "13.5",
            ]
        ),
        .init(
            "no choice of lines makes the total",
            ["/payment/summaryItems": lines("1", "2", "4"), "/payment/total/amount": "8.5"],
            "warning sum-mismatch /payment/total/amount"
        ),
        .init(
            "a discount makes up the difference",
            [
                "/payment/summaryItems": [["label": "Discount", "value": ["amount": "-0.1", "currency": "USD"]]],
                "/payment/total/amount": "0.4",
            ]
        ),
    ]

    static let words: [RuleCase] = [
        .init(
            "a country that is no more",
            ["/merchant/address/countryCode": "AN"],
            "warning withdrawn-country /merchant/address/countryCode"
        ),
        .init("Kosovo", ["/merchant/address/countryCode": "XK"]),
        .init(
            "a code that is only reserved",
            ["/merchant/address/countryCode": "UK"],
            "warning unknown-country /merchant/address/countryCode"
        ),
        .init("a link without TLS", ["/merchant/url": "http://www.example.com/"], "note insecure-link /merchant/url"),
        .init("a link to an app", ["/orderManagementURL": "exampleshop:orders/1"]),
        .init("a link to an app by its reversed domain", ["/orderManagementURL": "com.example.shop:/orders/1"]),
        .init("a link to an app with a number for a path", ["/orderManagementURL": "com.example.shop:12345"]),
        .init("such a link under a country's domain", ["/orderManagementURL": "uk.co.example.shop:1001/items"]),
        .init("a number that is no port", ["/orderManagementURL": "shop.example.com:99999"]),
        .init(
            "a host named after a country, with a port",
            ["/orderManagementURL": "de.example.com:443/orders"],
            "warning link-scheme /orderManagementURL"
        ),
        .init("a telephone number", ["/merchant/contactURL": "tel:12345"]),
        .init(
            "a host with port instead of a link",
            ["/orderManagementURL": "www.example.com:443/orders"],
            "warning link-scheme /orderManagementURL"
        ),
        .init(
            "a host with port alone",
            ["/merchant/url": "shop.example.com:8080"],
            "warning link-scheme /merchant/url"
        ),
        .init(
            "a local host",
            ["\(parcel)/trackingURL": "localhost:8080/x"],
            "warning link-scheme /fulfillments/0/trackingURL"
        ),
        .init(
            "a script instead of a link",
            ["/returns/0/returnManagementURL": "javascript:alert(1)"],
            "warning link-scheme /returns/0/returnManagementURL"
        ),
        .init(
            "notes longer than a screen",
            ["\(parcel)/notes": .string(String(repeating: "é", count: 601))],
            "note text-too-long /fulfillments/0/notes"
        ),
        .init("notes of one screen", ["\(parcel)/notes": .string(String(repeating: "é", count: 600))]),
        .init(
            "a tracking number alone",
            [
                "\(pickup)": [
                    "fulfillmentType": "shipping", "fulfillmentIdentifier": "t", "status": "shipped",
                    "trackingNumber": "1",
                ]
            ],
            "note tracking-without-link /fulfillments/1"
        ),
    ]

    private static func day(_ number: Int) -> JSONValue {
        .string("2026-01-\(number < 10 ? "0" : "")\(number)T10:00:00Z")
    }

    private static func lines(_ amounts: String...) -> JSONValue {
        .array(amounts.map { ["label": "L", "value": ["amount": .string($0), "currency": "USD"]] })
    }

    @Test(arguments: dates + statuses + items + barcodes + money + words)
    func `a story makes exactly its findings`(_ story: RuleCase) throws {
        var order = try JSONValue(text: ValidationTests.whole)
        for (pointer, value) in story.changes { order = try order.replacing(pointer, with: value) }
        let (document, findings) = OrderDocument.validate(order)
        #expect(findings.map(\.summary).sorted() == story.findings.sorted())
        #expect((document == nil) == findings.contains(where: \.isError))
        #expect(findings.allSatisfy { $0.fix?.isEmpty == false && $0.message.last == "." })
    }

    @Test func `updatedAt equals createdAt until the first change, for those who know that there was none`() throws {
        let order = try JSONValue(text: ValidationTests.whole).replacing("/updatedAt", with: "2026-01-01T10:00:01Z")
        let found = OrderDocument.validate(order, .init(isFirstRevision: true)).findings
        #expect(found.map(\.summary) == ["error updated-without-change /updatedAt"])
        #expect(found.first?.fix?.contains("2026-01-01T10:00:00Z") == true)
        #expect(OrderDocument.validate(order).findings.isEmpty)
        let equal = try order.replacing("/updatedAt", with: "2026-01-01T11:00:00+01:00")
        #expect(OrderDocument.validate(equal, .init(isFirstRevision: true)).findings.isEmpty)
    }

    @Test func `a misspelt code is told its right spelling`() throws {
        func fix(_ pointer: String, _ value: JSONValue) throws -> String {
            let order = try JSONValue(text: ValidationTests.whole).replacing(pointer, with: value)
            return OrderDocument.validate(order).findings.first?.fix ?? ""
        }
        #expect(try fix("/merchant/address/countryCode", "UK").contains("\"GB\""))
        #expect(try fix("/barcode/messageEncoding", "utf8").contains("\"utf-8\""))
        #expect(try fix("/barcode/messageEncoding", "latin-1").contains("\"iso-8859-1\""))
        #expect(try fix("/payment/total/currency", "usd").contains("\"USD\""))
    }
}

/// The tables that scripts/code-tables wrote.
@Suite struct CodeTableTests {
    @Test func `currencies have the minor units of ISO 4217, not those of everyday cash`() {
        for (code, digits) in [
            ("USD", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4), ("XCG", 2), ("ZWG", 2), ("SLE", 2), ("VED", 2), ("IQD", 3),
            ("LAK", 2),
        ] {
            #expect(Currency.minorUnits(of: code) == digits, "\(code)")
            #expect(Currency.withdrawal(of: code) == nil)
        }
        #expect(Currency.isKnown("XAU") && Currency.minorUnits(of: "XAU") == nil)
        #expect(!Currency.isKnown("USB") && !Currency.isKnown("usd"))
    }

    @Test func `withdrawn codes are known, with the time of their end`() {
        #expect(Currency.withdrawal(of: "DEM") == "2002-03" && Currency.withdrawal(of: "HRK") == "2023-01")
        #expect(Currency.withdrawal(of: "BGN") == "2026-01" && Currency.minorUnits(of: "HRK") == nil)
        #expect(Country.withdrawal(of: "AN") == "2010" && Country.withdrawal(of: "CS") == "2006")
        #expect(!Country.isKnown("AN") && Country.withdrawal(of: "BY") == nil && Country.isKnown("BY"))
        // A withdrawn code is no suggestion: XDR is one letter off as well as the German mark.
        #expect(Currency.suggestion(for: "DEN") != "DEM")
    }

    @Test func `languages and scripts are those of ISO 639 and 15924`() {
        #expect(Language.isKnown("de") && Language.isKnown("fil") && !Language.isKnown("xy") && !Language.isKnown("DE"))
        #expect(Language.isScript("Hans") && !Language.isScript("hans"))
    }

    @Test func `a password is no port`() throws {
        func findings(_ url: String) throws -> [Finding] {
            OrderDocument.validate(
                try JSONValue(text: ValidationTests.whole).replacing("/webServiceURL", with: .string(url))
            ).findings
        }
        let password = try findings("https://user:secret@a.example.com/x")
        #expect(password.map(\.code) == ["web-service-url-authority"])
        #expect(password.first?.message.contains("user name") == true)
        #expect(try findings("https://a.example.com:65536/x").first?.message.contains("port") == true)
    }

    @Test func `what is below zero was not ordered, so nothing is more than that`() throws {
        let order = try JSONValue(text: ValidationTests.whole).replacing("/lineItems/0/quantity", with: -1)
            .replacing("/fulfillments/0/lineItems", with: [["title": "A", "quantity": 1]])
        let codes = OrderDocument.validate(order).findings.map(\.code)
        #expect(codes == ["number-out-of-range"])
    }

    @Test func `a version that the target does not read is told once`() throws {
        let order = try JSONValue(text: ValidationTests.whole).replacing("/schemaVersion", with: 2)
        func summaries(_ target: AppleRelease) -> [String] {
            OrderDocument.validate(order, .init(target: target)).findings.map(\.summary)
                .filter { $0.hasSuffix(" /schemaVersion") }
        }
        #expect(summaries(.ios16) == ["error newer-than-target /schemaVersion"])
        #expect(summaries(.ios17) == ["note schema-version-2 /schemaVersion"])
    }
}
