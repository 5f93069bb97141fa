// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import HTTPEngine
internal import OrderModel
internal import OrderStore
internal import ServiceRuntime

/// Sends the due tickets of one order type. Types don't know each other: each has its own connection, its own stop, its own
/// pace, so a merchant with a hundred thousand tickets or a bad certificate holds up nobody else.
internal actor TypeSender {
    /// The most tickets that are claimed at once: what a lease of 30 s is more than enough for.
    private static let batch = 500
    /// How many settled answers are written together.
    private static let settleCount = 100

    let settings: OrderTypeSettings
    private let store: OrderStore
    private let channel: APNsChannel
    private let policy: RetryPolicy
    private let logger: Logger
    private let metrics: Metrics
    private var floor: Moment?
    private var floorSet = MonotonicTime.now()
    /// Until when nothing is sent, and why.
    private var stoppedUntil: MonotonicTime?
    private(set) var fault: String?
    private var failures = 0
    private var random = SystemRandomNumberGenerator()

    init(
        settings: OrderTypeSettings,
        store: OrderStore,
        loop: EventLoop,
        policy: RetryPolicy,
        logger: Logger,
        metrics: Metrics
    ) throws {
        self.settings = settings
        self.store = store
        self.channel = try APNsChannel(settings: settings, loop: loop)
        self.policy = policy
        self.logger = logger
        self.metrics = metrics
    }

    /// Sends all that is due, until nothing is, the type is stopped, or the shutdown comes.
    func drain(until shutdown: Signal) async throws {
        while !shutdown.isFired, !self.isStopped {
            let room = min(Self.batch, max(10, await self.channel.streamLimit * 2))
            // Without a floor once in five seconds: a ticket handed back is due before the last claim's time.
            if MonotonicTime.now() - self.floorSet > .seconds(5) {
                self.floor = nil
                self.floorSet = MonotonicTime.now()
            }
            let claim = try await self.store.claimTickets(self.settings.identifier, room: room, floor: self.floor)
            self.floor = claim.isShort ? Moment(microseconds: claim.claimedAt.microseconds - 1_000_000) : nil
            if claim.tickets.isEmpty { return }
            try await self.send(claim, until: shutdown)
        }
    }

    /// Ends the connection.
    func close() async { await self.channel.close() }

    private var isStopped: Bool {
        guard let until = self.stoppedUntil else { return false }
        if MonotonicTime.now() < until { return true }
        self.stoppedUntil = nil
        return false
    }

    private enum Step: Sendable {
        case answered([PushTicket], PushOutcome)
        case tick
    }

    /// Sends one claim and settles it as the answers come.
    private func send(_ claim: TicketClaim, until shutdown: Signal) async throws {
        let now = WallTime.now()
        // Two devices with one token get one request, and both their tickets its answer.
        let groups = Dictionary(grouping: claim.tickets, by: \.tokenDigest)
        let channel = self.channel
        var answers: [TicketAnswer] = []
        var open = groups.count
        await withTaskGroup(of: Step.self) { group in
            for tickets in groups.values {
                guard let token = tickets.first?.pushToken else { continue }
                group.addTask {
                    .answered(tickets, await channel.push(to: token, identifier: SecureRandom.uuid(), now: now))
                }
            }
            group.addTask { await Self.tick() }
            while open > 0, let step = await group.next() {
                switch step {
                case .answered(let tickets, let outcome):
                    open -= 1
                    self.note(outcome)
                    for ticket in tickets {
                        if let answer = await self.answer(ticket, outcome) { answers.append(answer) }
                    }
                    if answers.count >= Self.settleCount { await self.settle(claim, &answers) }
                case .tick:
                    // One slow answer must not hold back what the others were told.
                    await self.settle(claim, &answers)
                    group.addTask { await Self.tick() }
                }
            }
            group.cancelAll()
        }
        await self.settle(claim, &answers)
    }

    private static func tick() async -> Step {
        do { try await sleep(for: .milliseconds(50)) } catch {}
        return .tick
    }

    /// What to write for a ticket; prunes its token where the outcome asks for it.
    private func answer(_ ticket: PushTicket, _ outcome: PushOutcome) async -> TicketAnswer? {
        let present = Moment(seconds: WallTime.now().seconds)
        if let verdict = self.policy.verdict(outcome, ticket: ticket, now: present, using: &self.random) {
            return TicketAnswer(
                device: ticket.device,
                mark: ticket.mark,
                verdict: verdict,
                reason: outcome.reason
            )
        }
        var before: Moment?
        if case .unregistered(let since) = outcome { before = since }
        do {
            let isPruned = try await self.store.prune(
                self.settings.identifier,
                device: ticket.device,
                tokenDigest: ticket.tokenDigest,
                registeredBefore: before
            )
            // The device registered since with the same token: this push was lost on the old one's account.
            return isPruned
                ? nil
                : TicketAnswer(
                    device: ticket.device,
                    mark: ticket.mark,
                    verdict: .retry(after: .seconds(1)),
                    reason: outcome.reason
                )
        } catch {
            // The lease runs out, and the ticket comes again.
            return nil
        }
    }

    private func settle(_ claim: TicketClaim, _ answers: inout [TicketAnswer]) async {
        guard !answers.isEmpty else { return }
        let batch = answers
        answers = []
        do { _ = try await self.store.settle(claim, batch) } catch {
            self.logger.warning(
                "push answers were not recorded, the pushes go out again",
                ["count": .integer(batch.count)]
            )
        }
    }

    /// Counts an outcome and decides whether the type goes on.
    private func note(_ outcome: PushOutcome) {
        self.metrics.counter(
            "walletorders_pushes_total",
            help: "Pushes by what APNs answered.",
            labels: [("order_type", self.settings.identifier.text), ("outcome", outcome.label)]
        ).increment()
        switch outcome {
        case .typeFault(let reason):
            if self.fault != reason {
                self.logger.error(
                    "APNs refuses this order type: renew its certificate or mend its settings, then reload",
                    ["orderType": .string(self.settings.identifier.text), "reason": .string(reason)]
                )
            }
            self.fault = reason
            self.stoppedUntil = MonotonicTime.now() + .seconds(300)
        case .retry(let reason):
            // What failed once may be one stream's bad luck; in a row it is the way that is closed.
            self.failures += 1
            guard self.failures >= 5 else { return }
            let seconds = min(60, 1 << min((self.failures - 5) / 5, 6))
            self.fault = reason
            self.stoppedUntil = MonotonicTime.now() + .seconds(seconds)
        case .again: break
        default:
            self.failures = 0
            self.fault = nil
        }
    }
}

extension PushOutcome {
    /// What the database and the operator's screen show of it.
    internal var reason: String? {
        switch self {
        case .sent: nil
        case .unregistered: "Unregistered"
        case .badToken(let reason), .typeFault(let reason), .rejected(let reason), .retry(let reason),
            .again(let reason):
            reason
        case .slowDown: "TooManyRequests"
        }
    }
}
