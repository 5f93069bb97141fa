// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderStore
package import PostgreSQL
package import ServiceRuntime
import Testing

/// Where the store and the server of tests log to: nothing but errors, and those to nobody.
package enum TestLog {
    package static let logger = Logger(label: "store-tests", sink: LogSink(form: .text, level: .error) { _ in })
}

/// A store on a database of its own.
package struct StoreFixture: Sendable {
    package let store: OrderStore
    package let client: PostgresClient
    package let tokens: TokenKeys
    /// The loops of the database's connections: a program's services share them.
    package let loops: EventLoopGroup

    /// A store over a database, which has its tables after that. Whoever opens it closes the client.
    package static func open(
        _ configuration: PostgresConfiguration,
        loops: EventLoopGroup,
        tokens: TokenKeys = .random(),
        logger: Logger = TestLog.logger
    ) async throws -> StoreFixture {
        let client = PostgresClient(configuration: configuration, loops: loops, logger: logger)
        do {
            _ = try await Migrator(OrderStore.migrations).migrate(client, logger: TestLog.logger)
        } catch {
            await client.close()
            throw error
        }
        let store = OrderStore(client: client, tokens: tokens, logger: logger)
        return StoreFixture(store: store, client: client, tokens: tokens, loops: loops)
    }

    /// Runs SQL as it is.
    package func run(_ script: String) async throws {
        try await client.withConnection { connection in
            try await connection.script("set statement_timeout = '60 s'")
            try await connection.script(script, timeout: .seconds(60))
            try await connection.script("reset statement_timeout")
        }
    }

    /// The number that a statement gives.
    package func number(_ statement: Statement, _ values: [PostgresValue] = []) async throws -> Int64 {
        try await client.query(statement, values).first?.int(0) ?? -1
    }
}

/// Runs a test on a fresh, migrated database and drops it.
package func withStore(
    connectionsPerLoop: Int = 4,
    tokens: TokenKeys = .random(),
    logger: Logger = TestLog.logger,
    _ body: @escaping @Sendable (StoreFixture) async throws -> Void
) async throws {
    let cluster = try #require(await TestCluster.shared.cluster, "the suite lacks the trait .database")
    await TestGate.shared.enter()
    do {
        try await withStoreInside(cluster, connectionsPerLoop, tokens, logger, body)
    } catch {
        await TestGate.shared.leave()
        throw error
    }
    await TestGate.shared.leave()
}

/// Runs a test with a server of its own, for what is a setting of a whole server, and takes it away in all cases.
package func withCluster(
    _ settings: [String: String],
    _ body: (PrivateCluster) async throws -> Void
) async throws {
    let directory = "/tmp/walletorders-store-\(Hex.encode(SecureRandom.bytes(4)))"
    try Files.createDirectory(directory, mode: 0o755)
    let cluster = PrivateCluster(directory: directory, logger: TestLog.logger, settings: settings, isDurable: false)
    var failure: (any Error)?
    do {
        try await cluster.start()
        try await body(cluster)
    } catch {
        failure = error
    }
    await cluster.stop()
    do { try Files.removeTree(directory) } catch { failure = failure ?? error }
    if let failure { throw failure }
}

/// Lets a few tests at a time at the server: the others wait here, not in its time limits.
private actor TestGate {
    static let shared = TestGate()
    private var free = 6
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

private func withStoreInside(
    _ cluster: PrivateCluster,
    _ connectionsPerLoop: Int,
    _ tokens: TokenKeys,
    _ logger: Logger,
    _ body: @escaping @Sendable (StoreFixture) async throws -> Void
) async throws {
    let name = "store_\(Hex.encode(SecureRandom.bytes(6)))"
    let loops = try EventLoopGroup(count: 2, name: name)
    var administration = cluster.administration
    administration.connectionsPerLoop = 1
    administration.statementTimeout = .seconds(60)
    let keeper = PostgresClient(configuration: administration, loops: loops, logger: TestLog.logger)
    try await keeper.withConnection { try await $0.script("create database \(name)") }
    var configuration = cluster.administration
    configuration.database = name
    configuration.connectionsPerLoop = connectionsPerLoop
    var failure: (any Error)?
    do {
        let fixture = try await StoreFixture.open(configuration, loops: loops, tokens: tokens, logger: logger)
        do { try await body(fixture) } catch { failure = error }
        await fixture.client.close()
    } catch {
        failure = error
    }
    if failure == nil {
        let deadlocks = try? await deadlockCount(name, keeper)
        #expect(deadlocks == 0, "transactions of \(name) met in a deadlock, though their retries hid it")
    }
    do {
        try await keeper.withConnection { try await $0.script("drop database \(name) with (force)") }
    } catch {
        Issue.record("\(name) can't be dropped: \(error)")
    }
    await keeper.close()
    await loops.shutdown()
    if let failure { throw failure }
}

/// How often the server broke a deadlock in a database. Backends tell when they end, so all must have ended.
private func deadlockCount(_ database: String, _ keeper: PostgresClient) async throws -> Int64 {
    let open = Statement("t_open_sessions", "select count(*) from pg_stat_activity where datname = $1::text")
    let count = Statement("t_deadlock_count", "select deadlocks from pg_stat_database where datname = $1::text")
    while try await keeper.query(open, [.text(database)]).first?.int(0) != 0 { await Task.yield() }
    return try await keeper.query(count, [.text(database)]).first?.int(0) ?? -1
}

/// Runs work on many tasks at once and gives the results in order.
package func atOnce<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        for index in 0..<count { group.addTask { (index, try await body(index)) } }
        var values: [Int: Value] = [:]
        for try await (index, value) in group { values[index] = value }
        return (0..<count).compactMap { values[$0] }
    }
}
