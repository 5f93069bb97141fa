// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// What was paid, and how. Apple: WalletOrders, `Payment`. The reference calls `status` deprecated and required at once;
    /// devices insist on it in documents of `schemaVersion` 1.
    public static let payment = ObjectDescription(
        "Payment",
        fields: [
            .required("total", .object(.currencyAmount)),
            .optional("summaryItems", .list(.object(.summaryItem))),
            .optional("transactions", .list(.object(.paymentTransaction)), since: .ios17),
            .requiredInVersion1("status", .choice(PaymentStatus.names)),
            .optional("paymentMethods", .list(.text)),
            .optional("applePayTransactionIdentifiers", .list(.text)),
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
