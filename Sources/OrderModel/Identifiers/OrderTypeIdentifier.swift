// SPDX-License-Identifier: Apache-2.0

/// The reverse-DNS name registered with Apple that says whose orders these are, such as `order.com.example.shop`.
///
/// It has to equal the identifier in the signing certificate, letter by letter, and is the topic of push notifications.
/// Apple: WalletOrders, `Order.orderTypeIdentifier`.
public struct OrderTypeIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as it stands in the certificate.
    public let text: String

    /// Takes a reverse-DNS name: labels of letters, digits and hyphens, at least two, at most 255 bytes.
    ///
    /// - Throws: ``IdentifierError`` with `empty`, `tooLong`, `badCharacter` or `badForm`.
    public init(_ text: String) throws(IdentifierError) {
        let kind = "order type identifier"
        try IdentifierRules.checkLength(text, kind: kind, 1...255)
        let fix = "Use the identifier of the Order Type ID certificate, for instance order.com.example.shop."
        var labels = 1
        var length = 0
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D:
                length += 1
            case 0x2E where length > 0:
                labels += 1
                length = 0
            case 0x2E:
                throw IdentifierError(.badForm, kind, "The order type identifier has an empty label", fix: fix)
            default:
                throw IdentifierError(
                    .badCharacter,
                    kind,
                    "The order type identifier holds a character other than letters, digits, '-' and '.'",
                    fix: fix
                )
            }
        }
        guard labels > 1, length > 0 else {
            throw IdentifierError(.badForm, kind, "The order type identifier is no reverse-DNS name", fix: fix)
        }
        self.text = text
    }

    /// Whether it begins with `order.`, as every identifier seen in public does.
    public var followsConvention: Bool { text.hasPrefix("order.") }

    /// The identifier; it is no secret.
    public var description: String { text }
}
