// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// Who bought. Apple: WalletOrders, `Customer`.
    public static let customer = ObjectDescription(
        "Customer",
        fields: [
            .optional("givenName", .text),
            .optional("familyName", .text),
            .optional("organizationName", .text),
            .optional("emailAddress", .text),
            .optional("phoneNumber", .text),
        ],
        misnomers: [
            "firstName": "givenName", "lastName": "familyName", "email": "emailAddress", "phone": "phoneNumber",
            "name": "givenName and familyName",
        ]
    )
}
