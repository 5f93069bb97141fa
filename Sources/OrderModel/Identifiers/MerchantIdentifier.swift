// SPDX-License-Identifier: Apache-2.0

/// The identifier of a merchant in Apple's developer portal, such as `merchant.com.example.shop`. It has to belong to the
/// developer account of the signing certificate. Apple: WalletOrders, `Merchant.merchantIdentifier`.
public struct MerchantIdentifier: ByteExactIdentifier, CustomStringConvertible {
    /// The identifier as it was sent.
    public let text: String

    /// - Throws: ``IdentifierError`` unless the text is 1 to 255 bytes without control characters.
    public init(_ text: String) throws(IdentifierError) {
        try IdentifierRules.checkOpaque(text, kind: "merchant identifier")
        self.text = text
    }

    /// The identifier; it is no secret.
    public var description: String { text }
}
