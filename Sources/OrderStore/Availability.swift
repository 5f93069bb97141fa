// SPDX-License-Identifier: Apache-2.0

import PostgreSQL

/// What a door tells its callers when the database does not serve.
extension OrderStore {
    /// Whether an error says that the database can't serve for the moment, so that the same request may succeed later: 503,
    /// not 500.
    package static func isUnavailable(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError else { return (error as? StoreError)?.code == .busy }
        return switch error.code {
        case .connection, .refused, .noDatabase, .busy, .serialization, .deadlock, .lockTimeout, .statementTimeout,
            .readOnly, .shuttingDown, .unknownCommit, .exhausted:
            true
        default: error.isRetryable
        }
    }

    /// How long a request may keep the database busy or wait for it; with the moment that a last statement has to end, five
    /// seconds until it is answered, whatever the database does.
    package static let answerTime = Duration.milliseconds(4_500)
    /// The same for what takes its time: a thousand events, an order that thousands of devices follow.
    package static let longAnswerTime = Duration.seconds(25)

    /// Works for a request that has to be answered after a duration: every wait for the database ends by then.
    package static func answering<Result>(
        within duration: Duration = OrderStore.answerTime,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await RequestTime.limited(to: duration, body)
    }

    /// What keeps the database from taking changes though it answers, in a sentence for the operator: a full disk, say.
    package var databaseFault: String? { client.shortage }

    /// What is wrong with the database's schema, in a sentence for the operator; nil when it is this program's.
    ///
    /// Migrations that this program does not know are no fault here: during an upgrade the old processes go on serving
    /// until the new ones have taken over.
    ///
    /// - Throws: `PostgresError` when the database does not answer.
    package func schemaFault() async throws -> String? {
        let status = try await Migrator(Self.migrations).status(on: client)
        if let changed = status.entries.first(where: \.isChanged) {
            return "migration \(changed.version) was applied with another text"
        }
        if let missing = status.entries.first(where: { !$0.isApplied }) {
            return "migration \(missing.version) is not applied: run 'walletorders migrate'"
        }
        return nil
    }
}
