// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel
import PostgreSQL

/// What became of a registration.
package enum RegistrationOutcome: Sendable, Hashable {
    /// The device did not follow this order before (201).
    case registered
    /// It did (200); a new push token has taken the old one's place.
    case known
    /// The order is gone or erased (401).
    case orderUnknown
    /// As many devices follow the order as may (429).
    case full
}

extension OrderStore {
    /// How many devices may follow one order: a family and its spare parts are far below, and a change of the order has to
    /// tell each of them in one transaction.
    package static let registrationLimit = 1_000

    /// Registers a device for an order's changes. Check the token with ``authorize(_:token:)`` first, a plain read, so
    /// that a stranger can't take locks.
    ///
    /// The share lock on the head makes the registration and a change of the order see each other; a registration of an
    /// order that has changed before is due at once, because the device may have fetched an older revision.
    package func register(
        _ device: DeviceIdentifier,
        pushToken: PushToken,
        for key: OrderKey
    ) async throws -> RegistrationOutcome {
        let digest = SHA256.hash(Array(pushToken.text.utf8)).bytes
        let place: [PostgresValue] = [.text(key.orderType.text), .text(device.text), .text(key.order.text)]
        let known = try await write(DeviceStatements.confirmRegistration, place + [.bytes(digest)])
        if known.affected > 0 { return .known }
        let (isThere, outcome) = try await inTurn(key) {
            try await self.transaction { connection -> (isThere: Bool, outcome: (isNew: Bool, isDue: Bool)?) in
                let results = try await connection.pipeline([
                    (DeviceStatements.shareOrder, [.text(key.orderType.text), .text(key.order.text)]),
                    (
                        DeviceStatements.register,
                        place + [.bytes(digest), .text(pushToken.text), .int(Int64(Self.registrationLimit))]
                    ),
                ])
                let isThere = results.first?.isEmpty == false
                guard let row = results.last?.first else { return (isThere, nil) }
                return (isThere, (try row.bool(0), try row.bool(1)))
            }
        }
        guard let row = outcome else { return isThere ? .full : .orderUnknown }
        if row.isDue { bell.ring(key.orderType) }
        return row.isNew ? .registered : .known
    }
}
