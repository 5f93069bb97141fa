// SPDX-License-Identifier: Apache-2.0

/// The name by which a device knows itself to the web service. Apple calls it an identifier that also authenticates
/// (the list route sends nothing else), so it is a secret and its description is redacted.
/// Apple: WalletOrders, "Register a device for update notifications".
public struct DeviceIdentifier: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The identifier as the device sent it.
    public let text: String

    /// Takes 1 to 255 visible ASCII characters, but neither `.` nor `..`, which no path can hold.
    ///
    /// - Throws: ``IdentifierError`` with `empty`, `tooLong`, `badCharacter` or `badForm`.
    public init(_ text: String) throws(IdentifierError) {
        try IdentifierRules.checkLength(text, kind: "device identifier", 1...255)
        try IdentifierRules.checkVisible(text, kind: "device identifier")
        try IdentifierRules.checkSegment(text, kind: "device identifier")
        self.text = text
    }

    /// Never the identifier itself.
    public var description: String { "<redacted>" }
    /// Never the identifier itself.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where APNs reaches a device: 1 to 1,000 hexadecimal digits, used exactly as sent.
/// Apple: WalletOrders, `PushToken`; APNs takes the token as hexadecimal text in the path.
public struct PushToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The token as the device sent it.
    public let text: String

    /// - Throws: ``IdentifierError`` with `empty`, `tooLong` or `badCharacter`.
    public init(_ text: String) throws(IdentifierError) {
        let kind = "push token"
        try IdentifierRules.checkLength(text, kind: kind, 1...1000)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue
            default:
                throw IdentifierError(
                    .badCharacter,
                    kind,
                    "The push token holds a character that is no hexadecimal digit",
                    fix: "Send the token as the device got it: 1 to 1,000 digits 0-9, a-f."
                )
            }
        }
        self.text = text
    }

    /// Never the token itself.
    public var description: String { "<redacted>" }
    /// Never the token itself.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secret that a device shows to fetch one order: at least 16 characters.
/// Apple: WalletOrders, `Order.authenticationToken`.
public struct AuthenticationToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Apple's lower limit in characters.
    public static let minimumLength = 16

    /// The longest token that is taken. Apple names no limit; this one leaves room in the 8 KiB that proxies give a
    /// request's header.
    public static let maximumLength = 2_048

    /// The token as it goes into the package and comes back in the header.
    public let text: String

    /// Takes 16 to 2,048 visible ASCII characters, so that it fits into the `Authorization` header unchanged.
    ///
    /// - Throws: ``IdentifierError`` with `empty`, `tooShort`, `tooLong` or `badCharacter`.
    public init(_ text: String) throws(IdentifierError) {
        try IdentifierRules.checkLength(text, kind: "authentication token", Self.minimumLength...Self.maximumLength)
        try IdentifierRules.checkVisible(text, kind: "authentication token")
        self.text = text
    }

    /// Never the token itself.
    public var description: String { "<redacted>" }
    /// Never the token itself.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
