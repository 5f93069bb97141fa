// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel
import PostgreSQL
import ServiceRuntime
import StoreTestSupport
import TestPatience
import Testing

@testable import OrderStore

/// Every test that needs a database: one private server for all of them, one database for each.
@Suite(.database)
enum StoreTests {}

extension StoreFixture {
    private static let waiting = Statement(
        "t_waiting",
        """
        select count(distinct a.pid) from pg_stat_activity a join pg_locks l on l.pid = a.pid
        where a.datname = current_database() and not l.granted
        """
    )

    private static let order = Statement(
        "t_hold_order",
        "select 1 from orders where order_identifier = $1::text for update"
    )

    /// Holds an order until a signal comes.
    func hold(_ order: String, until over: Signal) async throws -> Task<Void, any Error> {
        try await hold(Self.order, [.text(order)], until: over)
    }

    /// Holds what a statement locks until a signal comes.
    func hold(
        _ lock: Statement,
        _ values: [PostgresValue] = [],
        until over: Signal
    ) async throws -> Task<Void, any Error> {
        let held = Signal()
        let task = Task {
            try await client.transaction { connection in
                _ = try await connection.query(lock, values)
                held.fire()
                try await over.wait()
            }
        }
        try await held.wait()
        return task
    }

    /// Leaves open what became of the next commit that changes a row of a table, or of all of them: a warning at COMMIT is
    /// what a server gives that stops waiting for its standby. The sequence `t_commits` counts them, when it is the next.
    func loseCommits(of table: String, on operation: String, all: Bool = false) async throws {
        let isLost = all ? "true" : "nextval('t_commits') = 1"
        try await run(
            """
            create sequence t_commits;
            create function t_lose() returns trigger language plpgsql as $$ begin
                if \(isLost) then raise warning 'canceling wait for synchronous replication'; end if;
                return null; end $$;
            create constraint trigger t_lose after \(operation) on \(table) deferrable initially deferred
                for each row execute function t_lose()
            """
        )
    }

    /// Comes back once so many sessions wait for locks, or when something else has happened.
    func waits(_ count: Int64, or other: Signal = Signal()) async throws {
        try await withDeadline(Patience.long) {
            while try await self.number(Self.waiting) < count, !other.isFired { try await sleep(for: .milliseconds(5)) }
        }
    }

    /// Every rule of the tables holds.
    func expectInvariants(_ location: SourceLocation = #_sourceLocation) async throws {
        // The identity of each newest revision can be computed again from what its package is built of.
        for orderType in try await store.orderTypes() {
            for head in try await store.orders(OrderQuery(orderType: orderType, limit: 50)).heads {
                guard let package = try await store.package(head.key) else { continue }
                let digest = RevisionDigest.make(
                    document: String(decoding: package.document.json.serialized(), as: UTF8.self),
                    parts: OrderPart.digest(of: package.parts),
                    modifiedAt: package.head.modifiedAt.seconds
                )
                #expect(package.head.digest == digest, sourceLocation: location)
            }
        }
        for report in try await store.checkInvariants() {
            #expect(report.violations == 0, "\(report.name)", sourceLocation: location)
        }
    }
}
