// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// One movement of money. Apple: WalletOrders, `PaymentTransaction`.
    public static let paymentTransaction = ObjectDescription(
        "PaymentTransaction",
        meaning: "One movement of money.",
        since: .ios17,
        fields: [
            .required("amount", .object(.currencyAmount), "The sum that was moved.", since: .ios17),
            .required("createdAt", .dateTime, "When it was moved.", since: .ios17),
            .required("paymentMethod", .object(.paymentMethod), "How it was paid.", since: .ios17),
            .required(
                "status",
                .choice(["pending", "approved", "completed", "cancelled", "failed"]),
                "Where the movement stands.",
                since: .ios17
            ),
            .required(
                "transactionType",
                .choice(["purchase", "refund"]),
                "To the merchant, or back to the customer.",
                since: .ios17
            ),
            .optional(
                "applePayTransactionIdentifier",
                .text,
                "The Apple Pay transaction to link to the order, by the identifier in its payment token.",
                since: .ios17
            ),
            .optional(
                "receipt",
                .file(.receipt),
                "The receipt: a PDF, JPEG or PNG file of the package.",
                since: .ios17
            ),
        ],
        misnomers: ["type": "transactionType", "total": "amount"]
    )

    /// How one movement was paid. Apple: WalletOrders, `PaymentMethod`.
    public static let paymentMethod = ObjectDescription(
        "PaymentMethod",
        meaning: "How one movement was paid.",
        since: .ios17,
        fields: [.required("displayName", .text, "The card or account as the customer knows it.", since: .ios17)],
        misnomers: ["name": "displayName"]
    )
}
