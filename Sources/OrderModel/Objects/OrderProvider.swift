// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// The platform that supplies the data for a merchant. Apple: WalletOrders, `OrderProvider`.
    public static let orderProvider = ObjectDescription(
        "OrderProvider",
        meaning: "The platform that supplies the data for a merchant.",
        since: .ios17_4,
        fields: [
            .required("displayName", .text, "The platform's name.", since: .ios17_4, localizable: true),
            .required("url", .url, "The platform's website.", since: .ios17_4),
            .required(
                "trackingLogoNameLightColorScheme",
                .file(.trackingLogo),
                "The logo beside a tracking link in light mode: a PNG or JPEG file of the package.",
                since: .ios17_4
            ),
            .required(
                "trackingLogoNameDarkColorScheme",
                .file(.trackingLogo),
                "The logo beside a tracking link in dark mode: a PNG or JPEG file of the package.",
                since: .ios17_4
            ),
        ],
        misnomers: [
            "logo": "trackingLogoNameLightColorScheme and trackingLogoNameDarkColorScheme", "name": "displayName",
        ]
    )
}
