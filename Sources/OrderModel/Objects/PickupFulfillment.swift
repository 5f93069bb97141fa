// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Goods that the customer collects. Apple: WalletOrders, `PickupFulfillment`.
    public static let pickupFulfillment = ObjectDescription(
        "PickupFulfillment",
        fields: [
            .required("fulfillmentType", .choice(FulfillmentType.names)),
            .required("fulfillmentIdentifier", .identifier),
            .required("displayName", .text, localizable: true),
            .required("status", .choice(FulfillmentStatus.pickupNames)),
            .optional("statusDescription", .text, localizable: true),
            .optional("pickupAt", .dateTime),
            .optional("pickupWindowDuration", .duration),
            .optional("pickedUpAt", .dateTime),
            .optional("address", .object(.address)),
            .optional("location", .object(.location)),
            .optional("barcode", .object(.barcode)),
            .optional("lineItems", .list(.object(.lineItem))),
            .optional("notes", .text, localizable: true),
        ],
        misnomers: [
            "pickupWindow": "pickupAt and pickupWindowDuration", "pickupDate": "pickupAt", "name": "displayName",
            "items": "lineItems", "instructions": "notes",
        ]
    )
}
