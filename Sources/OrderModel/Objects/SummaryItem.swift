// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A line under the items, such as shipping or tax. Apple: WalletOrders, `Payment.SummaryItems`.
    public static let summaryItem = ObjectDescription(
        "Payment.SummaryItems",
        meaning: "A line under the items, such as shipping or tax.",
        fields: [
            .required("label", .text, "What the sum is for, such as shipping.", localizable: true),
            .required("value", .object(.currencyAmount), "The sum."),
        ],
        misnomers: ["title": "label", "amount": "value", "price": "value"]
    )
}
