// SPDX-License-Identifier: Apache-2.0

package import OrderModel
import PostgreSQL
import ServiceRuntime

extension OrderStore {
    /// Retention, one batch: kept answers past their time, share links and device log lines older than 30 days, devices
    /// that have been without a push token for 30 days. Heads and documents never go.
    ///
    /// - Parameter batch: rows of each kind, at most 1,000.
    /// - Returns: how many rows went; call again until 0.
    package func removeExpired(batch: Int = 1_000) async throws -> Int {
        let size = PostgresValue.int(Int64(min(max(batch, 1), 1_000)))
        var removed = 0
        for statement in [
            UpkeepStatements.dropAnswers, UpkeepStatements.dropShareLinks, UpkeepStatements.dropLogLines,
        ] {
            removed += try await client.query(statement, [size]).affected
        }
        removed += try await transaction { connection in
            // Processes of the version before forget tokens without the time.
            _ = try await connection.query(UpkeepStatements.timeSilentDevices, [size])
            // The rows are locked first; whether they still qualify is asked by the next statement.
            let silent = try await connection.query(UpkeepStatements.lockSilentDevices, [size])
            if silent.isEmpty { return 0 }
            _ = try await connection.query(
                UpkeepStatements.dropSilentDevices,
                [.texts(try silent.map { try $0.text(0) }), .texts(try silent.map { try $0.text(1) })]
            )
            return silent.count
        }
        return removed
    }

    /// Sweeps contents that nothing pins and nobody touched for a day, a stretch of 1,000 at a time.
    ///
    /// - Parameter place: where the last call ended; nil at the beginning.
    /// - Returns: where to go on, nil at the end; and how many contents went.
    package func sweepFiles(after place: FileSweepPlace?) async throws -> (next: FileSweepPlace?, removed: Int) {
        let rows = try await client.query(
            UpkeepStatements.sweepAssets,
            [.text(place?.orderType ?? ""), .bytes(place?.digest ?? []), .int(1_000)]
        )
        guard let row = rows.first else { return (nil, 0) }
        return (FileSweepPlace(orderType: try row.text(0), digest: try row.bytes(1)), Int(try row.int(2)))
    }

    /// Folds old entries of long logs into their documents' bases, for a stretch of a type's orders. An order whose turn
    /// fails is left to the next sweep: it keeps no other from its turn.
    ///
    /// - Parameter cursor: where the last call ended; nil at the beginning.
    /// - Returns: where to go on; nil at the end.
    package func foldLongLogs(
        of orderType: OrderTypeIdentifier,
        after cursor: OrderIdentifier?,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> OrderIdentifier? {
        let rows = try await client.query(
            OrderStatements.findLongLogs,
            [
                .text(orderType.text), .text(cursor?.text ?? ""), .int(Int64(FoldCompaction.keptEntries)),
                .int(Self.foldStretch),
            ]
        )
        var last: OrderIdentifier?
        for row in rows {
            let key = OrderKey(orderType, try stored { try OrderIdentifier(try row.text(0)) })
            last = key.order
            guard try row.bool(1) else { continue }
            do {
                _ = try await foldOldEvents(of: key, options)
            } catch {
                if Self.endsAll(error) { throw error }
                logger.warning(
                    "a long log was not shortened",
                    ["order": .string(key.mark), "orderType": .string(orderType.text), "reason": .string("\(error)")]
                )
            }
        }
        guard let end = rows.last, try end.bool(2) else { return nil }
        return last
    }

    /// How many orders' logs one statement looks at: it ends long before its time is over, however many orders there are.
    private static let foldStretch: Int64 = 500
}

/// Where a sweep of unused contents stands.
package struct FileSweepPlace: Sendable, Hashable {
    let orderType: String
    let digest: [UInt8]
}
