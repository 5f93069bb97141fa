// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Goods that the customer collects. Apple: WalletOrders, `PickupFulfillment`.
    public static let pickupFulfillment = ObjectDescription(
        "PickupFulfillment",
        meaning: "Goods that the customer collects.",
        fields: [
            .required("fulfillmentType", .choice(FulfillmentType.names), "Says that the customer collects the goods."),
            .required(
                "fulfillmentIdentifier",
                .identifier,
                "Its name within the order, kept for good: changes are told by it. Never shown."
            ),
            .required("displayName", .text, "The name of the place.", localizable: true),
            .required("status", .choice(FulfillmentStatus.pickupNames), "Where the pickup stands."),
            .optional("statusDescription", .text, "The state in words, in place of Wallet's own.", localizable: true),
            .optional("pickupAt", .dateTime, "When the goods can be collected, or the start of the window."),
            .optional("pickupWindowDuration", .duration, "How long from pickupAt on the goods can be collected."),
            .optional("pickedUpAt", .dateTime, "When they were collected."),
            .optional("address", .object(.address), "Where the place is."),
            .optional("location", .object(.location), "Where exactly the place is, beyond the address."),
            .optional("barcode", .object(.barcode), "A code to show at the counter."),
            .optional("lineItems", .list(.object(.lineItem)), "The items of this pickup, as they are to be shown."),
            .optional(
                "notes",
                .text,
                "What the customer has to know, such as which entrance to take.",
                localizable: true
            ),
        ],
        misnomers: [
            "pickupWindow": "pickupAt and pickupWindowDuration", "pickupDate": "pickupAt", "name": "displayName",
            "items": "lineItems", "instructions": "notes",
        ]
    )
}
