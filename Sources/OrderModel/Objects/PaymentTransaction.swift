// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// One movement of money. Apple: WalletOrders, `PaymentTransaction`.
    public static let paymentTransaction = ObjectDescription(
        "PaymentTransaction",
        since: .ios17,
        fields: [
            .required("amount", .object(.currencyAmount), since: .ios17),
            .required("createdAt", .dateTime, since: .ios17),
            .required("paymentMethod", .object(.paymentMethod), since: .ios17),
            .required("status", .choice(["pending", "approved", "completed", "cancelled", "failed"]), since: .ios17),
            .required("transactionType", .choice(["purchase", "refund"]), since: .ios17),
            .optional("applePayTransactionIdentifier", .text, since: .ios17),
            .optional("receipt", .file(.receipt), since: .ios17),
        ],
        misnomers: ["type": "transactionType", "total": "amount"]
    )

    /// How one movement was paid. Apple: WalletOrders, `PaymentMethod`.
    public static let paymentMethod = ObjectDescription(
        "PaymentMethod",
        since: .ios17,
        fields: [.required("displayName", .text, since: .ios17)],
        misnomers: ["name": "displayName"]
    )
}
