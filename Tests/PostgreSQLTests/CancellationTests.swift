// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@testable import PostgreSQL

struct CancellationTests {
    @Test("A cancelled task ends its statement on the server, and the connection is used again")
    func cancellation() async throws {
        try await withClient({
            $0.connectionsPerLoop = 1
            $0.cancelGrace = Patience.long
            $0.statementTimeout = .seconds(3_600)
        }) { client in
            let backend = try await client.query(TestStatements.backend)[0].int(0)
            await #expect(throws: DeadlineExceeded.self) {
                try await withDeadline(.milliseconds(50)) {
                    _ = try await client.query(TestStatements.sleep, [.double(3_600)])
                }
            }
            // In less than an hour, and by the session that would be asleep.
            #expect(try await client.query(TestStatements.backend)[0].int(0) == backend)
        }
    }

    @Test("A task that is cancelled while its answer is nearly here costs no session")
    func cancelledInVain() async throws {
        try await withClient({
            $0.connectionsPerLoop = 1
            $0.cancelDelay = Patience.long
        }) { client in
            let backend = try await client.query(TestStatements.backend)[0].int(0)
            for _ in 0..<20 {
                do {
                    try await withDeadline(.milliseconds(1)) {
                        _ = try await client.query(TestStatements.sleep, [.double(0.01)])
                    }
                } catch is DeadlineExceeded {}
                #expect(try await client.query(TestStatements.backend)[0].int(0) == backend)
            }
        }
    }

    @Test("Cancellations at random moments never hit another's statement")
    func cancellationRaces() async throws {
        try await withClient({ $0.cancelDelay = .zero }) { client in
            let outcomes = Collector<String>()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        do {
                            try await withDeadline(.microseconds(number * 20)) {
                                _ = try await client.query(TestStatements.sleep, [.double(0.003)])
                            }
                            outcomes.add("done")
                        } catch {
                            outcomes.add(error is DeadlineExceeded ? "late" : "\(error)")
                        }
                    }
                    group.addTask {
                        do {
                            let value = try await client.query(TestStatements.echo, [.int(Int64(number))])[0].int(0)
                            outcomes.add(value == number ? "right" : "wrong")
                        } catch {
                            outcomes.add("\(error)")
                        }
                    }
                }
            }
            let counts = Dictionary(grouping: outcomes.all) { $0 }.mapValues(\.count)
            #expect(counts["right"] == 300, "\(counts)")
            #expect((counts["done"] ?? 0) + (counts["late"] ?? 0) == 300, "\(counts)")
        }
    }
}
