// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A postal address. Apple: WalletOrders, `Address`.
    public static let address = ObjectDescription(
        "Address",
        meaning: "A postal address.",
        fields: [
            .optional("addressLines", .list(.text), "The street part of the address, one line an element."),
            .optional("subLocality", .text, "A part of the city, such as a district."),
            .optional("locality", .text, "The city."),
            .optional("subAdministrativeArea", .text, "A part of the state, such as a county."),
            .optional("administrativeArea", .text, "The state or province."),
            .optional("postalCode", .text, "The postal code."),
            .optional("countryCode", .country, "The country."),
        ],
        misnomers: [
            "city": "locality", "state": "administrativeArea", "street": "addressLines", "line1": "addressLines",
            "country": "countryCode", "zip": "postalCode", "zipCode": "postalCode", "addressLine1": "addressLines",
        ]
    )
}
