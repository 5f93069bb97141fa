// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// An identifier that equals another only when their bytes are equal, as in a database or a URL.
///
/// Swift's own text comparison takes "é" in one scalar and in two for the same; a key column does not.
public protocol ByteExactIdentifier: Hashable, Sendable {
    /// The identifier as it was sent.
    var text: String { get }
}

extension ByteExactIdentifier {
    /// Byte by byte.
    public static func == (left: Self, right: Self) -> Bool { left.text.isExactly(right.text) }

    /// Over the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactKey(text))
    }
}
