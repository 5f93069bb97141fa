// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A sum of money. Apple: WalletOrders, `CurrencyAmount`.
    public static let currencyAmount = ObjectDescription(
        "CurrencyAmount",
        fields: [
            .required("amount", .amount),
            .required("currency", .currency),
        ],
        misnomers: ["value": "amount", "currencyCode": "currency"]
    )
}
