// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Who bought. Apple: WalletOrders, `Customer`.
    public static let customer = ObjectDescription(
        "Customer",
        meaning: "Who bought.",
        fields: [
            .optional("givenName", .text, "The first name."),
            .optional("familyName", .text, "The last name."),
            .optional("organizationName", .text, "The company."),
            .optional("emailAddress", .text, "The e-mail address."),
            .optional("phoneNumber", .text, "The telephone number."),
        ],
        misnomers: [
            "firstName": "givenName", "lastName": "familyName", "email": "emailAddress", "phone": "phoneNumber",
            "name": "givenName and familyName",
        ]
    )
}
