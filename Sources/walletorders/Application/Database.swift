// SPDX-License-Identifier: Apache-2.0
import OrderStore
import PostgreSQL
import ServiceRuntime

/// The database of one process: the configured one, or a private cluster in the data directory.
struct Database: Sendable {
    let client: PostgresClient
    let cluster: PrivateCluster?

    /// The services that all others stand on.
    var services: [any Service] {
        let services: [(any Service)?] = [self.cluster, self.client]
        return services.compactMap { $0 }
    }

    /// Decides which database it is; nothing is started, nothing is connected to.
    ///
    /// - Throws: `CommandFailure`, `ConfigurationError`.
    init(
        _ configuration: ServerConfiguration,
        _ data: DataDirectory,
        _ plan: Application.Plan,
        loops: EventLoopGroup,
        logger: Logger
    ) throws {
        var cluster: PrivateCluster?
        var settings: PostgresConfiguration
        if let given = configuration.database {
            settings = given
        } else if plan.isSelfContained {
            let own = PrivateCluster(directory: data.path, logger: logger.labelled("postgres"))
            cluster = own
            settings = own.configuration
        } else if let running = try PrivateCluster.running(in: data.path) {
            settings = running
        } else {
            throw CommandFailure(
                .configuration,
                "no database: set --database (WALLETORDERS_DATABASE, database) to a PostgreSQL URL, or start "
                    + "'walletorders run' with the same --data-dir"
            )
        }
        settings.connectionsPerLoop = configuration.databaseConnections
        Self.name(&settings, plan.name)
        // A worker's statements touch a thousand tickets at a time, and nobody waits for them.
        if plan.roles == [.push] { settings.statementTimeout = .seconds(15) }
        self.client = PostgresClient(configuration: settings, loops: loops, logger: logger.labelled("postgres"))
        self.cluster = cluster
    }

    /// Starts the private cluster, and brings the schema up to date where this process owns the database, or checks it.
    ///
    /// - Throws: `CommandFailure`, or the database's error; `close` is still to be called then.
    func start(_ plan: Application.Plan, logger: Logger) async throws {
        if let cluster = self.cluster {
            do { try await cluster.start() } catch {
                let code = CommandFailure.Code(rawValue: error.exitStatus) ?? .unavailable
                throw CommandFailure(code, "\(error)")
            }
        }
        if plan.isSelfContained {
            _ = try await Migrator(OrderStore.migrations).migrate(self.client, logger: logger.labelled("migrations"))
        } else {
            try await Self.check(self.client, logger)
        }
    }

    /// Sees that this machine's token keys are the database's.
    ///
    /// - Throws: `CommandFailure` (78).
    func settle(_ keys: TokenKeys.OnMachine) async throws {
        let settled = try await Self.settle(keys, self.client)
        // The store was made with the key that this process thought of, and another one was first.
        guard keys.isSame(settled) else {
            throw CommandFailure(
                .configuration,
                "another process made the first token key in \(keys.directory) at the same moment: start again"
            )
        }
    }

    /// The same for a command that has no store yet.
    static func settle(_ keys: TokenKeys.OnMachine, _ client: PostgresClient) async throws -> TokenKeys {
        do { return try await keys.settle(client) } catch let error as StoreError {
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    /// Ends what `start` began.
    func close() async {
        await self.client.close()
        await self.cluster?.stop()
    }

    /// Says in `pg_stat_activity` whose session it is: of which command, on which machine. A URL may say something else.
    static func name(_ settings: inout PostgresConfiguration, _ command: String) {
        if settings.applicationName == "walletorders" {
            settings.applicationName += "/\(command)/\(ProcessEnvironment.hostName)"
        }
    }

    /// Refuses a database whose schema this program can't work with: an older one, one with a migration that says so, or one
    /// with another text. On what else a newer program has added it serves, as one that was running then does.
    private static func check(_ client: PostgresClient, _ logger: Logger) async throws {
        let status = try await Migrator(OrderStore.migrations).status(on: client)
        guard status.pending.isEmpty else {
            throw CommandFailure(
                .configuration,
                "the database's schema is older than this program: run 'walletorders migrate' first"
            )
        }
        guard status.breaking.isEmpty else {
            throw CommandFailure(
                .configuration,
                "the database's schema is newer than this program: install the newer program"
            )
        }
        if !status.unknown.isEmpty {
            logger.notice("the database's schema is newer than this program, which can work with it")
        }
        guard !status.entries.contains(where: \.isChanged) else {
            throw CommandFailure(
                .configuration,
                "the database's schema is another than this program's: 'walletorders migrate --status' says where"
            )
        }
    }
}
