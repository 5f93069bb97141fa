// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import Testing

@testable import OrderModel

/// Apple's reference, transcribed a second time: what it says of each field, held against the tables and the schema that is
/// made of them. The typed objects are held against the tables in OrderObjectTests.
@Suite struct AppleTableTests {
    /// Object, and below it each field with its type, R(equired), O(ptional) or V (required in version 1), and the iOS that
    /// first has it when that is not 16.0. Source: WalletOrders, one page an object; since-versions of associated
    /// application identifiers and custom product pages: WWDC23, "What's new in Wallet and Apple Pay".
    private static let reference = """
        Order
        schemaVersion number R
        orderTypeIdentifier string R
        orderIdentifier string R
        orderType string R
        orderNumber string O
        orderManagementURL uri R
        createdAt date-time R
        updatedAt date-time R
        status string R
        statusDescription string O
        merchant Merchant R
        orderProvider OrderProvider O 17.4
        customer Customer O
        lineItems [LineItem] O
        payment Payment O
        fulfillments [Fulfillment] O
        returns [Return] O 17.2
        returnInfo ReturnInfo O 17.2
        barcode Barcode O
        associatedApplications [Application] O
        associatedApplicationIdentifiers [string] O 17.0
        changeNotifications string O
        webServiceURL uri O
        authenticationToken string O
        Merchant
        merchantIdentifier string R
        displayName string R
        url uri R
        logo string O
        address Address O
        businessChatURL uri O
        contactURL uri O
        emailAddress string O
        phoneNumber string O
        OrderProvider 17.4
        displayName string R
        url uri R
        trackingLogoNameLightColorScheme string R
        trackingLogoNameDarkColorScheme string R
        Address
        addressLines [string] O
        subLocality string O
        locality string O
        subAdministrativeArea string O
        administrativeArea string O
        postalCode string O
        countryCode string O
        Location
        latitude number R
        longitude number R
        altitude number O
        Customer
        givenName string O
        familyName string O
        organizationName string O
        emailAddress string O
        phoneNumber string O
        Application
        storeIdentifier number R
        launchURL string O
        customProductPageIdentifier string O 17.0
        LineItem
        title string R
        quantity number R
        subtitle string O
        image string O
        price CurrencyAmount O
        gtin string O
        sku string O
        CurrencyAmount
        amount string R
        currency string R
        Payment
        total CurrencyAmount R
        summaryItems [Payment.SummaryItems] O
        transactions [PaymentTransaction] O 17.0
        status string V
        paymentMethods [string] O
        applePayTransactionIdentifiers [string] O
        Payment.SummaryItems
        label string R
        value CurrencyAmount R
        PaymentTransaction 17.0
        amount CurrencyAmount R
        createdAt date-time R
        paymentMethod PaymentMethod R
        status string R
        transactionType string R
        applePayTransactionIdentifier string O
        receipt string O
        PaymentMethod 17.0
        displayName string R
        Barcode
        format string R
        message string R
        messageEncoding string R
        altText string O
        ShippingFulfillment
        fulfillmentType string R
        fulfillmentIdentifier string R
        status string R
        statusDescription string O
        carrier string O
        trackingNumber string O
        trackingURL uri O
        shippedAt date-time O
        estimatedDeliveryAt date-time O
        estimatedDeliveryWindowDuration duration O
        deliveredAt date-time O
        recipient ShippingFulfillment.Recipient O
        lineItems [LineItem] O
        notes string O
        shippingType string O 17.0
        ShippingFulfillment.Recipient
        givenName string O
        familyName string O
        organizationName string O
        address Address O
        PickupFulfillment
        fulfillmentType string R
        fulfillmentIdentifier string R
        displayName string R
        status string R
        statusDescription string O
        pickupAt date-time O
        pickupWindowDuration duration O
        pickedUpAt date-time O
        address Address O
        location Location O
        barcode Barcode O
        lineItems [LineItem] O
        notes string O
        ReturnInfo 17.2
        returnPolicyURL uri R
        returnPolicyDescription string O
        returnManagementURL uri O
        returnDeadline date-time O
        displayCountdown boolean O
        Return 17.2
        returnIdentifier string R
        status string R
        statusDescription string O
        returnNumber string O
        returnManagementURL uri O
        carrier string O
        dropOffBy date-time O
        initiatedAt date-time O
        returnedAt date-time O
        lineItems [LineItem] O
        notes string O
        returnLabel string O
        """

    struct Row: Hashable, CustomStringConvertible {
        let object: String
        let field: String
        let type: String
        let presence: String
        let since: String

        var description: String { "\(object).\(field) \(type) \(presence) \(since)" }
    }

    static let rows: Set<Row> = {
        var rows: Set<Row> = []
        var (object, known) = ("", "16.0")
        for line in reference.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.count <= 2 {
                (object, known) = (words[0], words.count == 2 ? words[1] : "16.0")
            } else {
                let since = words.count == 4 ? words[3] : known
                rows.insert(Row(object: object, field: words[0], type: words[1], presence: words[2], since: since))
            }
        }
        return rows
    }()

    private static func type(_ kind: FieldKind) -> String {
        switch kind {
        case .text, .identifier, .choice, .token, .orderType, .amount, .currency, .country, .file: "string"
        case .url, .webServiceURL: "uri"
        case .dateTime: "date-time"
        case .duration: "duration"
        case .boolean: "boolean"
        case .quantity, .number, .positiveInteger, .schemaVersion: "number"
        case .object(let description): description.name
        case .fulfillment: "Fulfillment"
        case .list(let element): "[\(type(element))]"
        }
    }

    @Test func `the tables say what the reference says`() {
        var ours: Set<Row> = []
        for description in OrderSchema.objects + [.order] {
            for field in description.fields {
                let presence =
                    switch field.presence {
                    case .required: "R"
                    case .optional: "O"
                    case .requiredInVersion1: "V"
                    }
                ours.insert(
                    Row(
                        object: description.name,
                        field: field.name,
                        type: Self.type(field.kind),
                        presence: presence,
                        since: max(field.since, description.since).rawValue
                    )
                )
            }
        }
        #expect(Self.rows.count == 133)
        #expect(Self.rows.subtracting(ours).isEmpty && ours.subtracting(Self.rows).isEmpty)
    }

    /// The type of a member in Apple's words, read off its schema.
    private static func type(_ schema: JSONValue) -> String {
        if let form = schema["anyOf"]?[0] { return type(form) }
        if let reference = schema["$ref"]?.stringValue {
            let name = String(reference.split(separator: "/").last ?? "")
            return switch name {
            case "url", "webServiceURL": "uri"
            case "dateTime": "date-time"
            case "duration": "duration"
            case "quantity": "number"
            case "identifier", "orderTypeIdentifier", "authenticationToken", "amount", "currencyCode", "countryCode",
                "fileName":
                "string"
            default: name
            }
        }
        if schema["const"] != nil { return "string" }
        let name = schema["type"]?.stringValue ?? schema["type"]?[0]?.stringValue ?? ""
        switch name {
        case "array": return "[\(type(schema["items"] ?? .null))]"
        case "integer": return "number"
        default: return name
        }
    }

    @Test func `the schema says what the reference says, with a title and a description for each field`() throws {
        var seen: Set<Row> = []
        let definitions = try #require(OrderSchema.json["$defs"])
        for object in Set(Self.rows.map(\.object)) {
            let schema = object == "Order" ? OrderSchema.json : try #require(definitions[object])
            let required = Set((schema["required"]?.arrayValue ?? []).compactMap(\.stringValue))
            let whole = schema["description"]?.stringValue ?? ""
            for (name, member) in try #require(schema["properties"]?.objectValue) {
                let text = member["description"]?.stringValue ?? ""
                let title = member["title"]?.stringValue ?? ""
                #expect(!text.isEmpty && !title.isEmpty, "\(object).\(name)")
                #expect(
                    title.first?.isUppercase == true && title.filter { $0 != " " }.lowercased() == name.lowercased()
                )
                func since(_ text: String) -> String? {
                    text.firstRange(of: " Since iOS ").map { String(text[$0.upperBound...].dropLast()) }
                }
                let presence = required.contains(name) ? "R" : object == "Payment" && name == "status" ? "V" : "O"
                seen.insert(
                    Row(
                        object: object,
                        field: name,
                        type: Self.type(member),
                        presence: presence,
                        since: since(text) ?? since(whole) ?? "16.0"
                    )
                )
            }
        }
        #expect(seen == Self.rows)
    }

    @Test func `titles are words`() {
        let titles = [
            "orderManagementURL", "url", "gtin", "createdAt", "businessChatURL", "webServiceURL", "dropOffBy",
            "applePayTransactionIdentifier", "applePayTransactionIdentifiers", "applePayload", "shopApplePayTotal",
        ]
        .map(OrderSchema.title)
        #expect(
            titles == [
                "Order management URL", "URL", "GTIN", "Created at", "Business chat URL", "Web service URL",
                "Drop off by", "Apple Pay transaction identifier", "Apple Pay transaction identifiers", "Apple payload",
                "Shop Apple Pay total",
            ]
        )
    }

    /// A system is told of each field that it doesn't know, unless it doesn't know the object around it.
    @Test(arguments: [
        ("16.0", ["17.0", "17.2", "17.4"]), ("16.7", ["17.0", "17.2", "17.4"]), ("17.0", ["17.2", "17.4"]),
        ("17.1", ["17.2", "17.4"]), ("17.2", ["17.4"]), ("17.3", ["17.4"]), ("17.4", []), ("18.1", []),
    ])
    func `each field that is newer than a target is a note`(_ target: String, _ newer: [String]) throws {
        var generator = DocumentGenerator(seed: 1)
        generator.fullness = 100
        let order = try generator.order().replacing("/schemaVersion", with: 1)
        let release = try #require(AppleRelease("iOS " + target))
        let notes = OrderDocument.validate(order, .init(target: release)).findings
            .filter { $0.code == "newer-than-target" }
        let fields = [
            ("customProductPageIdentifier", "17.0"), ("associatedApplicationIdentifiers", "17.0"),
            ("transactions", "17.0"), ("shippingType", "17.0"), ("returns", "17.2"), ("returnInfo", "17.2"),
            ("orderProvider", "17.4"),
        ]
        #expect(Set(notes.compactMap(\.pointer?.tokens.last)) == Set(fields.filter { newer.contains($0.1) }.map(\.0)))
        #expect(notes.allSatisfy { $0.severity == .note })
        // The list is whole.
        let known = Set(OrderSchema.objects.filter { $0.since > .ios16 }.map(\.name))
        let rows = Self.rows.filter { $0.since != "16.0" && !known.contains($0.object) }
        #expect(Set(rows.map { "\($0.field) \($0.since)" }) == Set(fields.map { "\($0.0) \($0.1)" }))
    }

    /// Our judgement of what a phone shows well, one by one.
    @Test func `a text is noted from the first character on that a phone has no room for`() throws {
        let limits = [
            "orderNumber": 40, "displayName": 60, "title": 100, "subtitle": 100, "label": 40, "statusDescription": 200,
            "notes": 600, "altText": 60, "returnNumber": 40, "returnPolicyDescription": 300, "carrier": 40,
            "trackingNumber": 60,
        ]
        #expect(TextLimit.characters == limits)
        var generator = DocumentGenerator(seed: 1)
        generator.fullness = 100
        let order = generator.order()
        func places(_ value: JSONValue, _ place: JSONPointer) -> [JSONPointer] {
            switch value {
            case .string: [place]
            case .array(let values): values.indices.flatMap { places(values[$0], place.appending($0)) }
            case .object(let object): object.flatMap { places($0.value, place.appending($0.name)) }
            default: []
            }
        }
        var met: Set<String> = []
        for place in places(order, .root) {
            guard let name = place.tokens.last, let limit = limits[name] else { continue }
            met.insert(name)
            for (count, isNoted) in [(limit, false), (limit + 1, true)] {
                // Characters count, not bytes.
                let text = JSONValue.string(String(repeating: "\u{65}\u{301}", count: count))
                let findings = OrderDocument.validate(try order.replacing(place.description, with: text)).findings
                let notes = findings.filter { $0.code == "text-too-long" && $0.pointer == place }
                #expect(notes.map(\.severity) == (isNoted ? [.note] : []), "\(place) with \(count)")
            }
        }
        #expect(met == Set(limits.keys))
    }

    @Test func `a target is a release that was, between two rows the older and behind the last the newest`() {
        #expect(AppleRelease("ios16.4") == .ios16 && AppleRelease("iOS 17.3") == .ios17_2)
        #expect(AppleRelease("ios18") == .ios17_4 && AppleRelease("26.1") == .ios17_4)
        for none in ["ios15", "ios19", "ios25", "ios99", "ios999", "foo", "ios", "17.x"] {
            #expect(AppleRelease(none) == nil, "\(none)")
        }
    }
}
