// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Goods on their way back. Apple: WalletOrders, `Return`.
    public static let `return` = ObjectDescription(
        "Return",
        since: .ios17_2,
        fields: [
            .required("returnIdentifier", .identifier, since: .ios17_2),
            .required("status", .choice(ReturnStatus.names), since: .ios17_2),
            .optional("statusDescription", .text, since: .ios17_2, localizable: true),
            .optional("returnNumber", .text, since: .ios17_2),
            .optional("returnManagementURL", .url, since: .ios17_2),
            .optional("carrier", .text, since: .ios17_2),
            .optional("dropOffBy", .dateTime, since: .ios17_2),
            .optional("initiatedAt", .dateTime, since: .ios17_2),
            .optional("returnedAt", .dateTime, since: .ios17_2),
            .optional("lineItems", .list(.object(.lineItem)), since: .ios17_2),
            .optional("notes", .text, since: .ios17_2),
            .optional("returnLabel", .file(.label), since: .ios17_2),
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
