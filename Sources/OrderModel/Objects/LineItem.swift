// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A thing that was bought. Apple: WalletOrders, `LineItem`. The price is that of one unit.
    public static let lineItem = ObjectDescription(
        "LineItem",
        meaning: "A thing that was bought.",
        fields: [
            .required("title", .text, "What was bought.", localizable: true),
            .optional("subtitle", .text, "More about it, such as size or colour.", localizable: true),
            .required("quantity", .quantity, "How many were bought."),
            .optional("price", .object(.currencyAmount), "The price of one."),
            .optional("image", .file(.image), "A picture of it: a PNG or JPEG file of the package, 300 by 300 pixels."),
            .optional("gtin", .text, "The global trade item number, such as EAN or ISBN."),
            .optional("sku", .text, "The merchant's own number of it."),
        ],
        misnomers: ["name": "title", "description": "subtitle", "amount": "price", "imageName": "image", "ean": "gtin"]
    )
}
