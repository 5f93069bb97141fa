// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import PostgreSQL
import ServiceRuntime

extension OrderStore {
    /// Erases an order's personal data: document, files, log, registrations, links. The head stays as a tombstone, so
    /// that the identifier is not used again and a registration that is under way is refused.
    ///
    /// Registrations beyond a thousand go first, in batches, each in a transaction of its own: whoever repeats an erasure that
    /// was cut short goes on from there. Under a condition all is one transaction: a change between two would leave the
    /// order, and its devices without news of it.
    ///
    /// - Returns: false when the order is unknown or was erased before.
    /// - Throws: ``StoreError`` with `preconditionFailed`.
    package func erase(_ key: OrderKey, _ options: ChangeOptions = ChangeOptions()) async throws -> Bool {
        if options.validateOnly {
            guard let head = try await head(key), !head.isErased else { return false }
            try Self.check(options.ifMatch, head.digest, key)
            return true
        }
        let type = PostgresValue.text(key.orderType.text)
        let place = [type, .text(key.order.text)]
        let isMade = Locked(false)
        return try await inTurn(key) {
            if case .none = options.ifMatch {
                while try await self.forgetDevices(of: key, atMost: Self.eraseBatch) == Self.eraseBatch {}
            }
            return try await self.transaction { connection in
                let heads = try await connection.query(OrderStatements.lockForErase, place)
                // Made by the run before, it may be, whose commit was not answered for.
                guard let head = heads.first, try !head.bool(0) else { return isMade.withLock { $0 } }
                try Self.check(options.ifMatch, try SHA256Digest(stored: head.bytes(1)), key)
                let contents = try await connection.query(OrderStatements.lockAssetsOfOrder, place)
                let digests = try contents.map { try $0.bytes(0) }
                let devices = try await connection.query(OrderStatements.lockDevicesOfOrder, place + [.null])
                let names = try devices.map { try $0.text(0) }
                _ = try await connection.pipeline([
                    (OrderStatements.eraseContents, place),
                    (OrderStatements.dropLooseAssets, [type, .bytesArray(digests)]),
                    (OrderStatements.dropEmptyDevices, [type, .texts(names)]),
                ])
                isMade.withLock { $0 = true }
                return true
            }
        }
    }

    private static func check(_ ifMatch: Precondition, _ digest: SHA256Digest, _ key: OrderKey) throws(StoreError) {
        guard !ifMatch.holds(for: digest) else { return }
        throw StoreError.changed(key)
    }

    private static let eraseBatch = 1_000

    /// Ends registrations of an order that is about to be erased, and forgets devices that had no other.
    ///
    /// - Returns: how many devices it was.
    private func forgetDevices(of key: OrderKey, atMost count: Int) async throws -> Int {
        let type = PostgresValue.text(key.orderType.text)
        let place = [type, .text(key.order.text)]
        return try await transaction { connection in
            let heads = try await connection.query(OrderStatements.lockForErase, place)
            guard let head = heads.first, try !head.bool(0) else { return 0 }
            let devices = try await connection.query(
                OrderStatements.lockDevicesOfOrder,
                place + [.int(Int64(count))]
            )
            // The last batch goes with the rest of the order.
            if devices.count < count { return devices.count }
            let names = PostgresValue.texts(try devices.map { try $0.text(0) })
            _ = try await connection.pipeline([
                (OrderStatements.dropRegistrations, place + [names]),
                (OrderStatements.dropEmptyDevices, [type, names]),
            ])
            return devices.count
        }
    }
}
