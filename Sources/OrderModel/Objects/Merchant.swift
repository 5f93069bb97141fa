// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Who sells. Apple: WalletOrders, `Merchant`.
    public static let merchant = ObjectDescription(
        "Merchant",
        meaning: "Who sells.",
        fields: [
            .required(
                "merchantIdentifier",
                .identifier,
                "The Apple merchant identifier, of the same developer account as the signing certificate."
            ),
            .required("displayName", .text, "The name that customers see.", localizable: true),
            .required("url", .url, "The merchant's website."),
            .optional(
                "logo",
                .file(.logo),
                "The logo: a PNG or JPEG file of the package, 300 by 300 pixels, without transparency."
            ),
            .optional("address", .object(.address), "Where the merchant can be reached by mail."),
            .optional("businessChatURL", .url, "Where a conversation by Messages for Business starts."),
            .optional("contactURL", .url, "The page that says how to reach the merchant."),
            .optional("emailAddress", .text, "The e-mail address for questions."),
            .optional("phoneNumber", .text, "The telephone number for questions."),
        ],
        misnomers: [
            "name": "displayName", "identifier": "merchantIdentifier", "email": "emailAddress", "phone": "phoneNumber",
        ]
    )
}
