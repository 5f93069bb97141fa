// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A parcel. Apple: WalletOrders, `ShippingFulfillment`.
    public static let shippingFulfillment = ObjectDescription(
        "ShippingFulfillment",
        meaning: "A parcel.",
        fields: [
            .required("fulfillmentType", .choice(FulfillmentType.names), "Says that the goods are sent."),
            .required(
                "fulfillmentIdentifier",
                .identifier,
                "Its name within the order, kept for good: changes are told by it. Never shown."
            ),
            .required(
                "status",
                .choice(FulfillmentStatus.shippingNames),
                "Where the parcel stands. onTheWay, outForDelivery and delivered need the carrier's events; otherwise use shipped."
            ),
            .optional("statusDescription", .text, "The state in words, in place of Wallet's own.", localizable: true),
            .optional("carrier", .text, "Who carries it; left out when it is not known."),
            .optional("trackingNumber", .text, "The carrier's number of it."),
            .optional("trackingURL", .url, "Where it can be followed, best at the carrier."),
            .optional("shippedAt", .dateTime, "When it was handed over to the carrier."),
            .optional(
                "estimatedDeliveryAt",
                .dateTime,
                "When it is to arrive. The time of day counts only with a window."
            ),
            .optional(
                "estimatedDeliveryWindowDuration",
                .duration,
                "How long from estimatedDeliveryAt on it may arrive."
            ),
            .optional("deliveredAt", .dateTime, "When it arrived."),
            .optional("recipient", .object(.recipient), "Who receives it, and where."),
            .optional("lineItems", .list(.object(.lineItem)), "The items of this parcel, as they are to be shown."),
            .optional(
                "notes",
                .text,
                "What the customer has to know, such as that a signature is needed.",
                localizable: true
            ),
            .optional(
                "shippingType",
                .choice(["shipping", "delivery"]),
                "By a carrier or by a delivery service; shipping if left out.",
                since: .ios17
            ),
        ],
        misnomers: [
            "shippingAddress": "recipient, with an address in it", "address": "recipient.address",
            "estimatedDeliveryDate": "estimatedDeliveryAt", "deliveryDate": "deliveredAt",
            "estimatedDeliveryWindow": "estimatedDeliveryWindowDuration", "carrierName": "carrier",
            "items": "lineItems",
            "trackingUrl": "trackingURL",
        ]
    )

    /// Who receives a parcel. Apple: WalletOrders, `ShippingFulfillment.Recipient`.
    public static let recipient = ObjectDescription(
        "ShippingFulfillment.Recipient",
        meaning: "Who receives a parcel.",
        fields: [
            .optional("givenName", .text, "The first name."),
            .optional("familyName", .text, "The last name."),
            .optional("organizationName", .text, "The company."),
            .optional("address", .object(.address), "Where it goes."),
        ],
        misnomers: [
            "name": "givenName and familyName, or organizationName", "firstName": "givenName", "lastName": "familyName",
        ]
    )
}
