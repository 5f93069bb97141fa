// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import OrderModel
import PostgreSQL

extension OrderStore {
    /// Forgets a push token that APNs no longer knows (410). Registrations and marks go on, and the next registration
    /// of the device is due at once.
    ///
    /// - Parameters:
    ///   - tokenDigest: of the token that was pushed to; a newer one stays.
    ///   - registeredBefore: APNs' time stamp. A token that was registered at or after it stays. Nil: whatever its age.
    ///   - reason: APNs' reason, for the order's history.
    /// - Returns: whether the token was forgotten.
    @discardableResult
    package func prune(
        _ orderType: OrderTypeIdentifier,
        device: DeviceIdentifier,
        tokenDigest: SHA256Digest,
        registeredBefore: Moment?,
        reason: String? = nil
    ) async throws -> Bool {
        let rows = try await write(
            TicketStatements.pruneToken,
            [
                .text(orderType.text), .text(device.text), .bytes(tokenDigest.bytes),
                .timestamp(registeredBefore?.timestamp ?? .infinity),
                reason.map { .text(Self.cut($0, 200)) } ?? .null,
            ]
        )
        return rows.affected > 0
    }
}
