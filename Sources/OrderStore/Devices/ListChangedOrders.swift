// SPDX-License-Identifier: Apache-2.0

package import OrderModel
import PostgreSQL

/// The orders of a device that changed, and the tag to ask with the next time.
package struct ChangedOrders: Sendable, Hashable {
    /// In byte order.
    package let orders: [OrderIdentifier]
    /// Opaque to the device; send it as a JSON string.
    package let tag: String
}

extension OrderStore {
    /// What changed for a device since a tag.
    ///
    /// - Parameter tag: the tag of an earlier answer. Nil, anything that is no tag, and a tag above the device's own
    ///   mark (from a history that was lost) mean all.
    /// - Returns: nil when nothing changed (204).
    package func changedOrders(
        of device: DeviceIdentifier,
        orderType: OrderTypeIdentifier,
        since tag: String?
    ) async throws -> ChangedOrders? {
        let rows = try await client.query(
            DeviceStatements.listChanged,
            [.text(orderType.text), .text(device.text), .int(Self.mark(of: tag))]
        )
        var orders: [OrderIdentifier] = []
        orders.reserveCapacity(rows.count)
        var mark: Int64 = 0
        for row in rows {
            orders.append(try stored { try OrderIdentifier(try row.text(0)) })
            mark = max(mark, try row.int(1))
        }
        if orders.isEmpty { return nil }
        orders.sort { $0.text.precedesInBytes($1.text) }
        return ChangedOrders(orders: orders, tag: String(mark))
    }

    /// A tag is decimal digits and nothing else; `Int64("+5")` would take more.
    static func mark(of tag: String?) -> Int64 {
        guard let tag, tag.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return Int64(tag) ?? 0
    }
}
