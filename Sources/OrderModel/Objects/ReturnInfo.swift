// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// The terms of returning goods. Apple: WalletOrders, `ReturnInfo`.
    public static let returnInfo = ObjectDescription(
        "ReturnInfo",
        since: .ios17_2,
        fields: [
            .required("returnPolicyURL", .url, since: .ios17_2),
            .optional("returnPolicyDescription", .text, since: .ios17_2),
            .optional("returnManagementURL", .url, since: .ios17_2),
            .optional("returnDeadline", .dateTime, since: .ios17_2),
            .optional("displayCountdown", .boolean, since: .ios17_2),
        ],
        misnomers: ["deadline": "returnDeadline", "policyURL": "returnPolicyURL"]
    )
}
