// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@testable import PostgreSQL

private struct Refusal: Error {}

struct TransactionTests {
    private static let update = Statement("test_update", "update things set name = $2 where id = $1")
    private static let lock = Statement("test_lock", "select name from things where id = $1 for update")

    private func withThings(
        _ change: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (PostgresClient) async throws -> Void
    ) async throws {
        try await withClient(change) { client in
            try await client.withConnection {
                try await $0.script(
                    """
                    create table things (id bigint primary key, name text);
                    insert into things values (1, 'one'), (2, 'two')
                    """
                )
            }
            try await body(client)
        }
    }

    @Test("What a transaction did is there after it, and nothing of it after an error")
    func commitAndRollback() async throws {
        try await self.withThings { client in
            let id = try await client.transaction { connection in
                _ = try await connection.query(TestStatements.insert, [.int(3), .text("three")])
                return Int64(3)
            }
            #expect(id == 3)
            await #expect(throws: Refusal.self) {
                try await client.transaction { connection in
                    _ = try await connection.query(TestStatements.insert, [.int(4), .text("four")])
                    throw Refusal()
                }
            }
            #expect(try await client.query(TestStatements.count)[0].int(0) == 3)
        }
    }

    @Test("A violated constraint is named, and not tried again")
    func constraint() async throws {
        try await self.withThings { client in
            let tries = Collector<Int>()
            let error = await postgresError {
                try await client.transaction { connection in
                    tries.add(1)
                    _ = try await connection.query(TestStatements.insert, [.int(1), .text("again")])
                }
            }
            #expect(error?.code == .uniqueViolation)
            #expect(error?.constraint == "things_pkey")
            #expect(tries.all.count == 1)
        }
    }

    @Test("An error that the closure keeps to itself still undoes the transaction")
    func swallowed() async throws {
        try await self.withThings { client in
            let error = await postgresError {
                try await client.transaction { connection in
                    _ = try await connection.query(TestStatements.insert, [.int(5), .text("five")])
                    _ = try? await connection.query(TestStatements.insert, [.int(1), .text("again")])
                }
            }
            #expect(error?.code == .uniqueViolation)
            let found = try await client.query(TestStatements.count)[0].int(0)
            #expect(found == 2)
        }
    }

    @Test("A transaction without a statement needs no server")
    func empty() async throws {
        try await self.withThings { client in
            let found = try await client.transaction { _ in 7 }
            #expect(found == 7)
        }
    }

    @Test("Two that block each other both get through: the one that was chosen runs again")
    func deadlock() async throws {
        try await self.withThings { client in
            let both = [Signal(), Signal()]
            let tries = Collector<Int>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, ids) in [[1, 2], [2, 1]].enumerated() {
                    group.addTask {
                        try await client.transaction { connection in
                            tries.add(index)
                            _ = try await connection.query(Self.lock, [.int(Int64(ids[0]))])
                            both[index].fire()
                            try await both[1 - index].wait()
                            _ = try await connection.query(Self.update, [.int(Int64(ids[1])), .text("by \(index)")])
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(tries.all.count == 3)
        }
    }

    @Test("A closure that dresses the database's error in its own is repeated all the same")
    func dressed() async throws {
        try await self.withThings { client in
            let tries = Collector<Int>()
            try await client.transaction { connection in
                tries.add(1)
                do {
                    _ = try await connection.query(
                        tries.all.count < 3 ? TestStatements.terminateSelf : TestStatements.backend
                    )
                } catch {
                    throw Refusal()
                }
            }
            #expect(tries.all.count == 3)
        }
    }

    @Test("A connection lost before COMMIT costs a repetition, not the work")
    func lostBeforeCommit() async throws {
        try await self.withThings { client in
            let tries = Collector<Int>()
            try await client.transaction { connection in
                tries.add(1)
                _ = try await connection.query(TestStatements.insert, [.int(9), .text("nine")])
                if tries.all.count == 1 { _ = try await connection.query(TestStatements.terminateSelf) }
            }
            #expect(tries.all.count == 2)
            #expect(try await client.query(TestStatements.count)[0].int(0) == 3)
        }
    }

    @Test("A connection lost during COMMIT leaves the outcome open, and is not repeated")
    func lostDuringCommit() async throws {
        try await self.withThings { client in
            try await client.withConnection { connection in
                // The server ends the session in the middle of COMMIT: the answer never comes.
                try await connection.script(
                    """
                    create function leave() returns trigger language plpgsql as
                        $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
                    create constraint trigger leave after insert on things deferrable initially deferred
                        for each row execute function leave()
                    """
                )
            }
            let tries = Collector<Int>()
            let error = await postgresError {
                try await client.transaction { connection in
                    tries.add(1)
                    _ = try await connection.query(TestStatements.insert, [.int(9), .text("nine")])
                }
            }
            #expect(error?.code == .unknownCommit)
            #expect(tries.all.count == 1)
        }
    }

    @Test("COMMIT can travel with the last statements, or with all of them")
    func pipelinedCommit() async throws {
        try await self.withThings { client in
            let counts = try await client.transaction { connection in
                try await connection.pipelineAndCommit([
                    (TestStatements.insert, [.int(3), .text("three")]), (TestStatements.count, []),
                ]).map(\.affected)
            }
            #expect(counts == [1, 1])
            try await client.transaction { connection in
                _ = try await connection.query(TestStatements.insert, [.int(4), .text("four")])
                _ = try await connection.pipelineAndCommit([(TestStatements.insert, [.int(5), .text("five")])])
            }
            let tries = Collector<Int>()
            let error = await postgresError {
                try await client.transaction { connection in
                    tries.add(1)
                    _ = try await connection.pipelineAndCommit([
                        (TestStatements.insert, [.int(6), .text("six")]),
                        (TestStatements.insert, [.int(1), .text("again")]),
                    ])
                }
            }
            #expect(error?.code == .uniqueViolation)
            let lost = await postgresError {
                try await client.transaction { connection in
                    tries.add(1)
                    _ = try await connection.pipelineAndCommit([(TestStatements.terminateSelf, [])])
                }
            }
            #expect(lost?.code == .unknownCommit)
            #expect(tries.all.count == 2)
            let count = try await client.query(TestStatements.count)[0].int(0)
            #expect(count == 5)
        }
    }

    @Test("A warning at COMMIT, as when waiting for the standby is cut short, leaves the outcome open")
    func warningAtCommit() async throws {
        try await self.withThings { client in
            try await client.withConnection { connection in
                try await connection.script(Self.warning)
            }
            let error = await postgresError {
                try await client.transaction { connection in
                    _ = try await connection.query(TestStatements.insert, [.int(9), .text("nine")])
                }
            }
            #expect(error?.code == .unknownCommit)
        }
    }

    /// How the server ends a change when the wait for the standby is cut short: with success and a warning.
    private static let warning = """
        create function warn() returns trigger language plpgsql as
            $$ begin raise warning 'canceling wait for synchronous replication'; return null; end $$;
        create constraint trigger warn after insert on things deferrable initially deferred
            for each row execute function warn()
        """

    @Test("A change in a transaction of its own that the standby may not have leaves the outcome open, a read does not")
    func warningOutsideTransaction() async throws {
        let read = Statement("test_warned_read", "select warned()")
        try await self.withThings { client in
            try await client.withConnection { connection in
                try await connection.script(
                    Self.warning + """
                        ;
                        create function warned() returns int language plpgsql as
                            $$ begin raise warning 'nothing'; return 1; end $$
                        """
                )
            }
            let alone = await postgresError {
                _ = try await client.query(TestStatements.insert, [.int(9), .text("nine")])
            }
            #expect(alone?.code == .unknownCommit)
            let together = await postgresError {
                _ = try await client.pipeline([
                    (TestStatements.count, []), (TestStatements.insert, [.int(10), .text("ten")]),
                ])
            }
            #expect(together?.code == .unknownCommit)
            let lent = await postgresError {
                try await client.withConnection {
                    _ = try await $0.query(TestStatements.insert, [.int(11), .text("eleven")])
                }
            }
            #expect(lent?.code == .unknownCommit)
            let found = try await client.query(read)[0].int(0)
            #expect(found == 1)
        }
    }

    @Test("It gives up after five tries")
    func attempts() async throws {
        try await self.withThings { client in
            let tries = Collector<Int>()
            let error = await postgresError {
                try await client.transaction { connection in
                    tries.add(1)
                    _ = try await connection.query(TestStatements.terminateSelf)
                }
            }
            #expect(error?.code == .shuttingDown)
            #expect(tries.all.count == 5)
        }
    }

    @Test("A lock that is held longer than the transaction's own limit is an error")
    func lockTimeout() async throws {
        try await self.withThings { client in
            try await client.transaction { holder in
                _ = try await holder.query(Self.lock, [.int(1)])
                let error = await postgresError {
                    try await client.transaction(lockTimeout: .milliseconds(30)) { connection in
                        _ = try await connection.query(Self.lock, [.int(1)])
                    }
                }
                #expect(error?.code == .lockTimeout)
            }
        }
    }

    @Test("The limit of one transaction does not reach the next")
    func lockTimeoutIsLocal() async throws {
        let show = Statement("test_show_lock_timeout", "select current_setting('lock_timeout')")
        try await self.withThings({ $0.connectionsPerLoop = 1 }) { client in
            let inside = try await client.transaction(lockTimeout: .milliseconds(30)) { connection in
                try await connection.query(show)[0].text(0)
            }
            #expect(inside == "30ms")
            #expect(try await client.query(show)[0].text(0) == "2s")
        }
    }

    @Test("A cancelled transaction is rolled back, and its connection serves the next")
    func cancellation() async throws {
        try await self.withThings({ $0.connectionsPerLoop = 1 }) { client in
            await #expect(throws: DeadlineExceeded.self) {
                try await withDeadline(.milliseconds(50)) {
                    try await client.transaction { connection in
                        _ = try await connection.query(TestStatements.insert, [.int(3), .text("three")])
                        _ = try await connection.query(TestStatements.sleep, [.double(4)])
                    }
                }
            }
            let found = try await client.query(TestStatements.count)[0].int(0)
            #expect(found == 2)
        }
    }

    @Test("Sixteen writers on one row, each after the other")
    func writers() async throws {
        let increment = Statement("test_increment", "update counter set n = n + 1 returning n")
        try await withClient(loops: 2) { client in
            try await client.withConnection {
                try await $0.script("create table counter (n bigint); insert into counter values (0)")
            }
            let seen = Collector<Int64>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        for _ in 0..<25 {
                            seen.add(
                                try await client.transaction { connection in
                                    try await connection.query(increment)[0].int(0)
                                }
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(seen.all.sorted() == Array(1...400))
        }
    }
}
