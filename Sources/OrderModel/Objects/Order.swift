// SPDX-License-Identifier: Apache-2.0

/// The root of an `order.json`. Apple: WalletOrders, `Order`.
extension ObjectDescription {
    /// The root object.
    public static let order = ObjectDescription(
        "Order",
        fields: [
            .required("schemaVersion", .schemaVersion),
            .required("orderTypeIdentifier", .orderType),
            .required("orderIdentifier", .identifier),
            .required("orderType", .choice(["ecommerce"])),
            .optional("orderNumber", .text),
            .required("createdAt", .dateTime),
            .required("updatedAt", .dateTime),
            .required("status", .choice(OrderStatus.names)),
            .optional("statusDescription", .text, localizable: true),
            .required("merchant", .object(.merchant)),
            .optional("orderProvider", .object(.orderProvider), since: .ios17_4),
            .optional("customer", .object(.customer)),
            .required("orderManagementURL", .url),
            .optional("lineItems", .list(.object(.lineItem))),
            .optional("payment", .object(.payment)),
            .optional("fulfillments", .list(.fulfillment)),
            .optional("returns", .list(.object(.return)), since: .ios17_2),
            .optional("returnInfo", .object(.returnInfo), since: .ios17_2),
            .optional("barcode", .object(.barcode)),
            .optional("associatedApplications", .list(.object(.application))),
            .optional("associatedApplicationIdentifiers", .list(.text), since: .ios17),
            .optional("changeNotifications", .choice(["enabled", "disabledIfAppInstalled"])),
            .optional("webServiceURL", .webServiceURL),
            .optional("authenticationToken", .token),
        ],
        misnomers: [
            "merchantData": "merchant", "receipts": "payment.transactions[].receipt",
            "receipt": "payment.transactions[].receipt", "items": "lineItems", "shipments": "fulfillments",
            "shippingFulfillments": "fulfillments with fulfillmentType shipping",
            "pickupFulfillments": "fulfillments with fulfillmentType pickup",
            "shippingAddress": "fulfillments[].recipient",
            "trackingNumber": "fulfillments[].trackingNumber", "total": "payment.total",
            "orderURL": "orderManagementURL",
            "transactions": "payment.transactions",
        ]
    )
}
