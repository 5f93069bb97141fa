// SPDX-License-Identifier: Apache-2.0

package import PostgreSQL

/// One rule that the tables keep without foreign keys, and how many rows break it.
package struct InvariantReport: Sendable, Hashable {
    /// The rule, in words.
    package let name: String
    /// Rows that break it; 0 is right.
    package let violations: Int64
}

extension OrderStore {
    /// Checks the rules that the lock order and the statements keep. Reads whole tables: for `doctor`, on a standby when
    /// there is one, and for tests.
    package func checkInvariants() async throws -> [InvariantReport] { try await Self.checkInvariants(on: client) }

    /// The same without a store, on connections that let a statement take its time.
    package static func checkInvariants(on client: PostgresClient) async throws -> [InvariantReport] {
        var reports: [InvariantReport] = []
        for (name, statement) in [
            ("a device's mark is not below what its list shows", UpkeepStatements.markBehind),
            ("a device that may hold an older revision has a ticket", UpkeepStatements.silentDevice),
            ("a registration has its device and its order", UpkeepStatements.orphan),
            ("each revision is a second later than the one before", UpkeepStatements.timeStill),
            ("a head is its newest revision", UpkeepStatements.headApart),
            ("an event's answer names a stored revision", UpkeepStatements.eventAhead),
            ("documents and pinned contents are there", UpkeepStatements.partMissing),
            ("a ticket belongs to a device with a push token", UpkeepStatements.ticketAstray),
        ] {
            let rows = try await client.query(statement)
            reports.append(InvariantReport(name: name, violations: try rows.first?.int(0) ?? 0))
        }
        return reports
    }
}
