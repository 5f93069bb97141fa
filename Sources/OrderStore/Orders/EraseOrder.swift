// SPDX-License-Identifier: Apache-2.0

import OrderModel
import PostgreSQL

extension OrderStore {
    /// Erases an order's personal data: document, files, log, registrations, links. The head stays as a tombstone, so
    /// that the identifier is not used again and a registration that is under way is refused.
    ///
    /// - Returns: false when the order is unknown or was erased before.
    package func erase(_ key: OrderKey) async throws -> Bool {
        let type = PostgresValue.text(key.orderType.text)
        let place = [type, .text(key.order.text)]
        return try await inTurn(key) {
            try await self.transaction { connection in
                let heads = try await connection.query(OrderStatements.lockForErase, place)
                guard let head = heads.first, try !head.bool(0) else { return false }
                let contents = try await connection.query(OrderStatements.lockAssetsOfOrder, place)
                let digests = try contents.map { try $0.bytes(0) }
                let devices = try await connection.query(OrderStatements.lockDevicesOfOrder, place)
                let names = try devices.map { try $0.text(0) }
                _ = try await connection.pipeline([
                    (OrderStatements.eraseContents, place),
                    (OrderStatements.dropLooseAssets, [type, .bytesArray(digests)]),
                    (OrderStatements.dropEmptyDevices, [type, .texts(names)]),
                ])
                return true
            }
        }
    }
}
