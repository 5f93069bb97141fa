// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTPEngine
import OrderModel
import OrderStore
import PostgreSQL
import ServiceRuntime
import Simulators

/// The parts of one process, made and joined: which ones, is the command's choice.
struct Application {
    /// What a process does.
    enum Role: Sendable { case web, push }

    /// What a command wants.
    struct Plan: Sendable {
        var roles: Set<Role>
        /// Whether everything that is not configured is provided: database, test authority, APNs simulator.
        var isSelfContained = false
        /// Whether test order types complete their orders by themselves.
        var completesWhenFulfilled = false

        /// The command that wants it.
        var name: String { self.isSelfContained ? "run" : self.roles.contains(.web) ? "serve" : "worker" }
    }

    let configuration: ServerConfiguration
    let logger: Logger
    let loops: EventLoopGroup
    let store: OrderStore
    let types: OrderTypeDirectory
    let addresses: Addresses
    let testIdentity: TestIdentity?
    let apnsSimulator: APNsSimulator?
    private let services: [any Service]
    private let database: Database
    private let requests: OperatorRequests
    private let reload: ConfigurationReload

    /// Where the listeners are, with the ports that they really got.
    struct Addresses: Sendable {
        var device: BoundAddress?
        var merchant: BoundAddress?
        var admin: BoundAddress?
        var apns: BoundAddress?
    }

    /// Makes all parts and starts the database. Nothing is served before `run`.
    ///
    /// What can be wrong without the database is found before it is made: the settings, the identities, a taken port.
    ///
    /// - Parameter reread: reads the settings again, when SIGHUP asks for it.
    /// - Throws: `Interrupted` when the operator ended it meanwhile.
    static func make(
        _ plan: Plan,
        reread: @escaping @Sendable () async throws -> ServerConfiguration
    ) async throws -> Application {
        let configuration = try await reread()
        LogSink.standardError.setLevel(configuration.logLevel)
        let logger = Logger(label: "walletorders")
        let loops = try EventLoopGroup(count: configuration.loops, name: "loop")
        let requests = OperatorRequests(on: loops.loops[0], logger: logger)
        return try await requests.untilStopped {
            let loaded = try await OrderTypeLoading.load(configuration.orderTypes)
            let data = try await DataDirectory(configuration.dataDirectory)
            let database = try Database(configuration, data, plan, loops: loops, logger: logger)
            var parts = try await Parts(configuration, plan, data, database, loops: loops, logger: logger)
            let types = loaded.isEmpty ? parts.testOrderTypes(configuration, plan) : loaded
            do {
                try Task.checkCancellation()
                try await database.start(plan, logger: logger)
                try await database.settle(parts.tokenKeys)
                for type in types { try await parts.store.ensureOrderType(type.identifier) }
            } catch {
                // The database server is our child: it ends before we do, cleanly, or the next start would find it at work.
                await database.close()
                throw error
            }
            parts.types.replace(types)
            parts.listenForTickets(database.client)
            parts.services.insert(contentsOf: database.services, at: 0)
            return Application(configuration, parts, database, requests, loops: loops, logger: logger, reread: reread)
        }
    }

    private init(
        _ configuration: ServerConfiguration,
        _ parts: Parts,
        _ database: Database,
        _ requests: OperatorRequests,
        loops: EventLoopGroup,
        logger: Logger,
        reread: @escaping @Sendable () async throws -> ServerConfiguration
    ) {
        self.configuration = configuration
        self.logger = logger
        self.loops = loops
        self.store = parts.store
        self.types = parts.types
        self.addresses = parts.addresses
        self.testIdentity = parts.testIdentity
        self.apnsSimulator = parts.apnsSimulator
        self.services = parts.services
        self.database = database
        self.requests = requests
        self.reload = ConfigurationReload(
            start: configuration,
            parts: parts,
            logger: logger.labelled("configuration"),
            reread: reread
        )
    }

    /// Does something between `make` and `run`; when it fails, what `make` started is ended.
    func prepare<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch {
            await self.database.close()
            throw error
        }
    }

    /// Serves until SIGTERM or SIGINT, or until `body` has ended.
    ///
    /// - Parameter body: runs beside the services and is cancelled when they end; when it throws, they drain as ever before
    ///   that is thrown on.
    func run(_ body: (@Sendable () async throws -> Void)? = nil) async throws {
        let group = ServiceGroup(self.services, drain: self.configuration.drain, logger: self.logger)
        let loop = self.loops.loops[0]
        let (requests, reload) = (self.requests, self.reload)
        requests.onReload { loop.spawn { await reload.request() } }
        loop.spawn {
            do { try await requests.stop.wait() } catch {}
            group.stop()
        }
        let failure = Locked<(any Error)?>(nil)
        do {
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                tasks.addTask {
                    try await group.run()
                    return true
                }
                if let body {
                    tasks.addTask {
                        // Thrown out of here it would cancel the services, which are to drain.
                        do { try await body() } catch { failure.withLock { $0 = error } }
                        group.stop()
                        return false
                    }
                }
                // Without the services the body would wait for what does not come. They themselves drain at leisure.
                if try await tasks.next() == true { tasks.cancelAll() }
                try await tasks.waitForAll()
            }
            if let error = failure.withLock({ $0 }) { throw error }
        } catch {
            await self.database.cluster?.stop()
            throw body != nil && requests.stop.isFired ? Interrupted() : error
        }
        await self.database.cluster?.stop()
    }

    /// An address as it stands in a URL.
    static func authority(_ address: BoundAddress) -> String {
        switch address {
        case .ip(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }
}
