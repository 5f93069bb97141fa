// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import PostgreSQL
import PushNotifications
import ServiceRuntime
import Simulators
import StoreTestSupport
import TestPatience
import Testing

/// A store, a worker and a simulated APNs, joined by real sockets.
struct PushStation: Sendable {
    let database: StoreFixture
    let simulator: APNsSimulator
    let control: HTTP2Control
    let types: OrderTypeDirectory
    let worker: PushWorker
    let port: Int
    /// Stops the worker.
    let stop: Signal
    /// Fires when the worker has ended.
    let ended: Signal

    var store: OrderStore { database.store }

    static func type(_ text: String) throws -> OrderTypeIdentifier { try OrderTypeIdentifier(text) }

    /// Settings of the shop and the bakery that lead to a port of this machine.
    static func settings(
        port: Int,
        shop: SigningIdentity = TestSigning.authority.identity
    ) throws -> [OrderTypeSettings] {
        try TestSigning.settings(shop: shop).map { settings in
            var settings = settings
            settings.apns = APNsSettings(host: "127.0.0.1", port: port, trust: [TestSigning.authority.root])
            return settings
        }
    }

    static func simulator(port: Int = 0, control: HTTP2Control, loops: EventLoopGroup) throws -> APNsSimulator {
        let server = TestSigning.authority.server
        return APNsSimulator(
            address: .ip(host: "127.0.0.1", port: port),
            tls: try TLSContext.server(
                certificate: server.certificate,
                chain: server.chain,
                key: server.key,
                alpn: ["h2"],
                clientCertificates: .optional(roots: [TestSigning.authority.root])
            ),
            loops: loops,
            logger: TestLog.logger,
            control: control
        )
    }

    /// A simulator that has its port.
    ///
    /// - Parameter isAway: whether nobody is to listen there for a while. Its port is below the kernel's range for port 0
    ///   then, so that no other test gets it meanwhile.
    static func bound(
        control: HTTP2Control,
        loops: EventLoopGroup,
        isAway: Bool
    ) throws -> (simulator: APNsSimulator, port: Int) {
        var left = 20
        while true {
            let wanted = isAway ? Int.random(in: 20_000...29_999) : 0
            let simulator = try self.simulator(port: wanted, control: control, loops: loops)
            do {
                guard case .ip(_, let port) = try simulator.server.bind() else { throw Unexpected() }
                return (simulator, port)
            } catch  where isAway && left > 0 {
                // Somebody has that one.
                left -= 1
            }
        }
    }

    /// Registers devices for an order of its own, each with a token of its own: `numbers` name both.
    func register(_ numbers: Range<Int>, for order: String, type: String = Samples.shop) async throws {
        let key = try Samples.key(order, type: type)
        for number in numbers {
            _ = try await store.register(
                try Samples.device("device-\(number)"),
                pushToken: try Samples.token(number),
                for: key
            )
        }
    }

    /// Changes an order and rings for the worker.
    func change(_ order: String, type: String = Samples.shop, tracking: String = "T-1") async throws {
        _ = try await store.apply(
            try Samples.event("event-\(tracking)", tracking: tracking),
            to: try Samples.key(order, type: type)
        )
        worker.wake(try Self.type(type))
    }

    /// An order with followers that has changed.
    func changedOrder(_ order: String, _ numbers: Range<Int>, type: String = Samples.shop) async throws {
        try await database.create(order, type: type)
        try await register(numbers, for: order, type: type)
        try await change(order, type: type)
    }

    /// APNs is back at its port while `body` runs.
    func withAPNsBack(_ body: (APNsSimulator) async throws -> Void) async throws {
        let loops = try EventLoopGroup(count: 1, name: "back")
        let simulator = try Self.simulator(port: port, control: HTTP2Control(), loops: loops)
        let stop = Signal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run(shutdown: stop) }
            try await body(simulator)
            stop.fire()
            try await group.waitForAll()
        }
        await loops.shutdown()
    }

    /// A token as APNs sees it.
    func token(_ number: Int) -> String { String(number, radix: 16) }

    func waitForPush(_ number: Int, after count: Int = 0) async throws {
        _ = try await simulator.waitForPush(to: token(number), after: count, deadline: Patience.long)
    }

    /// How many devices are as a condition says.
    func devices(_ condition: String) async throws -> Int64 {
        try await database.number(Self.count, [.text("select count(*) n from devices d where " + condition)])
    }

    /// Runs a query that is a parameter: the server builds it, since statements are fixed texts.
    private static let count = Statement(
        "t_count_devices",
        "select ((xpath('//n/text()', query_to_xml($1::text, false, true, '')))[1])::text::bigint"
    )

    /// Asks the database until the number of devices is right.
    func expect(_ count: Int64, _ condition: String, _ location: SourceLocation = #_sourceLocation) async throws {
        let deadline = MonotonicTime.now() + Patience.long
        var found: Int64 = -1
        repeat {
            found = try await devices(condition)
            if found == count { return }
        } while MonotonicTime.now() < deadline
        Issue.record("\(found) devices instead of \(count) have: \(condition)", sourceLocation: location)
    }

    /// Asks for the faults until one is there, or none.
    func expectFault(_ fault: String?, _ location: SourceLocation = #_sourceLocation) async throws {
        let type = try Self.type(Samples.shop)
        let deadline = MonotonicTime.now() + Patience.long
        while worker.faults[type]?.reason != fault, MonotonicTime.now() < deadline { _ = try await devices("true") }
        #expect(worker.faults[type]?.reason == fault, sourceLocation: location)
    }

    /// Asks for the given-up pushes of the shop until they are as expected.
    func expectGivenUp(_ counts: [String: Int]?, _ location: SourceLocation = #_sourceLocation) async throws {
        let type = try Self.type(Samples.shop)
        let deadline = MonotonicTime.now() + Patience.long
        while worker.givenUp[type] != counts, MonotonicTime.now() < deadline { _ = try await devices("true") }
        #expect(worker.givenUp[type] == counts, sourceLocation: location)
    }
}

extension HTTP2Control {
    /// Gives no answer to the pushes that a condition names, and serves all others.
    ///
    /// - Returns: what fires when the first of them is under way.
    @discardableResult
    func withholdAnswers(_ isWithheld: @escaping @Sendable (HTTPRequest) -> Bool) -> Signal {
        let isUnderWay = Signal()
        decide { request, _ in
            guard isWithheld(request) else { return .serve }
            isUnderWay.fire()
            return .withhold
        }
        return isUnderWay
    }
}

extension PushDeadlines {
    /// The usual ones, but for how long the answer to a push is waited for.
    static func answer(within answer: Duration) -> PushDeadlines {
        var deadlines = PushDeadlines()
        deadlines.answer = answer
        return deadlines
    }
}

extension RetryPolicy {
    /// Tries again within a second, whatever the reason.
    static var soon: RetryPolicy {
        var policy = RetryPolicy()
        policy.longest = .seconds(1)
        return policy
    }
}

/// Runs a test with a station.
///
/// - Parameter isAway: whether nothing listens at APNs' port yet; see ``PushStation/port``.
func withPushes(
    control: HTTP2Control = HTTP2Control(),
    policy: RetryPolicy = RetryPolicy(),
    deadlines: PushDeadlines = PushDeadlines(),
    isAway: Bool = false,
    logger: Logger = TestLog.logger,
    _ body: @escaping @Sendable (PushStation) async throws -> Void
) async throws {
    try await withStore { database in
        let loops = database.loops
        let (simulator, port) = try PushStation.bound(control: control, loops: loops, isAway: isAway)
        let directory = OrderTypeDirectory(try PushStation.settings(port: port))
        for type in directory.all { try await database.store.ensureOrderType(type.identifier) }
        let worker = PushWorker(
            store: database.store,
            types: directory,
            loop: loops.next(),
            policy: policy,
            deadlines: deadlines,
            logger: logger,
            metrics: Metrics()
        )
        let station = PushStation(
            database: database,
            simulator: simulator,
            control: control,
            types: directory,
            worker: worker,
            port: port,
            stop: Signal(),
            ended: Signal()
        )
        let stopServer = Signal()
        if isAway {
            // Opens and closes: the port is known, and nobody listens on it.
            stopServer.fire()
            try await simulator.run(shutdown: stopServer)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            if !isAway { group.addTask { try await simulator.run(shutdown: stopServer) } }
            group.addTask {
                try await worker.run(shutdown: station.stop)
                station.ended.fire()
            }
            var failure: (any Error)?
            do { try await body(station) } catch { failure = error }
            control.decide(nil)
            station.stop.fire()
            try await station.ended.wait()
            stopServer.fire()
            try await group.waitForAll()
            if let failure { throw failure }
        }
    }
}
