// SPDX-License-Identifier: Apache-2.0

/// The 32 bytes of a SHA-256 digest.
public struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
    /// How many bytes a digest has.
    public static let byteCount = 32
    /// The digest itself.
    public let bytes: [UInt8]

    /// Takes over a digest computed or stored elsewhere.
    /// - Precondition: exactly 32 bytes; use `init?(hex:)` for text from outside.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount, "a SHA-256 digest has 32 bytes, not \(bytes.count)")
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits, lower or upper case; nil for anything else.
    public init?(hex: String) {
        guard let bytes = Hex.decode(hex), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// 64 lower-case hexadecimal digits, the form of an order's manifest.
    public var hex: String { Hex.encode(bytes) }

    /// The hexadecimal form.
    public var description: String { hex }
}
