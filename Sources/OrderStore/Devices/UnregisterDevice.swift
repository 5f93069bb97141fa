// SPDX-License-Identifier: Apache-2.0

package import OrderModel
import PostgreSQL

extension OrderStore {
    /// Ends a registration, and forgets the device when it was its last. Doing it twice is the same as once.
    ///
    /// Three statements in this order: the device's row is what a registration locks too, and whether it is empty is
    /// asked by a later statement than the deletion.
    package func unregister(_ device: DeviceIdentifier, from key: OrderKey) async throws {
        let place: [PostgresValue] = [.text(key.orderType.text), .text(device.text)]
        try await transaction { connection in
            let results = try await connection.pipeline([
                (DeviceStatements.lockDevice, place),
                (DeviceStatements.removeRegistration, place + [.text(key.order.text)]),
                (DeviceStatements.removeEmptyDevice, place),
            ])
            // Gone already, with a try before it may be that got no answer.
            if results[0].isEmpty { _ = try await connection.query(UpkeepStatements.awaitStandby) }
        }
    }
}
