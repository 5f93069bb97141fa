// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel
import PostgreSQL
import ServiceRuntime

extension OrderStore {
    /// Makes revisions of the next open orders that hold an older set of the type's files: a change of a type's file or
    /// strings goes out order by order, never in place, so that no revision changes its bytes.
    ///
    /// An order that can't be revised for the moment is left out, and the roll-out begins again after its end, for those
    /// that are still behind: a minute later, then ever less often, for a day.
    ///
    /// - Returns: how many orders are up to date now; nil when there is nothing to do at present: the roll-out is finished,
    ///   not begun, another worker's, or waits for its next pass.
    package func refreshBatch(
        of orderType: OrderTypeIdentifier,
        size: Int,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> Int? {
        let claim = SecureRandom.uuid()
        let place: [PostgresValue] = [.text(orderType.text), .uuid(claim)]
        guard let row = try await write(FileStatements.claimRefresh, place).first else { return nil }
        let target = try row.int(0)
        let cursor = try row.text(1)
        let size = min(max(size, 1), 500)
        let found = try await client.query(
            FileStatements.findOutdated,
            [.text(orderType.text), .text(cursor), .int(target), .int(Int64(size))]
        )
        var works: [OrderWork] = []
        var last: String?
        for row in found {
            guard let text = try row.optionalText(0) else { continue }
            last = last.map { $0.precedesInBytes(text) ? text : $0 } ?? text
            guard try row.bool(1) else { continue }
            var work = OrderWork(key: OrderKey(orderType, try stored { try OrderIdentifier(text) }))
            work.edits = [
                OrderWork.Edit(
                    index: works.count,
                    identifier: try EventIdentifier("edit " + SecureRandom.uuid()),
                    change: .refresh
                )
            ]
            works.append(work)
        }
        guard let last else {
            if let ended = try await write(FileStatements.endRefresh, place).first {
                let skipped = try ended.int(0)
                if skipped > 0 {
                    logger.error(
                        "a roll-out ends after a day without some orders: roll out again",
                        ["orderType": .string(orderType.text), "orders": .integer(Int(skipped))]
                    )
                }
            } else {
                _ = try await write(FileStatements.repeatRefresh, place)
            }
            return nil
        }
        let outcomes = await run(works, options)
        var done = 0
        var skipped = 0
        for (index, work) in works.enumerated() {
            guard case .failure(let error)? = outcomes[index] else {
                done += 1
                continue
            }
            if (error as? StoreError)?.code == .orderErased { continue }
            let isPassing = Self.isPassing(error)
            if isPassing { skipped += 1 }
            logger.warning(
                isPassing ? "an order is left out of a roll-out for now" : "an order kept its old files in a roll-out",
                [
                    "orderType": .string(orderType.text), "order": .string(work.key.mark), "reason": "\(error)",
                ]
            )
        }
        let counts = [PostgresValue.text(last), .int(Int64(done)), .int(Int64(skipped))]
        _ = try await write(FileStatements.moveRefresh, place + counts)
        return done
    }

    /// Whether the same change may succeed later: all but the order's own faults.
    private static func isPassing(_ error: any Error) -> Bool {
        guard let error = error as? StoreError else { return true }
        return error.code == .busy || error.code == .aheadOfClock
    }
}
