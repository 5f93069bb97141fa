// SPDX-License-Identifier: Apache-2.0
import OrderStore
import PostgreSQL
import ServiceRuntime

/// A command's short visit to the database.
enum StoreAccess {
    /// Opens the configured database, or the private cluster that runs in the data directory, and calls the closure.
    static func run<Result: Sendable>(
        _ arguments: CommandDescription.Arguments,
        _ body: @escaping @Sendable (PostgresClient, ServerConfiguration) async throws -> Result
    ) async throws -> Result {
        let configuration = try await ServerConfiguration.read(arguments)
        // What goes wrong is told once, by the command.
        LogSink.standardError.setLevel(.error)
        let logger = Logger(label: "walletorders")
        var settings: PostgresConfiguration
        if let given = configuration.database {
            settings = given
        } else if let running = try PrivateCluster.running(in: configuration.dataDirectory) {
            settings = running
        } else {
            throw CommandFailure(
                .configuration,
                "no database: set --database (WALLETORDERS_DATABASE, database), or name with --data-dir where "
                    + "'walletorders run' is running"
            )
        }
        settings.connectionsPerLoop = 1
        Database.name(&settings, "command")
        let loops = try EventLoopGroup(count: 1, name: "loop")
        let client = PostgresClient(configuration: settings, loops: loops, logger: logger)
        return try await withThrowingTaskGroup(of: Optional<Result>.self) { group in
            let shutdown = Signal()
            group.addTask {
                try await client.run(shutdown: shutdown)
                return nil
            }
            group.addTask {
                defer { shutdown.fire() }
                return try await body(client, configuration)
            }
            var result: Result?
            while let next = try await group.next() { result = next ?? result }
            guard let result else { throw CommandFailure(.unavailable, "the database connection ended") }
            return result
        }
    }

    /// The same, with the store, for what has nothing to do with orders' tokens: their keys need not be on this machine.
    static func withStore<Result: Sendable>(
        _ arguments: CommandDescription.Arguments,
        _ body: @escaping @Sendable (OrderStore, ServerConfiguration) async throws -> Result
    ) async throws -> Result {
        try await self.run(arguments) { client, configuration in
            try await body(
                OrderStore(client: client, tokens: .random(), logger: Logger(label: "walletorders")),
                configuration
            )
        }
    }
}
