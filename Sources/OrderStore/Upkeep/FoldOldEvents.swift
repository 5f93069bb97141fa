// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import PostgreSQL

extension OrderStore {
    /// Folds old entries of one order's log into its base: those older than 90 days, or beyond the newest 200. The
    /// document does not change, nor does its revision.
    ///
    /// A row is the answer to its duplicates as well, for as long as a key would be: it goes when it is in the base and
    /// 72 hours old, however long ago its event happened.
    ///
    /// - Returns: how many rows went.
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
            let fold = options.fold
            var until = text.baseUntil
            if let compaction = fold.compact(base, entries, now: locked.now.microseconds) {
                let rest = fold.fold(compaction.base, entries.filter { $0.occurredAt >= compaction.baseUntil })
                let document = try stored { try JSONValue(parsing: Array(text.document.utf8), limits: .stored) }
                // Folded under other settings than now, the shown document is kept, and so is its log.
                if rest.document == document {
                    _ = try await connection.query(
                        OrderStatements.moveBase,
                        ChangeRun.base(compaction, rest, locked, type)
                    )
                    until = Moment(microseconds: compaction.baseUntil)
                }
            }
            return try await connection.query(
                OrderStatements.dropOldAnswers,
                [type, .text(key.order.text), until.map { .timestamp($0.timestamp) } ?? .null]
            ).affected
        }
    }
}
