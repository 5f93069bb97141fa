// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel

/// What one order is found by: its type and its identifier. Sorted as the database sorts, by bytes, which is the
/// order that locks are taken in.
package struct OrderKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The type, which is also the certificate's and the shard's key.
    package let orderType: OrderTypeIdentifier
    /// The merchant's identifier.
    package let order: OrderIdentifier

    /// Names an order.
    package init(_ orderType: OrderTypeIdentifier, _ order: OrderIdentifier) {
        self.orderType = orderType
        self.order = order
    }

    /// Byte order: type, then identifier.
    package static func < (left: OrderKey, right: OrderKey) -> Bool {
        if left.orderType != right.orderType { return left.orderType.text.precedesInBytes(right.orderType.text) }
        return left.order.text.precedesInBytes(right.order.text)
    }

    /// The identifier as logs show it: shortened, and the same each time, as words of device log lines are.
    package var mark: String { "#" + SHA256.hash(Array(order.text.utf8)).hex.prefix(12) }

    /// Type and identifier; neither is a secret.
    package var description: String { "\(orderType.text)/\(order.text)" }
}

extension String {
    /// Collation "C": the order of the bytes, which Swift's own comparison of strings is not.
    func precedesInBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
