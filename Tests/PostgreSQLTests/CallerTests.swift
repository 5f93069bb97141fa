// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@testable import PostgreSQL

/// The database is reached from wherever its caller runs, and leaves him there.
struct CallerTests {
    /// One of everything that takes a connection; says whether all of it came back right.
    private static func useAll(_ client: PostgresClient) async throws -> Bool {
        var sum: Int64 = 0
        for number in 1...5 { sum += try await client.query(TestStatements.echo, [.int(Int64(number))])[0].int(0) }
        sum += try await client.transaction { connection in
            #expect(connection.loop.isCurrent)
            return try await connection.query(TestStatements.echo, [.int(10)])[0].int(0)
        }
        sum += try await client.withConnection { try await $0.query(TestStatements.echo, [.int(20)])[0].int(0) }
        sum += try await client.pipeline([(TestStatements.echo, [.int(30)])])[0][0].int(0)
        let failure = await postgresError { _ = try await client.query(Statement("test_caller_bad", "select")) }
        return sum == 75 && failure == nil
    }

    /// An actor without an executor of its own goes on on the thread of whoever woke it.
    private actor Worker {
        private var isRight = true

        func work(_ client: PostgresClient, rounds: Int) async throws -> Bool {
            for _ in 0..<rounds where try await !CallerTests.useAll(client) { self.isRight = false }
            return self.isRight
        }
    }

    @MainActor
    private static func onMain(_ client: PostgresClient) async throws -> Bool {
        let isRight = try await self.useAll(client)
        MainActor.preconditionIsolated()
        return isRight
    }

    @Test("A caller on one of the client's loops, on another loop, on Swift's pool, and on the main actor")
    func places() async throws {
        let strangers = try EventLoopGroup(count: 1, name: "stranger")
        let stranger = strangers.loops[0]
        try await withClient(loops: 2) { client in
            #expect(try await Self.useAll(client))
            #expect(try await Self.onMain(client))
            let away = try await stranger.run {
                let isRight = try await Self.useAll(client)
                return isRight && stranger.isCurrent
            }
            #expect(away)
            for loop in client.loops {
                let home = try await loop.run {
                    let isRight = try await Self.useAll(client)
                    return isRight && loop.isCurrent
                }
                #expect(home)
            }
        }
        await strangers.shutdown()
    }

    @Test("An actor, called from each of those places")
    func actors() async throws {
        let strangers = try EventLoopGroup(count: 1, name: "stranger")
        try await withClient(loops: 2) { client in
            #expect(try await Worker().work(client, rounds: 10))
            for loop in strangers.loops + client.loops {
                let isRight = try await loop.run { try await Worker().work(client, rounds: 10) }
                #expect(isRight)
            }
        }
        await strangers.shutdown()
    }

    @Test("One actor, called from all of those places at once")
    func sharedActor() async throws {
        let strangers = try EventLoopGroup(count: 2, name: "stranger")
        try await withClient(loops: 2) { client in
            let worker = Worker()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { try await worker.work(client, rounds: 10) }
                for loop in strangers.loops + client.loops {
                    group.addTask { try await loop.run { try await worker.work(client, rounds: 10) } }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
        await strangers.shutdown()
    }
}
