// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Goods on their way back. Apple: WalletOrders, `Return`.
    public static let `return` = ObjectDescription(
        "Return",
        meaning: "Goods on their way back.",
        since: .ios17_2,
        fields: [
            .required(
                "returnIdentifier",
                .identifier,
                "Its name within the order, kept for good: changes are told by it. Never shown.",
                since: .ios17_2
            ),
            .required("status", .choice(ReturnStatus.names), "Where the return stands.", since: .ios17_2),
            .optional(
                "statusDescription",
                .text,
                "The state in words, in place of Wallet's own.",
                since: .ios17_2,
                localizable: true
            ),
            .optional("returnNumber", .text, "The number that the customer sees.", since: .ios17_2),
            .optional("returnManagementURL", .url, "Where the customer looks after the return.", since: .ios17_2),
            .optional("carrier", .text, "Who carries it.", since: .ios17_2),
            .optional("dropOffBy", .dateTime, "When the customer has to hand it in at the latest.", since: .ios17_2),
            .optional("initiatedAt", .dateTime, "When the customer asked for it.", since: .ios17_2),
            .optional("returnedAt", .dateTime, "When the merchant had it back.", since: .ios17_2),
            .optional(
                "lineItems",
                .list(.object(.lineItem)),
                "The items that go back, as they are to be shown.",
                since: .ios17_2
            ),
            .optional("notes", .text, "What the customer has to know.", since: .ios17_2),
            .optional(
                "returnLabel",
                .file(.label),
                "The label to print: a PDF, JPEG or PNG file of the package, which stays below 5 MB in all.",
                since: .ios17_2
            ),
        ],
        misnomers: ["label": "returnLabel", "number": "returnNumber", "items": "lineItems"]
    )
}

/// Where a return stands. Apple: WalletOrders, `Return.status`.
public enum ReturnStatus: String, Sendable, Hashable, CaseIterable {
    /// Announced.
    case open
    /// The carrier has it.
    case onTheWay
    /// The merchant looks at it.
    case processing
    /// Something went wrong.
    case issue
    /// Done.
    case completed
    /// It will not come.
    case cancelled

    static let names = allCases.map(\.rawValue)

    /// Whether nothing more is expected after it.
    public var isFinal: Bool { self == .completed || self == .cancelled }
}
