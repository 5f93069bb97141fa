// SPDX-License-Identifier: Apache-2.0
import Console
import Cryptography
import DeviceAPI
import HTTPEngine
import MerchantAPI
import OrderModel
import OrderStore
import PostgreSQL
import PushNotifications
import ServiceRuntime
import Simulators

/// The services of one process and what they share, joined and with their addresses taken. None of them runs yet, and
/// none has asked the database anything.
struct Parts {
    let store: OrderStore
    /// The keys of orders' tokens, not compared with the database's yet.
    let tokenKeys: TokenKeys.OnMachine
    let types = OrderTypeDirectory()
    /// In the order of their start, the database's aside.
    var services: [any Service] = []
    private(set) var addresses = Application.Addresses()
    private(set) var testIdentity: TestIdentity?
    private(set) var apnsSimulator: APNsSimulator?
    private(set) var deviceServer: HTTPServer?
    private(set) var worker: PushWorker?
    private(set) var deviceLimits: DeviceLimits?
    private(set) var merchantLimits: MerchantLimits?
    /// The paths that the device listener serves below, without those at its root; nil without a device listener.
    private(set) var devicePrefixes: Set<String>?
    /// What the last reload complained about, for the readiness page.
    let reloadFault = Locked<String?>(nil)

    private let loops: EventLoopGroup
    private let logger: Logger
    /// The addresses that can't be had.
    private var bindFaults: [String] = []

    /// Makes the parts of a plan and takes their addresses.
    ///
    /// - Throws: `CommandFailure`, `ConfigurationError`.
    init(
        _ configuration: ServerConfiguration,
        _ plan: Application.Plan,
        _ data: DataDirectory,
        _ database: Database,
        loops: EventLoopGroup,
        logger: Logger
    ) async throws {
        self.loops = loops
        self.logger = logger
        self.tokenKeys = try await Self.tokenKeys(data, plan)
        self.store = OrderStore(
            client: database.client,
            tokens: self.tokenKeys.keys,
            logger: logger.labelled("store")
        )
        if plan.isSelfContained { try await self.addTestServices(configuration, data) }
        if plan.roles.contains(.push) { self.addPushSide() }
        let descriptors = Descriptors(configuration)
        if plan.roles.contains(.web) {
            if !descriptors.isEnough { logger.warning("few descriptors", ["detail": .string(descriptors.summary)]) }
            try await self.addWebSide(configuration, descriptors)
        }
        try self.addConsole(configuration, descriptors.admin)
        if self.bindFaults.isEmpty { return }
        // The same program on the same data has the addresses: with others this one would be refused all the same.
        if plan.isSelfContained, configuration.database == nil, let use = PrivateCluster.use(of: data.path) {
            throw CommandFailure(.configuration, "\(use)")
        }
        throw ConfigurationError(self.bindFaults)
    }

    /// The order type that is served when none is configured: the test authority's, with pushes to the simulator.
    func testOrderTypes(_ configuration: ServerConfiguration, _ plan: Application.Plan) -> [OrderTypeSettings] {
        guard let testIdentity, let apns = self.addresses.apns else { return [] }
        var device = "localhost"
        // Behind a socket is whatever proxy the operator puts before it: webServiceURL tells its name.
        if let address = self.addresses.device, case .ip = address { device = Application.authority(address) }
        return [
            testIdentity.orderType(
                webServiceURL: configuration.webServiceURL ?? "https://\(device)/",
                apns: apns,
                completeWhenFulfilled: plan.completesWhenFulfilled
            )
        ]
    }

    /// Wakes the worker when a change has made tickets, here or in another process.
    func listenForTickets(_ client: PostgresClient) {
        guard let worker = self.worker else { return }
        client.listen([OrderStore.ticketChannel]) { _, payload in
            do { worker.wake(try OrderTypeIdentifier(payload)) } catch {}
        }
    }

    // MARK: The parts

    private mutating func addTestServices(_ configuration: ServerConfiguration, _ data: DataDirectory) async throws {
        let identity = try await TestIdentity.load(data.pki)
        self.testIdentity = identity
        guard configuration.orderTypes.isEmpty else { return }
        let simulator = try identity.apnsSimulator(
            listen: configuration.apnsSimulatorListen,
            loops: self.loops,
            logger: self.logger.labelled("apns-simulator")
        )
        self.addresses.apns = self.bind(simulator.server, "apnsSimulator.listen")
        self.services.append(simulator)
        self.apnsSimulator = simulator
    }

    private mutating func addPushSide() {
        let worker = PushWorker(
            store: self.store,
            types: self.types,
            loop: self.loops.next(),
            logger: self.logger.labelled("push")
        )
        self.worker = worker
        self.services.append(worker)
        self.services.append(Upkeep(store: self.store, types: self.types, logger: self.logger.labelled("upkeep")))
    }

    private mutating func addWebSide(_ configuration: ServerConfiguration, _ descriptors: Descriptors) async throws {
        let packages = SignedPackages(store: self.store, types: self.types)
        let reads = PackageReads(store: self.store, logger: self.logger.labelled("device"))
        self.services.append(reads)
        let limits = configuration.limits
        let deviceLimits = DeviceLimits(
            requestsPerDevice: limits.perDevice,
            requestsPerAddress: limits.perAddress,
            logger: self.logger.labelled("device")
        )
        self.deviceLimits = deviceLimits
        let device = DeviceAPI(
            store: self.store,
            packages: packages,
            reads: reads,
            limits: deviceLimits,
            logger: self.logger.labelled("device")
        )
        var urls = configuration.orderTypes.map(\.webServiceURL)
        if let url = configuration.webServiceURL { urls.append(url) }
        let prefixes = Set(urls.map(DeviceAPI.pathPrefix(of:)))
        self.devicePrefixes = prefixes.union([""])
        let server = HTTPServer(
            name: "device",
            address: configuration.deviceListen,
            tls: try await DeviceTLS.load(configuration, self.testIdentity),
            router: device.router(prefixes: Array(prefixes)),
            limits: descriptors.device,
            proxies: configuration.trustedProxies,
            loops: self.loops,
            logger: self.logger.labelled("device")
        )
        self.addresses.device = self.bind(server, "device.listen")
        self.services.append(server)
        self.deviceServer = server

        let merchantLimits = MerchantLimits(
            requestsPerKey: limits.perKey,
            failuresPerAddress: limits.failuresPerAddress,
            logger: self.logger.labelled("merchant")
        )
        self.merchantLimits = merchantLimits
        let merchant = MerchantAPI(
            store: self.store,
            types: self.types,
            packages: packages,
            limits: merchantLimits,
            logger: self.logger.labelled("merchant")
        )
        let merchantServer = HTTPServer(
            name: "merchant",
            address: configuration.merchantListen,
            tls: nil,
            router: merchant.router(),
            limits: descriptors.merchant,
            proxies: configuration.trustedProxies,
            loops: self.loops,
            logger: self.logger.labelled("merchant")
        )
        self.addresses.merchant = self.bind(merchantServer, "merchant.listen")
        self.services.append(merchantServer)
    }

    private mutating func addConsole(_ configuration: ServerConfiguration, _ limits: HTTPLimits) throws {
        let (worker, reloadFault, store) = (self.worker, self.reloadFault, self.store)
        let console = Console(
            store: self.store,
            types: self.types,
            metrics: .shared,
            logger: self.logger.labelled("admin"),
            faults: {
                let pushes = (worker?.faults ?? [:]).sorted { $0.key.text < $1.key.text }
                    .map { "\($0.key.text): \($0.value)" }
                let givenUp = (worker?.givenUp ?? [:]).sorted { $0.key.text < $1.key.text }
                    .map { "\($0.key.text): \(Self.givenUp($0.value))" }
                let database = store.databaseFault.map { ["changes are refused: \($0)"] } ?? []
                return database + (reloadFault.withLock { $0 }.map { [$0] } ?? []) + pushes + givenUp
            }
        )
        let server = HTTPServer(
            name: "admin",
            address: configuration.adminListen,
            tls: nil,
            router: console.router(),
            limits: limits,
            loops: self.loops,
            logger: self.logger.labelled("admin")
        )
        self.addresses.admin = self.bind(server, "admin.listen")
        // The first to start and the last to end but for the database: while the others drain, it says so.
        self.services.insert(server, at: 0)
        // First to be told of the end: readiness goes before the listeners do.
        self.services.append(console)
    }

    private static func givenUp(_ counts: [String: Int]) -> String {
        let all = counts.values.reduce(0, +)
        let reasons = counts.keys.sorted().map { $0.isEmpty ? "no answer" : $0 }.joined(separator: ", ")
        return "\(all) \(all == 1 ? "push" : "pushes") given up (\(reasons)): 'walletorders tickets list' names them"
    }

    private static func tokenKeys(_ data: DataDirectory, _ plan: Application.Plan) async throws -> TokenKeys.OnMachine {
        do {
            return try await .read(data.keys, makingFirst: plan.isSelfContained)
        } catch {
            let advice =
                await TokenKeysCheck.lacksKeys(data.keys)
                ? " 'walletorders migrate' makes the first key; every machine needs the same files there" : ""
            throw CommandFailure(.configuration, "\(error)\(advice)")
        }
    }

    /// Binds a listener, or notes why not: all that can't be had are told together.
    private mutating func bind(_ server: HTTPServer, _ key: String) -> BoundAddress? {
        do { return try server.bind() } catch {
            let flag = Settings.all.first { $0.key == key }?.flag ?? key
            self.bindFaults.append("\(error); choose another address with --\(flag) (\(key) in the file)")
            return nil
        }
    }
}

/// The public listener's certificate.
enum DeviceTLS {
    /// The configured certificate, or the test authority's; nil when there is neither.
    ///
    /// - Throws: `ConfigurationError`, `CommandFailure`.
    static func load(_ configuration: ServerConfiguration, _ testIdentity: TestIdentity?) async throws -> TLSContext? {
        guard let certificate = configuration.deviceCertificate, let key = configuration.deviceKey else {
            return try testIdentity?.serverTLS(clientCertificates: .none)
        }
        let chain: [Certificate]
        do { chain = try await OrderTypeLoading.certificates(certificate) } catch {
            throw ConfigurationError(["device.certificate: \(error)"])
        }
        guard let leaf = chain.first else {
            throw ConfigurationError(["device.certificate: \(certificate) holds no certificate"])
        }
        do {
            return try TLSContext.server(
                certificate: leaf,
                chain: Array(chain.dropFirst()),
                key: try PrivateKey(pem: try await OrderTypeLoading.read(key), passphrase: nil),
                alpn: ["h2", "http/1.1"],
                clientCertificates: .none
            )
        } catch let error as CommandFailure {
            throw ConfigurationError(["device.key: \(error)"])
        } catch {
            throw ConfigurationError(["device.key: \(key): \(error)"])
        }
    }
}
