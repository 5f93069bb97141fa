// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A code to scan. Apple: WalletOrders, `Barcode`. The formats have no prefix, unlike those of passes.
    public static let barcode = ObjectDescription(
        "Barcode",
        fields: [
            .required("format", .choice(["qr", "pdf417", "aztec", "code128"])),
            .required("message", .text),
            .required("messageEncoding", .text),
            .optional("altText", .text, localizable: true),
        ],
        misnomers: ["encoding": "messageEncoding", "type": "format", "value": "message"]
    )
}
