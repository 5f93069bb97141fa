// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A parcel. Apple: WalletOrders, `ShippingFulfillment`.
    public static let shippingFulfillment = ObjectDescription(
        "ShippingFulfillment",
        fields: [
            .required("fulfillmentType", .choice(FulfillmentType.names)),
            .required("fulfillmentIdentifier", .identifier),
            .required("status", .choice(FulfillmentStatus.shippingNames)),
            .optional("statusDescription", .text, localizable: true),
            .optional("carrier", .text),
            .optional("trackingNumber", .text),
            .optional("trackingURL", .url),
            .optional("shippedAt", .dateTime),
            .optional("estimatedDeliveryAt", .dateTime),
            .optional("estimatedDeliveryWindowDuration", .duration),
            .optional("deliveredAt", .dateTime),
            .optional("recipient", .object(.recipient)),
            .optional("lineItems", .list(.object(.lineItem))),
            .optional("notes", .text, localizable: true),
            .optional("shippingType", .choice(["shipping", "delivery"]), since: .ios17),
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
        fields: [
            .optional("givenName", .text),
            .optional("familyName", .text),
            .optional("organizationName", .text),
            .optional("address", .object(.address)),
        ],
        misnomers: [
            "name": "givenName and familyName, or organizationName", "firstName": "givenName", "lastName": "familyName",
        ]
    )
}
