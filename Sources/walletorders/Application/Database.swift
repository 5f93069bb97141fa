// SPDX-License-Identifier: Apache-2.0
import OrderStore
import PostgreSQL
import ServiceRuntime

/// The database of one process: the configured one, or a private cluster in the data directory.
struct Database: Sendable {
    let client: PostgresClient
    let cluster: PrivateCluster?
    let services: [any Service]

    /// Opens the database, and brings its schema up to date where this process owns it.
    static func open(
        _ configuration: ServerConfiguration,
        _ data: DataDirectory,
        _ plan: Application.Plan,
        loops: EventLoopGroup,
        logger: Logger
    ) async throws -> Database {
        var cluster: PrivateCluster?
        var settings: PostgresConfiguration
        if let url = configuration.database {
            settings = try self.settings(url: url.value)
        } else if plan.isSelfContained {
            let own = PrivateCluster(directory: data.path, logger: logger.labelled("postgres"))
            do { try await own.start() } catch {
                let code = CommandFailure.Code(rawValue: error.exitStatus) ?? .unavailable
                throw CommandFailure(code, "\(error)")
            }
            cluster = own
            settings = own.configuration
        } else if let running = PrivateCluster.running(in: data.path) {
            settings = running
        } else {
            throw CommandFailure(
                .configuration,
                "no database: set --database (WALLETORDERS_DATABASE, database) to a PostgreSQL URL, or start "
                    + "'walletorders run' with the same --data-dir"
            )
        }
        settings.connectionsPerLoop = configuration.databaseConnections
        let client = PostgresClient(configuration: settings, loops: loops, logger: logger.labelled("postgres"))
        if plan.isSelfContained {
            do {
                _ = try await Migrator(OrderStore.migrations).migrate(client, logger: logger.labelled("migrations"))
            } catch {
                await client.close()
                await cluster?.stop()
                throw error
            }
        } else {
            try await self.check(client)
        }
        let services: [(any Service)?] = [cluster, client]
        return Database(client: client, cluster: cluster, services: services.compactMap { $0 })
    }

    /// Ends what `open` began.
    func close() async {
        await self.client.close()
        await self.cluster?.stop()
    }

    /// The settings of a database URL.
    static func settings(url: String) throws -> PostgresConfiguration {
        do { return try PostgresConfiguration(url: url) } catch {
            throw ConfigurationError(["database: \(error)"])
        }
    }

    /// Refuses a database whose schema is another than this program's.
    private static func check(_ client: PostgresClient) async throws {
        let status = try await Migrator(OrderStore.migrations).status(on: client)
        guard status.pending.isEmpty else {
            throw CommandFailure(
                .configuration,
                "the database's schema is older than this program: run 'walletorders migrate' first"
            )
        }
        guard status.unknown.isEmpty else {
            throw CommandFailure(
                .configuration,
                "the database's schema is newer than this program: install the newer program"
            )
        }
    }
}
