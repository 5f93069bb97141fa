// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// An app that belongs to the order. Apple: WalletOrders, `Application`.
    public static let application = ObjectDescription(
        "Application",
        meaning: "An app that belongs to the order.",
        fields: [
            .required("storeIdentifier", .positiveInteger, "The app's number in the App Store (ADAM identifier)."),
            .optional("launchURL", .text, "The URL handed to the app when it is opened from the order."),
            .optional(
                "customProductPageIdentifier",
                .text,
                "The App Store product page to show to those who don't have the app.",
                since: .ios17
            ),
        ],
        misnomers: ["bundleIdentifier": "storeIdentifier, or associatedApplicationIdentifiers of the order"]
    )
}
