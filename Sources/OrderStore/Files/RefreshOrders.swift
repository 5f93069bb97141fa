// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel
import PostgreSQL
import ServiceRuntime

extension OrderStore {
    /// Makes revisions of the next open orders that hold an older set of the type's files: a change of a type's file or
    /// strings goes out order by order, never in place, so that no revision changes its bytes.
    ///
    /// - Returns: how many orders were looked at; 0 when the roll-out is finished, not begun, or another worker's.
    package func refreshBatch(
        of orderType: OrderTypeIdentifier,
        size: Int,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws -> Int {
        let claim = SecureRandom.uuid()
        let place: [PostgresValue] = [.text(orderType.text), .uuid(claim)]
        guard let row = try await write(FileStatements.claimRefresh, place).first else { return 0 }
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
            _ = try await write(FileStatements.endRefresh, place)
            return 0
        }
        let outcomes = await run(works, options)
        for case .failure(let error) in outcomes.values where (error as? StoreError)?.code != .orderErased {
            // An order that can't be revised now keeps its files; a worker that asks again starts behind it.
            logger.warning("An order kept its old files in a roll-out.", ["reason": "\(error)"])
        }
        _ = try await write(FileStatements.moveRefresh, place + [.text(last), .int(Int64(works.count))])
        return max(works.count, 1)
    }
}
