// SPDX-License-Identifier: Apache-2.0

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

    /// Type and identifier; neither is a secret.
    package var description: String { "\(orderType.text)/\(order.text)" }
}

extension String {
    /// Collation "C": the order of the bytes, which Swift's own comparison of strings is not.
    func precedesInBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
