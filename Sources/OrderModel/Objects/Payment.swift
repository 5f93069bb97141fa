// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// What was paid, and how. Apple: WalletOrders, `Payment`. The reference calls `status` deprecated and required at once;
    /// devices insist on it in documents of `schemaVersion` 1.
    public static let payment = ObjectDescription(
        "Payment",
        meaning: "What was paid, and how.",
        fields: [
            .required("total", .object(.currencyAmount), "What the customer pays in all."),
            .optional(
                "summaryItems",
                .list(.object(.summaryItem)),
                "Lines under the items, such as subtotal, shipping and tax."
            ),
            .optional(
                "transactions",
                .list(.object(.paymentTransaction)),
                "The movements of money, each with its receipt.",
                since: .ios17
            ),
            .requiredInVersion1(
                "status",
                .choice(PaymentStatus.names),
                "Where the payment stands. Called deprecated by Apple, yet devices insist on it in schemaVersion 1."
            ),
            .optional(
                "paymentMethods",
                .list(.text),
                "How it was paid, such as a card's brand and last digits. Superseded by transactions."
            ),
            .optional(
                "applePayTransactionIdentifiers",
                .list(.text),
                "Further Apple Pay transactions to link to the order. Superseded by transactions."
            ),
        ],
        misnomers: ["paymentMethod": "paymentMethods, or transactions[].paymentMethod", "amount": "total"]
    )
}

/// Where the payment stands. Apple: WalletOrders, `Payment.status`.
public enum PaymentStatus: String, Sendable, Hashable, CaseIterable {
    /// Not decided yet.
    case pending
    /// The amount is reserved.
    case authorized
    /// The amount was taken.
    case paid
    /// The amount was given back.
    case refunded
    /// The payment was refused.
    case declined
    /// The reservation was given up.
    case voided

    static let names = allCases.map(\.rawValue)
}
