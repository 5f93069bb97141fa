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
            let entries = try await ChangeRun.readLog(key, on: connection)
            let base = try stored { try FoldBase(json: try JSONValue(parsing: Array(text.base.utf8), limits: .stored)) }
            let until = text.baseUntil?.microseconds ?? .min
            let live = entries.filter { $0.occurredAt >= until }
            // Entries from before the base that came late are in no fold; they go once they are old.
            let late = entries.filter {
                $0.occurredAt < until && $0.occurredAt < locked.now.microseconds - FoldCompaction.age
            }
            let fold = options.fold
            guard let compaction = fold.compact(base, live, now: locked.now.microseconds) else { return 0 }
            let folded = Set(compaction.folded)
            let rest = fold.fold(compaction.base, live.filter { !folded.contains($0.identifier) })
            let document = try stored { try JSONValue(parsing: Array(text.document.utf8), limits: .stored) }
            guard rest.document == document else {
                // Folded under other settings than now: the shown document is kept, and so is its log.
                return 0
            }
            let gone = compaction.folded + late.map(\.identifier)
            _ = try await connection.pipeline([
                (
                    OrderStatements.moveBase,
                    [
                        type, .text(key.order.text),
                        .text(String(decoding: compaction.base.json.serialized(), as: UTF8.self)),
                        .timestamp(Timestamp(microseconds: compaction.baseUntil)),
                        .text(rest.foldedTo?.text ?? text.foldedTo), .text(rest.state.text),
                    ]
                ),
                (OrderStatements.dropEvents, [type, .text(key.order.text), .texts(gone)]),
            ])
            return gone.count
        }
    }
}
