// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A postal address. Apple: WalletOrders, `Address`.
    public static let address = ObjectDescription(
        "Address",
        fields: [
            .optional("addressLines", .list(.text)),
            .optional("subLocality", .text),
            .optional("locality", .text),
            .optional("subAdministrativeArea", .text),
            .optional("administrativeArea", .text),
            .optional("postalCode", .text),
            .optional("countryCode", .country),
        ],
        misnomers: [
            "city": "locality", "state": "administrativeArea", "street": "addressLines", "line1": "addressLines",
            "country": "countryCode", "zip": "postalCode", "zipCode": "postalCode", "addressLine1": "addressLines",
        ]
    )
}
