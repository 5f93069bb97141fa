// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A sum of money. Apple: WalletOrders, `CurrencyAmount`.
    public static let currencyAmount = ObjectDescription(
        "CurrencyAmount",
        meaning: "A sum of money.",
        fields: [
            .required("amount", .amount, "The sum in units of the currency, such as 19.99."),
            .required("currency", .currency, "The currency. Wallet converts nothing."),
        ],
        misnomers: ["value": "amount", "currencyCode": "currency"]
    )
}
