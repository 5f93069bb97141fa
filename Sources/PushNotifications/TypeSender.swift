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
    private let types: OrderTypeDirectory
    private let store: OrderStore
    private let channel: APNsChannel
    private let policy: RetryPolicy
    private let deadlines: PushDeadlines
    private let logger: Logger
    private let metrics: Metrics
    private var floor: Moment?
    private var floorSet = MonotonicTime.now()
    /// Until when nothing is sent, and why.
    private var stoppedUntil: MonotonicTime?
    private var fault: String?
    /// Pushes that APNs will never accept, by its reason: faults of this program, which someone has to hear of.
    private var givenUp: [String: Int] = [:]
    /// Claims in a row that got nowhere.
    private var lostRounds = 0
    private var random = SystemRandomNumberGenerator()

    init(
        settings: OrderTypeSettings,
        types: OrderTypeDirectory,
        store: OrderStore,
        loop: EventLoop,
        policy: RetryPolicy,
        deadlines: PushDeadlines,
        logger: Logger,
        metrics: Metrics
    ) throws {
        self.settings = settings
        self.types = types
        self.store = store
        self.channel = try APNsChannel(settings: settings, loop: loop, deadlines: deadlines)
        self.policy = policy
        self.deadlines = deadlines
        self.logger = logger
        self.metrics = metrics
    }

    /// Sends all that is due, until nothing is, the type is stopped, has other settings, or the shutdown comes.
    func drain(until shutdown: Signal) async throws {
        while !shutdown.isFired, !self.isStopped, self.isCurrent {
            // While the way is closed, one push finds out whether it still is.
            let room = self.fault != nil ? 1 : min(Self.batch, max(10, await self.channel.streamLimit * 2))
            // Without a floor once in five seconds: a ticket handed back is due before the last claim's time.
            if MonotonicTime.now() - self.floorSet > .seconds(5) {
                self.floor = nil
                self.floorSet = MonotonicTime.now()
            }
            let claim = try await self.store.claimTickets(self.settings.identifier, room: room, floor: self.floor)
            self.floor = claim.isShort ? Moment(microseconds: claim.claimedAt.microseconds - 1_000_000) : nil
            if claim.tickets.isEmpty { return }
            if shutdown.isFired { return await self.release(claim) }
            await self.send(claim, until: shutdown)
        }
    }

    /// What is wrong with the type's pushes: why they stand still, and how many were given up since its settings are in force.
    var complaint: String? {
        let lost = self.givenUp.sorted { $0.key < $1.key }.map { reason, count in
            "\(count) \(count == 1 ? "push" : "pushes") given up: \(reason)"
        }
        let all = [self.fault].compactMap(\.self) + lost
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// Ends the connection.
    func close() async { await self.channel.close() }

    /// Whether the settings are still those in force: under a long queue a new certificate must not wait for its end.
    private var isCurrent: Bool { self.types[self.settings.identifier]?.pushesAlike(self.settings) ?? false }

    private var isStopped: Bool {
        guard let until = self.stoppedUntil else { return false }
        if MonotonicTime.now() < until { return true }
        self.stoppedUntil = nil
        return false
    }

    private enum Step: Sendable {
        case answered([PushTicket], PushOutcome)
        case tick
        case mustStop
        case isLate
    }

    /// Sends one claim and settles it as the answers come. What is neither sent nor to be settled goes back.
    private func send(_ claim: TicketClaim, until shutdown: Signal) async {
        let now = WallTime.now()
        // Two devices with one token get one request, and both their tickets its answer.
        let groups = Dictionary(grouping: claim.tickets, by: \.tokenDigest)
        let channel = self.channel
        let patience = self.deadlines.stop
        var answers: [TicketAnswer] = []
        var round = Round()
        var open = groups.count
        await withTaskGroup(of: Step.self) { group in
            for tickets in groups.values {
                guard let token = tickets.first?.pushToken else { continue }
                group.addTask {
                    .answered(tickets, await channel.push(to: token, identifier: SecureRandom.uuid(), now: now))
                }
            }
            group.addTask { await Self.tick() }
            group.addTask {
                do { try await shutdown.wait() } catch {}
                return .mustStop
            }
            while open > 0, let step = await group.next() {
                switch step {
                case .answered(let tickets, let outcome):
                    open -= 1
                    self.note(outcome, in: &round)
                    for ticket in tickets {
                        if let answer = await self.answer(ticket, outcome, in: &round) { answers.append(answer) }
                    }
                    if answers.count >= Self.settleCount { await self.settle(claim, &answers) }
                case .tick:
                    // One slow answer must not hold back what the others were told.
                    await self.settle(claim, &answers)
                    group.addTask { await Self.tick() }
                case .mustStop:
                    group.addTask {
                        do { try await sleep(for: patience) } catch {}
                        return .isLate
                    }
                case .isLate:
                    round.mustRelease = true
                    open = 0
                }
            }
            group.cancelAll()
        }
        await self.settle(claim, &answers)
        if round.mustRelease { await self.release(claim) }
        self.judge(round)
    }

    /// Hands back what is still this claim's: settled tickets are not.
    private func release(_ claim: TicketClaim) async {
        do { try await self.store.release(claim) } catch {
            self.logger.warning(
                "tickets were not handed back, they are due when their lease is over",
                ["orderType": .string(self.settings.identifier.text)]
            )
        }
    }

    private static func tick() async -> Step {
        do { try await sleep(for: .milliseconds(50)) } catch {}
        return .tick
    }

    /// What to write for a ticket; prunes its token where the outcome asks for it.
    private func answer(_ ticket: PushTicket, _ outcome: PushOutcome, in round: inout Round) async -> TicketAnswer? {
        let present = Moment(seconds: WallTime.now().seconds)
        let verdict: TicketAnswer.Verdict
        switch self.policy.fate(outcome, ticket: ticket, now: present, using: &self.random) {
        case .settle(let settled): verdict = settled
        case .handBack:
            round.mustRelease = true
            return nil
        case .prune(let otherwise):
            var before: Moment?
            if case .unregistered(let since) = outcome { before = since }
            do {
                let isPruned = try await self.store.prune(
                    self.settings.identifier,
                    device: ticket.device,
                    tokenDigest: ticket.tokenDigest,
                    registeredBefore: before
                )
                if isPruned { return nil }
            } catch {
                // The lease runs out, and the ticket comes again.
                return nil
            }
            verdict = otherwise
        }
        return TicketAnswer(device: ticket.device, mark: ticket.mark, verdict: verdict, reason: outcome.reason)
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

    /// What one claim's answers say together about the way to APNs.
    private struct Round {
        /// Answers that show that the way is open, whatever they say about the token.
        var answered = 0
        /// Pushes that got none, or were told to come later.
        var failed = 0
        /// Those that got no answer at all and are tried again at once.
        var lost = 0
        var reason: String?
        var isRefused = false
        var mustRelease = false
    }

    /// Counts an outcome.
    private func note(_ outcome: PushOutcome, in round: inout Round) {
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
            round.isRefused = true
        case .rejected(let word):
            let reason = self.givenUp[word] == nil && self.givenUp.count >= 16 ? "other" : word
            // It shows that the way is open, as the answers below do.
            round.answered += 1
            if self.givenUp[reason] == nil {
                self.logger.error(
                    "APNs will never accept this push: its ticket is given up, and so are others with this answer",
                    ["orderType": .string(self.settings.identifier.text), "reason": .string(reason)]
                )
            }
            self.givenUp[reason, default: 0] += 1
        case .retry(let reason):
            round.failed += 1
            round.reason = reason
        case .again(let reason):
            round.lost += 1
            if round.reason == nil { round.reason = reason }
        default: round.answered += 1
        }
    }

    /// Decides whether the type goes on. Judged by claims, not by pushes: one broken connection fails a hundred pushes
    /// at once, and is still one failure.
    private func judge(_ round: Round) {
        if round.isRefused { return }
        if round.answered > 0, round.answered >= round.failed {
            self.lostRounds = 0
            self.fault = nil
            return
        }
        guard round.failed + round.lost > 0 else { return }
        self.lostRounds += 1
        // What failed once may be one stream's bad luck, and after a GOAWAY the next connection is the cure.
        guard round.failed >= 5 || self.lostRounds >= 3 || self.fault != nil else { return }
        self.fault = round.reason
        self.stoppedUntil = MonotonicTime.now() + .seconds(min(60, 1 << min(self.lostRounds - 1, 6)))
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
