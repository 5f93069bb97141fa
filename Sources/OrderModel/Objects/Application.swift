// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// An app that belongs to the order. Apple: WalletOrders, `Application`.
    public static let application = ObjectDescription(
        "Application",
        fields: [
            .required("storeIdentifier", .positiveInteger),
            .optional("launchURL", .text),
            .optional("customProductPageIdentifier", .text, since: .ios17),
        ],
        misnomers: ["bundleIdentifier": "storeIdentifier, or associatedApplicationIdentifiers of the order"]
    )
}
