// SPDX-License-Identifier: Apache-2.0
import Console
import Cryptography
import DeviceAPI
import Glibc
import HTTPEngine
import MerchantAPI
import OrderModel
import OrderPackage
import OrderStore
import PostgreSQL
import PushNotifications
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
    }

    let configuration: ServerConfiguration
    let logger: Logger
    let loops: EventLoopGroup
    let store: OrderStore
    let types: OrderTypeDirectory
    let services: [any Service]
    let addresses: Addresses
    let testIdentity: TestIdentity?
    let apnsSimulator: APNsSimulator?
    private let cluster: PrivateCluster?
    private let deviceServer: HTTPServer?

    /// Where the listeners are, with the ports that they really got.
    struct Addresses: Sendable {
        var device: BoundAddress?
        var merchant: BoundAddress?
        var admin: BoundAddress?
        var apns: BoundAddress?
    }

    /// Makes all parts: database first, listeners last. Nothing is served before `run`.
    static func make(_ configuration: ServerConfiguration, _ plan: Plan) async throws -> Application {
        LogSink.standardError.setLevel(configuration.logLevel)
        let logger = Logger(label: "walletorders")
        let loops = try EventLoopGroup(count: configuration.loops, name: "loop")
        let data = try await DataDirectory(configuration.dataDirectory)
        let database = try await Database.open(configuration, data, plan, loops: loops, logger: logger)
        do {
            return try await self.assemble(configuration, plan, data, database, loops: loops, logger: logger)
        } catch {
            // The database server is our child: it ends before we do, cleanly, or the next start would find it at work.
            await database.close()
            throw error
        }
    }

    private static func assemble(
        _ configuration: ServerConfiguration,
        _ plan: Plan,
        _ data: DataDirectory,
        _ database: Database,
        loops: EventLoopGroup,
        logger: Logger
    ) async throws -> Application {
        var services = database.services
        let store = OrderStore(
            client: database.client,
            tokens: try await self.tokenKeys(data, plan),
            logger: logger.labelled("store")
        )

        var addresses = Addresses()
        let metrics = Metrics.shared
        let types = OrderTypeDirectory()
        let packages = SignedPackages(store: store, types: types)

        var testIdentity: TestIdentity?
        var simulator: APNsSimulator?
        if plan.isSelfContained {
            let identity = try await TestIdentity.load(data.pki)
            testIdentity = identity
            if configuration.orderTypes.isEmpty {
                let made = try identity.apnsSimulator(
                    listen: configuration.apnsSimulatorListen,
                    loops: loops,
                    logger: logger.labelled("apns-simulator")
                )
                addresses.apns = try self.bind(made.server, "apnsSimulator.listen")
                services.append(made)
                simulator = made
            }
        }

        var deviceServer: HTTPServer?
        if plan.roles.contains(.push) {
            let worker = PushWorker(
                store: store,
                types: types,
                loop: loops.next(),
                logger: logger.labelled("push"),
                metrics: metrics
            )
            database.client.listen([OrderStore.ticketChannel]) { _, payload in
                do { worker.wake(try OrderTypeIdentifier(payload)) } catch {}
            }
            services.append(worker)
            services.append(Upkeep(store: store, logger: logger.labelled("upkeep")))
        }
        if plan.roles.contains(.web) {
            let reads = PackageReads(store: store, logger: logger.labelled("device"))
            services.append(reads)
            let device = DeviceAPI(
                store: store,
                packages: packages,
                reads: reads,
                logger: logger.labelled("device"),
                metrics: metrics
            )
            var prefixes = configuration.orderTypes.map(\.webServiceURL)
            if let url = configuration.webServiceURL { prefixes.append(url) }
            let server = HTTPServer(
                name: "device",
                address: configuration.deviceListen,
                tls: try await self.deviceTLS(configuration, testIdentity),
                router: device.router(prefixes: prefixes.map(DeviceAPI.pathPrefix(of:))),
                proxies: configuration.trustedProxies,
                loops: loops,
                logger: logger.labelled("device")
            )
            addresses.device = try self.bind(server, "device.listen")
            services.append(server)
            deviceServer = server

            let merchant = MerchantAPI(
                store: store,
                types: types,
                packages: packages,
                logger: logger.labelled("merchant"),
                metrics: metrics
            )
            let merchantServer = HTTPServer(
                name: "merchant",
                address: configuration.merchantListen,
                tls: nil,
                router: merchant.router(),
                proxies: configuration.trustedProxies,
                loops: loops,
                logger: logger.labelled("merchant")
            )
            addresses.merchant = try self.bind(merchantServer, "merchant.listen")
            services.append(merchantServer)
        }
        let console = Console(store: store, types: types, metrics: metrics, logger: logger.labelled("admin"))
        let admin = HTTPServer(
            name: "admin",
            address: configuration.adminListen,
            tls: nil,
            router: console.router(),
            loops: loops,
            logger: logger.labelled("admin")
        )
        addresses.admin = try self.bind(admin, "admin.listen")
        services.append(admin)
        // First to be told of the end: readiness goes before the listeners do.
        services.append(console)

        var loaded = try await OrderTypeLoading.load(configuration.orderTypes)
        if loaded.isEmpty, let testIdentity, let apns = addresses.apns {
            let url = configuration.webServiceURL ?? "https://\(addresses.device.map(self.authority) ?? "localhost")/"
            loaded = [
                testIdentity.orderType(
                    webServiceURL: url,
                    apns: apns,
                    completeWhenFulfilled: plan.completesWhenFulfilled
                )
            ]
        }
        types.replace(loaded)
        for type in loaded { try await store.ensureOrderType(type.identifier) }
        return Application(
            configuration: configuration,
            logger: logger,
            loops: loops,
            store: store,
            types: types,
            services: services,
            addresses: addresses,
            testIdentity: testIdentity,
            apnsSimulator: simulator,
            cluster: database.cluster,
            deviceServer: deviceServer
        )
    }

    /// Does something between `make` and `run`; when it fails, what `make` started is ended.
    func prepare<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch {
            await self.cluster?.stop()
            throw error
        }
    }

    /// Serves until SIGTERM or SIGINT, or until `body` has ended.
    ///
    /// - Parameter body: runs beside the services; what it throws ends them and is thrown on.
    func run(_ body: (@Sendable () async throws -> Void)? = nil) async throws {
        let group = ServiceGroup(self.services, drain: self.configuration.drain, logger: self.logger)
        let logger = self.logger
        ProcessSignals.watch(on: self.loops.loops[0]) { request in
            switch request {
            case .stop:
                logger.notice("stopping")
                group.stop()
            case .stopNow: _exit(1)
            case .reload: logger.notice("reload asked for")
            }
        }
        do {
            if let body {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await group.run() }
                    tasks.addTask {
                        defer { group.stop() }
                        try await body()
                    }
                    try await tasks.waitForAll()
                }
            } else {
                try await group.run()
            }
        } catch {
            await self.cluster?.stop()
            throw error
        }
        await self.cluster?.stop()
    }

    private static func tokenKeys(_ data: DataDirectory, _ plan: Plan) async throws -> TokenKeys {
        do {
            return try await TokenKeys.load(directory: data.keys, createIfMissing: plan.isSelfContained)
        } catch {
            throw CommandFailure(
                .configuration,
                "\(error) 'walletorders migrate' makes the first key; every machine needs the same files there"
            )
        }
    }

    private static func bind(_ server: HTTPServer, _ setting: String) throws -> BoundAddress {
        do { return try server.bind() } catch {
            throw CommandFailure(.configuration, "\(error); choose another address with \(setting)")
        }
    }

    private static func deviceTLS(
        _ configuration: ServerConfiguration,
        _ testIdentity: TestIdentity?
    ) async throws -> TLSContext? {
        if let certificate = configuration.deviceCertificate, let key = configuration.deviceKey {
            let chain = try await OrderTypeLoading.certificates(certificate)
            guard let leaf = chain.first else {
                throw ConfigurationError(["device.certificate: \(certificate) holds no certificate"])
            }
            let text = try await OrderTypeLoading.read(key)
            do {
                return try TLSContext.server(
                    certificate: leaf,
                    chain: Array(chain.dropFirst()),
                    key: try PrivateKey(pem: text, passphrase: nil),
                    alpn: ["h2", "http/1.1"],
                    clientCertificates: .none
                )
            } catch {
                throw ConfigurationError(["device.key: \(key): \(error)"])
            }
        }
        return try testIdentity?.serverTLS(clientCertificates: .none)
    }

    /// An address as it stands in a URL.
    static func authority(_ address: BoundAddress) -> String {
        switch address {
        case .ip(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }
}
