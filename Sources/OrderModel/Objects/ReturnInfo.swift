// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// The terms of returning goods. Apple: WalletOrders, `ReturnInfo`.
    public static let returnInfo = ObjectDescription(
        "ReturnInfo",
        meaning: "The terms of returning goods.",
        since: .ios17_2,
        fields: [
            .required("returnPolicyURL", .url, "The page with the terms.", since: .ios17_2),
            .optional("returnPolicyDescription", .text, "The terms in a few words.", since: .ios17_2),
            .optional("returnManagementURL", .url, "Where a return begins.", since: .ios17_2),
            .optional(
                "returnDeadline",
                .dateTime,
                "Until when goods can be returned; until then a completed order can still be updated.",
                since: .ios17_2
            ),
            .optional(
                "displayCountdown",
                .boolean,
                "Whether Wallet counts down to returnDeadline; false if left out. Only for orders that can go back as a whole.",
                since: .ios17_2
            ),
        ],
        misnomers: ["deadline": "returnDeadline", "policyURL": "returnPolicyURL"]
    )
}
