// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// The platform that supplies the data for a merchant. Apple: WalletOrders, `OrderProvider`.
    public static let orderProvider = ObjectDescription(
        "OrderProvider",
        since: .ios17_4,
        fields: [
            .required("displayName", .text, since: .ios17_4, localizable: true),
            .required("url", .url, since: .ios17_4),
            .required("trackingLogoNameLightColorScheme", .file(.trackingLogo), since: .ios17_4),
            .required("trackingLogoNameDarkColorScheme", .file(.trackingLogo), since: .ios17_4),
        ],
        misnomers: [
            "logo": "trackingLogoNameLightColorScheme and trackingLogoNameDarkColorScheme", "name": "displayName",
        ]
    )
}
