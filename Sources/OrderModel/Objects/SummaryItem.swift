// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A line under the items, such as shipping or tax. Apple: WalletOrders, `Payment.SummaryItems`.
    public static let summaryItem = ObjectDescription(
        "Payment.SummaryItems",
        fields: [
            .required("label", .text, localizable: true),
            .required("value", .object(.currencyAmount)),
        ],
        misnomers: ["title": "label", "amount": "value", "price": "value"]
    )
}
