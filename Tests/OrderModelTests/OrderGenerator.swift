// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience

@testable import OrderModel

/// Makes random orders through the public initializers, each argument of each in use.
struct OrderGenerator {
    var random: SeededGenerator
    private var count = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func order() throws -> Order {
        let created = 1_700_000_000 + Int64(random.next() % 1_000_000)
        let service = random.chance(50)
        return try Order(
            schemaVersion: random.one(of: Order.SchemaVersion.allCases),
            orderTypeIdentifier: OrderTypeIdentifier("order.com.example.shop"),
            orderIdentifier: OrderIdentifier(name()),
            orderType: .ecommerce,
            orderNumber: maybe { $0.text() },
            createdAt: Order.DateTime(seconds: created),
            updatedAt: random.chance(30) ? nil : Order.DateTime(seconds: created + Int64(random.next() % 1000)),
            status: random.one(of: Order.Status.allCases),
            statusDescription: maybe { $0.text() },
            merchant: merchant(),
            orderProvider: maybe { generator in
                try .init(
                    displayName: generator.text(),
                    url: generator.uri(),
                    trackingLogoNameLightColorScheme: FileName("light.png"),
                    trackingLogoNameDarkColorScheme: FileName("dark.png")
                )
            },
            customer: maybe { generator in
                .init(
                    givenName: generator.maybe { $0.text() },
                    familyName: generator.maybe { $0.text() },
                    organizationName: generator.maybe { $0.text() },
                    emailAddress: generator.maybe { $0.text() },
                    phoneNumber: generator.maybe { $0.text() }
                )
            },
            orderManagementURL: uri(),
            lineItems: maybe { try $0.lineItems() },
            payment: maybe { try $0.payment() },
            fulfillments: maybe { try $0.list { try $0.fulfillment() } },
            returns: maybe { try $0.list { try $0.goodsBack() } },
            returnInfo: maybe { generator in
                try .init(
                    returnPolicyURL: generator.uri(),
                    returnPolicyDescription: generator.maybe { $0.text() },
                    returnManagementURL: generator.maybe { try $0.uri() },
                    returnDeadline: generator.maybe { try $0.dateTime() },
                    displayCountdown: generator.maybe { $0.random.chance(50) }
                )
            },
            barcode: maybe { $0.barcode() },
            associatedApplications: maybe { generator in
                generator.list {
                    .init(
                        storeIdentifier: Int64(1 + $0.random.next() % 1_000_000_000),
                        launchURL: $0.maybe { $0.text() },
                        customProductPageIdentifier: $0.maybe { $0.text() }
                    )
                }
            },
            associatedApplicationIdentifiers: maybe { $0.list { $0.text() } },
            changeNotifications: maybe { $0.random.one(of: Order.ChangeNotifications.allCases) },
            webServiceURL: service ? Order.URI("https://wallet.example.com/") : nil,
            authenticationToken: service ? AuthenticationToken("0123456789abcdef") : nil
        )
    }

    private mutating func merchant() throws -> Order.Merchant {
        try Order.Merchant(
            merchantIdentifier: MerchantIdentifier("merchant.com.example.shop"),
            displayName: text(),
            url: uri(),
            logo: maybe { _ in try FileName("logo.png") },
            address: maybe { try $0.address() },
            businessChatURL: maybe { try $0.uri() },
            contactURL: maybe { try $0.uri() },
            emailAddress: maybe { $0.text() },
            phoneNumber: maybe { $0.text() }
        )
    }

    private mutating func address() throws -> Order.Address {
        Order.Address(
            addressLines: maybe { $0.list { $0.text() } },
            subLocality: maybe { $0.text() },
            locality: maybe { $0.text() },
            subAdministrativeArea: maybe { $0.text() },
            administrativeArea: maybe { $0.text() },
            postalCode: maybe { $0.text() },
            countryCode: try maybe { _ in try Order.CountryCode("DE") }
        )
    }

    private mutating func payment() throws -> Order.Payment {
        try Order.Payment(
            total: money(),
            summaryItems: maybe { try $0.list { try .init(label: $0.text(), value: $0.money()) } },
            transactions: maybe { generator in
                try generator.list {
                    try .init(
                        amount: $0.money(),
                        createdAt: $0.dateTime(),
                        paymentMethod: .init(displayName: $0.text()),
                        status: $0.random.one(of: Order.PaymentTransaction.Status.allCases),
                        transactionType: $0.random.one(of: Order.PaymentTransaction.TransactionType.allCases),
                        applePayTransactionIdentifier: $0.maybe { $0.text() },
                        receipt: $0.maybe { _ in try FileName("receipt.pdf") }
                    )
                }
            },
            status: random.one(of: Order.Payment.Status.allCases),
            paymentMethods: maybe { $0.list { $0.text() } },
            applePayTransactionIdentifiers: maybe { $0.list { $0.text() } }
        )
    }

    private mutating func fulfillment() throws -> Order.Fulfillment {
        if random.chance(50) {
            return try .shipping(
                Order.ShippingFulfillment(
                    fulfillmentIdentifier: FulfillmentIdentifier(name()),
                    status: random.one(of: Order.ShippingFulfillment.Status.allCases),
                    statusDescription: maybe { $0.text() },
                    carrier: maybe { $0.text() },
                    trackingNumber: maybe { $0.text() },
                    trackingURL: maybe { try $0.uri() },
                    shippedAt: maybe { try $0.dateTime() },
                    estimatedDeliveryAt: maybe { try $0.dateTime() },
                    estimatedDeliveryWindowDuration: maybe { _ in try ISODuration("PT2H") },
                    deliveredAt: maybe { try $0.dateTime() },
                    recipient: maybe { generator in
                        .init(
                            givenName: generator.maybe { $0.text() },
                            familyName: generator.maybe { $0.text() },
                            organizationName: generator.maybe { $0.text() },
                            address: try generator.maybe { try $0.address() }
                        )
                    },
                    lineItems: maybe { try $0.lineItems() },
                    notes: maybe { $0.text() },
                    shippingType: maybe { $0.random.one(of: Order.ShippingFulfillment.ShippingType.allCases) }
                )
            )
        }
        return try .pickup(
            Order.PickupFulfillment(
                fulfillmentIdentifier: FulfillmentIdentifier(name()),
                displayName: text(),
                status: random.one(of: Order.PickupFulfillment.Status.allCases),
                statusDescription: maybe { $0.text() },
                pickupAt: maybe { try $0.dateTime() },
                pickupWindowDuration: maybe { _ in try ISODuration("P0Y0M0DT0H30M0S") },
                pickedUpAt: maybe { try $0.dateTime() },
                address: maybe { try $0.address() },
                location: maybe { try $0.location() },
                barcode: maybe { $0.barcode() },
                lineItems: maybe { try $0.lineItems() },
                notes: maybe { $0.text() }
            )
        )
    }

    private mutating func location() throws -> Order.Location {
        func degrees(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        return try Order.Location(
            latitude: degrees(-90...90),
            longitude: degrees(-180...180),
            altitude: random.chance(50) ? degrees(-1e6...1e6) : nil
        )
    }

    private mutating func goodsBack() throws -> Order.Return {
        try Order.Return(
            returnIdentifier: ReturnIdentifier(name()),
            status: random.one(of: Order.Return.Status.allCases),
            statusDescription: maybe { $0.text() },
            returnNumber: maybe { $0.text() },
            returnManagementURL: maybe { try $0.uri() },
            carrier: maybe { $0.text() },
            dropOffBy: maybe { try $0.dateTime() },
            initiatedAt: maybe { try $0.dateTime() },
            returnedAt: maybe { try $0.dateTime() },
            lineItems: maybe { try $0.lineItems() },
            notes: maybe { $0.text() },
            returnLabel: maybe { _ in try FileName("label.pdf") }
        )
    }

    private mutating func lineItems() throws -> [Order.LineItem] {
        try list {
            try Order.LineItem(
                title: $0.text(),
                subtitle: $0.maybe { $0.text() },
                quantity: $0.random.chance(50) ? 2 : Order.Quantity("1.50"),
                price: $0.maybe { try $0.money() },
                image: $0.maybe { _ in try FileName("Bild 1/für alle.jpg") },
                gtin: $0.maybe { $0.text() },
                sku: $0.maybe { $0.text() }
            )
        }
    }

    private mutating func barcode() -> Order.Barcode {
        Order.Barcode(
            format: random.one(of: Order.Barcode.Format.allCases),
            message: text(),
            messageEncoding: random.one(of: ["iso-8859-1", "utf-8"]),
            altText: maybe { $0.text() }
        )
    }

    private mutating func money() throws -> Order.CurrencyAmount {
        try Order.CurrencyAmount("\(random.next() % 1000).\(10 + random.next() % 90)", "USD")
    }

    private mutating func dateTime() throws -> Order.DateTime {
        try Order.DateTime("2026-0\(1 + random.next() % 9)-11T12:13:14\(random.one(of: ["Z", "+01:00", "-09:30"]))")
    }

    private mutating func uri() throws -> Order.URI { try Order.URI("https://www.example.com/\(random.next())") }

    private mutating func text() -> String { random.one(of: ["Text", "Größe", "日本", "\"quoted\"", "e\u{301}"]) }

    private mutating func name() -> String {
        count += 1
        return "name-\(count)"
    }

    private mutating func maybe<Value>(_ make: (inout Self) throws -> Value) rethrows -> Value? {
        random.chance(50) ? try make(&self) : nil
    }

    private mutating func list<Value>(_ make: (inout Self) throws -> Value) rethrows -> [Value] {
        var values: [Value] = []
        for _ in 0..<(random.next() % 3) { values.append(try make(&self)) }
        return values
    }
}
