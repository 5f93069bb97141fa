// SPDX-License-Identifier: Apache-2.0

import OrderModel
import PostgreSQL

extension OrderStore {
    /// Settles answers of one claim. A ticket whose mark moved on meanwhile is due again after a second; a late answer
    /// of a lost lease changes nothing.
    ///
    /// - Returns: how many tickets were still this claim's.
    @discardableResult
    package func settle(_ claim: TicketClaim, _ answers: [TicketAnswer]) async throws -> Int {
        if answers.isEmpty { return 0 }
        let values: [PostgresValue] = [
            .text(claim.orderType.text), .uuid(claim.claim), .texts(answers.map(\.device.text)),
            .ints(answers.map(\.mark)), .texts(answers.map(\.verdict.word)), .ints(answers.map(\.verdict.wait)),
            .texts(answers.map { $0.reason.map { Self.cut($0, 200) } }),
        ]
        // In a transaction for its retries: settling twice is settling once, since the first one clears the claim.
        return try await transaction { connection in
            try await connection.query(TicketStatements.settleTickets, values).affected
        }
    }
}
