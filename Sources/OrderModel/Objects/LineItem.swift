// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A thing that was bought. Apple: WalletOrders, `LineItem`. The price is that of one unit.
    public static let lineItem = ObjectDescription(
        "LineItem",
        fields: [
            .required("title", .text, localizable: true),
            .optional("subtitle", .text, localizable: true),
            .required("quantity", .quantity),
            .optional("price", .object(.currencyAmount)),
            .optional("image", .file(.image)),
            .optional("gtin", .text),
            .optional("sku", .text),
        ],
        misnomers: ["name": "title", "description": "subtitle", "amount": "price", "imageName": "image", "ean": "gtin"]
    )
}
