// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@testable import PostgreSQL

/// A change of the tables makes plans stale in all sessions at once.
struct StalePlanTests {
    @Test("A change of a column's type is no error however many idle sessions knew it", arguments: [2, 4, 8])
    func changedColumnsOfManySessions(count: Int) async throws {
        let read = Statement("test_changed_everywhere", "select name from things where id = $1")
        try await withClient({ $0.connectionsPerLoop = count }) { client in
            try await client.withConnection {
                try await $0.script("create table things (id bigint, name text); insert into things values (1, 'one')")
            }
            for (round, type) in ["varchar(40)", "text"].enumerated() {
                // All sessions are in use at once, so each of them knows the statement.
                let together = Signal()
                let held = Locked(0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<count {
                        group.addTask {
                            try await client.withConnection { connection in
                                _ = try await connection.query(read, [.int(1)])
                                let number = held.withLock { held in
                                    held += 1
                                    return held
                                }
                                if number == count { together.fire() }
                                try await together.wait()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                try await client.withConnection { try await $0.script("alter table things alter name type \(type)") }
                let tries = Collector<Int>()
                if round == 0 {
                    let rows = try await client.query(read, [.int(1)])
                    #expect(try rows[0].text(0) == "one")
                } else {
                    try await client.transaction { connection in
                        tries.add(1)
                        _ = try await connection.query(read, [.int(1)])
                    }
                    #expect(tries.all.count == 2)
                }
            }
        }
    }
}
