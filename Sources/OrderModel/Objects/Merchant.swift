// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Who sells. Apple: WalletOrders, `Merchant`.
    public static let merchant = ObjectDescription(
        "Merchant",
        fields: [
            .required("merchantIdentifier", .identifier),
            .required("displayName", .text, localizable: true),
            .required("url", .url),
            .optional("logo", .file(.logo)),
            .optional("address", .object(.address)),
            .optional("businessChatURL", .url),
            .optional("contactURL", .url),
            .optional("emailAddress", .text),
            .optional("phoneNumber", .text),
        ],
        misnomers: [
            "name": "displayName", "identifier": "merchantIdentifier", "email": "emailAddress", "phone": "phoneNumber",
        ]
    )
}
