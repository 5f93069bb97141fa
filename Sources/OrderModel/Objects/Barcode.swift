// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A code to scan. Apple: WalletOrders, `Barcode`. The formats have no prefix, unlike those of passes.
    public static let barcode = ObjectDescription(
        "Barcode",
        meaning: "A code to scan.",
        fields: [
            .required(
                "format",
                .choice(["qr", "pdf417", "aztec", "code128"]),
                "The kind of code. The names have no prefix, unlike those of passes."
            ),
            .required("message", .text, "What the code says when it is scanned."),
            .required(
                "messageEncoding",
                .text,
                "The text encoding of the message by its IANA name, normally iso-8859-1."
            ),
            .optional("altText", .text, "Text near the code, for those who can't scan it.", localizable: true),
        ],
        misnomers: ["encoding": "messageEncoding", "type": "format", "value": "message"]
    )
}
