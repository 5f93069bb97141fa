// SPDX-License-Identifier: Apache-2.0

/// The merchant's name of one order, unique within its order type and never shown.
///
/// Apple sets no limits; here it is 1 to 255 bytes of UTF-8 without control characters, and neither `.` nor `..`, which no
/// device could ask for: the identifier stands in the path of its requests.
/// Apple: WalletOrders, `Order.orderIdentifier`.
public struct OrderIdentifier: ByteExactIdentifier, CustomStringConvertible {
    /// The identifier as it was sent.
    public let text: String

    /// - Throws: ``IdentifierError`` with `empty`, `tooLong`, `badCharacter` or `badForm`.
    public init(_ text: String) throws(IdentifierError) {
        try IdentifierRules.checkOpaque(text, kind: "order identifier")
        try IdentifierRules.checkSegment(text, kind: "order identifier")
        self.text = text
    }

    /// Whether the identifier needs no escapes in a URL. Devices put it into the path of every request.
    public var isURLSafe: Bool { IdentifierRules.isURLSafe(text) }

    /// The identifier; it is no secret.
    public var description: String { text }
}
