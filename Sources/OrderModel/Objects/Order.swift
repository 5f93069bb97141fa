// SPDX-License-Identifier: Apache-2.0

/// The root of an `order.json`. Apple: WalletOrders, `Order`.
extension ObjectDescription {
    /// The root object.
    public static let order = ObjectDescription(
        "Order",
        meaning: "An order as Wallet shows it: the content of order.json.",
        fields: [
            .required(
                "schemaVersion",
                .schemaVersion,
                "The version of this form. 2 makes payment.status optional and is read by iOS 17 and later only."
            ),
            .required(
                "orderTypeIdentifier",
                .orderType,
                "Whose order it is: the identifier in the Order Type ID certificate, letter by letter. Never shown."
            ),
            .required(
                "orderIdentifier",
                .identifier,
                "Which order it is: unique within the order type and never changed. Never shown."
            ),
            .required("orderType", .choice(["ecommerce"]), "The kind of order."),
            .optional("orderNumber", .text, "The number that the customer sees."),
            .required("createdAt", .dateTime, "When the customer placed the order."),
            .required(
                "updatedAt",
                .dateTime,
                "When the order last changed; equal to createdAt at first, and later with every change."
            ),
            .required(
                "status",
                .choice(OrderStatus.names),
                "Where the order as a whole stands. Wallet counts completed and cancelled as closed."
            ),
            .optional("statusDescription", .text, "The state in words, in place of Wallet's own.", localizable: true),
            .required("merchant", .object(.merchant), "Who sells."),
            .optional(
                "orderProvider",
                .object(.orderProvider),
                "The platform that supplies the data for the merchant.",
                since: .ios17_4
            ),
            .optional("customer", .object(.customer), "Who bought."),
            .required("orderManagementURL", .url, "Where the customer looks after the order; best a universal link."),
            .optional("lineItems", .list(.object(.lineItem)), "Everything that was ordered, as it is to be shown."),
            .optional("payment", .object(.payment), "What was paid, and how."),
            .optional("fulfillments", .list(.fulfillment), "The parcels and pickups, as they are to be shown."),
            .optional("returns", .list(.object(.return)), "What goes back, as it is to be shown.", since: .ios17_2),
            .optional("returnInfo", .object(.returnInfo), "The terms of returning goods.", since: .ios17_2),
            .optional("barcode", .object(.barcode), "A code that names the order at a counter."),
            .optional(
                "associatedApplications",
                .list(.object(.application)),
                "The merchant's apps, the preferred first; the device takes the first that it can."
            ),
            .optional(
                "associatedApplicationIdentifiers",
                .list(.text),
                "The bundle identifiers of the merchant's apps, also of those outside the App Store.",
                since: .ios17
            ),
            .optional(
                "changeNotifications",
                .choice(["enabled", "disabledIfAppInstalled"]),
                "Whether Wallet tells of changes itself; enabled if left out."
            ),
            .optional(
                "webServiceURL",
                .webServiceURL,
                "Where the device asks for changes: the part in front of /v1. Comes with authenticationToken or not at all."
            ),
            .optional(
                "authenticationToken",
                .token,
                "The secret with which the device asks for this order. Comes with webServiceURL or not at all."
            ),
        ],
        misnomers: [
            "merchantData": "merchant", "receipts": "payment.transactions[].receipt",
            "receipt": "payment.transactions[].receipt", "items": "lineItems", "shipments": "fulfillments",
            "shippingFulfillments": "fulfillments with fulfillmentType shipping",
            "pickupFulfillments": "fulfillments with fulfillmentType pickup",
            "shippingAddress": "fulfillments[].recipient",
            "trackingNumber": "fulfillments[].trackingNumber", "total": "payment.total",
            "orderURL": "orderManagementURL", "orderDate": "createdAt", "purchaseDate": "createdAt",
            "date": "createdAt",
            "transactions": "payment.transactions",
        ]
    )
}
