// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import PostgreSQL

extension OrderStore {
    /// Folds old entries of one order's log into its base: those older than 90 days, or beyond the newest 200. The
    /// document does not change, nor does its revision.
    ///
    /// - Returns: how many entries were folded away.
    func foldOldEvents(of key: OrderKey, _ options: ChangeOptions = ChangeOptions()) async throws -> Int {
        try await transaction { connection in
            let type = PostgresValue.text(key.orderType.text)
            let (orders, _) = try await LockedOrder.read(
                [OrderWork(key: key)],
                of: key.orderType,
                locking: true,
                on: connection
            )
            guard let locked = orders[key.order], let text = locked.text else { return 0 }
            let entries = try await ChangeRun.readLiveLog(locked, on: connection)
            let base = try stored { try FoldBase(json: try JSONValue(parsing: Array(text.base.utf8), limits: .stored)) }
            // Rows behind the base are in no fold any more. They answer duplicates for as long as a key would.
            let late = try await connection.query(
                OrderStatements.dropOldAnswers,
                [type, .text(key.order.text), text.baseUntil.map { .timestamp($0.timestamp) } ?? .null]
            ).affected
            let fold = options.fold
            guard let compaction = fold.compact(base, entries, now: locked.now.microseconds) else { return late }
            let folded = Set(compaction.folded)
            let rest = fold.fold(compaction.base, entries.filter { !folded.contains($0.identifier) })
            let document = try stored { try JSONValue(parsing: Array(text.document.utf8), limits: .stored) }
            guard rest.document == document else {
                // Folded under other settings than now: the shown document is kept, and so is its log.
                return late
            }
            _ = try await connection.pipeline([
                (OrderStatements.moveBase, ChangeRun.base(compaction, rest, locked, type)),
                (OrderStatements.dropEvents, [type, .text(key.order.text), .texts(compaction.folded)]),
            ])
            return compaction.folded.count + late
        }
    }
}
