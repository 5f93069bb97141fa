// SPDX-License-Identifier: Apache-2.0

/// The merchant's name of one parcel or pickup within an order. Wallet compares it between versions to notify of changes,
/// so it has to stay the same. Apple: WalletOrders, `ShippingFulfillment.fulfillmentIdentifier`.
public struct FulfillmentIdentifier: ByteExactIdentifier, CustomStringConvertible {
    /// The identifier as it was sent.
    public let text: String

    /// - Throws: ``IdentifierError`` unless the text is 1 to 255 bytes without control characters.
    public init(_ text: String) throws(IdentifierError) {
        try IdentifierRules.checkOpaque(text, kind: "fulfillment identifier")
        self.text = text
    }

    /// The identifier; it is no secret.
    public var description: String { text }
}

/// The merchant's name of one return within an order. Apple: WalletOrders, `Return.returnIdentifier`.
public struct ReturnIdentifier: ByteExactIdentifier, CustomStringConvertible {
    /// The identifier as it was sent.
    public let text: String

    /// - Throws: ``IdentifierError`` unless the text is 1 to 255 bytes without control characters.
    public init(_ text: String) throws(IdentifierError) {
        try IdentifierRules.checkOpaque(text, kind: "return identifier")
        self.text = text
    }

    /// The identifier; it is no secret.
    public var description: String { text }
}

/// The sender's name of one event: the same name means the same event, however often it arrives.
public struct EventIdentifier: ByteExactIdentifier, CustomStringConvertible {
    /// The identifier as it was sent.
    public let text: String

    /// - Throws: ``IdentifierError`` unless the text is 1 to 255 bytes without control characters.
    public init(_ text: String) throws(IdentifierError) {
        try IdentifierRules.checkOpaque(text, kind: "event identifier")
        self.text = text
    }

    /// The identifier; it is no secret.
    public var description: String { text }
}
