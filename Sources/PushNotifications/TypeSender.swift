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
    /// What to do where APNs calls all tokens bad.
    private static let environmentAdvice = "look at apns.host, which may be the other of APNs' environments"

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
    /// Until when nothing is sent.
    private var stoppedUntil: MonotonicTime?
    /// Why nothing gets through, and at which claim that was seen: older ones' answers say nothing about it.
    private var fault: (fault: PushFault, claim: Int)?
    private var openSince: Moment?
    private var lastProbe = MonotonicTime(nanoseconds: 0)
    private var tally = TokenTally(at: .now())
    private var hasToldOfEnvironment = false
    /// Reasons of pushes that APNs will never accept: faults of this program, which someone has to hear of, once each.
    private var rejections: Set<String> = []  // short: APNs' reasons, letters of ASCII, 64 at most.
    /// Claims in a row that got nowhere, and the tokens in them.
    private var lostRounds = 0
    private var silentTokens: Set<SHA256Digest> = []
    /// The newest claim that APNs answered to.
    private var answeredClaim = 0
    private var random = SystemRandomNumberGenerator()

    /// Pushes without an answer yet, claims with such, and claims so far.
    private var open = 0
    private var capacity = 10
    private var sending = 0
    private var claims = 0
    private var isDraining = false
    private var isRung = false
    /// Whether the last claim left something behind.
    private var hasMore = false
    /// Fired when it is time to look for due tickets again.
    private var news = Signal()

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
    ///
    /// Claims follow each other as answers come: what has no answer yet keeps its own place under way, and nothing else
    /// waits for it (reliability 5, 22 and 25).
    func drain(until shutdown: Signal) async {
        self.isDraining = true
        // Discarding: a queue that never rests would keep each claim's task for as long.
        await withDiscardingTaskGroup { group in
            defer { self.isDraining = false }
            while !shutdown.isFired, !Task.isCancelled {
                self.isRung = false
                self.news = Signal()
                if let room = await self.room() {
                    guard let claim = await self.claim(room) else {
                        // Not the end while something is under way: the group would wait for its answers, and nobody could
                        // begin another drain before. Otherwise the worker comes back in a second.
                        if self.sending == 0 { break }
                        do { try await withDeadline(.seconds(1)) { try await shutdown.wait() } } catch {}
                        continue
                    }
                    if shutdown.isFired {
                        if !claim.tickets.isEmpty { await self.release(claim) }
                        break
                    }
                    if !claim.tickets.isEmpty {
                        let groups = self.begin(claim)
                        let number = self.claims
                        group.addTask { await self.send(claim, groups, number, until: shutdown) }
                    }
                    if self.hasMore { continue }
                }
                if self.isRung { continue }
                if self.sending == 0 { break }
                await Self.first(of: self.news, shutdown)
            }
        }
    }

    /// Says that something is due.
    ///
    /// - Returns: whether it is looked for; otherwise the next ``drain(until:)`` has to, which is another sender's once the
    ///   settings have changed. This one claims nothing more, and what it complains of would be shown until something is due.
    func ring() -> Bool {
        guard self.isDraining, self.isCurrent else { return false }
        self.lookAgain()
        return true
    }

    private func lookAgain() {
        self.isRung = true
        self.news.fire()
    }

    /// How many tickets may be claimed now; nil while none may.
    private func room() async -> Int? {
        guard !self.isStopped, self.isCurrent else { return nil }
        if self.fault != nil {
            // One push finds out whether the way still is closed; without an answer, another one a second later.
            guard self.open < 10, MonotonicTime.now() - self.lastProbe >= .seconds(1) else { return nil }
            self.lastProbe = .now()
            return 1
        }
        self.capacity = min(Self.batch, max(10, await self.channel.streamLimit * 2))
        // Few large claims cost less than many small ones.
        return self.open * 2 <= self.capacity ? self.capacity - self.open : nil
    }

    /// Claims what is due; nil when the database can't now.
    private func claim(_ room: Int) async -> TicketClaim? {
        // Without a floor once in five seconds: a ticket handed back is due before the last claim's time.
        if MonotonicTime.now() - self.floorSet > .seconds(5) {
            self.floor = nil
            self.floorSet = MonotonicTime.now()
        }
        let claim: TicketClaim
        do {
            claim = try await self.store.claimTickets(self.settings.identifier, room: room, floor: self.floor)
        } catch {
            self.logger.warning(
                "tickets could not be claimed",
                ["orderType": .string(self.settings.identifier.text), "error": "\(error)"]
            )
            return nil
        }
        self.floor = claim.isShort ? Moment(microseconds: claim.claimedAt.microseconds - 1_000_000) : nil
        self.hasMore = !claim.isShort && !claim.tickets.isEmpty
        return claim
    }

    /// Two devices with one token get one request, and both their tickets its answer.
    private func begin(_ claim: TicketClaim) -> [[PushTicket]] {
        let groups = Array(Dictionary(grouping: claim.tickets, by: \.tokenDigest).values)
        self.open += groups.count
        self.sending += 1
        self.claims += 1
        return groups
    }

    private static func first(of signals: Signal...) async {
        await withTaskGroup(of: Void.self) { group in
            for signal in signals { group.addTask { do { try await signal.wait() } catch {} } }
            await group.next()
            group.cancelAll()
        }
    }

    /// What is wrong with the type's pushes: why they stand still, or that many tokens are bad.
    var complaint: PushFault? {
        if let fault = self.fault { return fault.fault }
        // Judged anew at each look: where no push follows, the bad ones of long ago are no complaint for ever.
        self.tally.moveOn(to: .now())
        guard self.tally.isAlarming else { return nil }
        let bad = self.tally.badTokens
        return PushFault(
            reason: "BadDeviceToken",
            detail: self.tally.isWrongEnvironment
                ? "\(self.place) calls all tokens bad, \(bad) so far, none is forgotten: \(Self.environmentAdvice)"
                : "\(bad) devices' tokens are called bad: none of them is forgotten",
            isStopped: false
        )
    }

    /// Whether APNs has refused a push for good since this was asked last.
    func takeRejected() -> Bool {
        defer { self.hasRejected = false }
        return self.hasRejected
    }
    private var hasRejected = false

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
        case answered([PushTicket], APNsChannel.Answer)
        case tick
        case mustStop
        case isLate
    }

    /// Sends one claim and settles it as the answers come. What is neither sent nor to be settled goes back.
    private func send(_ claim: TicketClaim, _ groups: [[PushTicket]], _ number: Int, until shutdown: Signal) async {
        let now = WallTime.now()
        let channel = self.channel
        let patience = self.deadlines.stop
        var answers: [TicketAnswer] = []
        var round = Round(number: number)
        var left = groups.count
        await withTaskGroup(of: Step.self) { group in
            for tickets in groups {
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
            while left > 0, let step = await group.next() {
                switch step {
                case .answered(let tickets, let answer):
                    left -= 1
                    self.open -= 1
                    if self.hasMore, self.open * 2 <= self.capacity { self.news.fire() }
                    guard let first = tickets.first else { continue }
                    self.note(answer, first, in: &round)
                    for ticket in tickets {
                        if let answer = await self.answer(ticket, answer.outcome, in: &round) { answers.append(answer) }
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
                    self.open -= left
                    left = 0
                }
            }
            group.cancelAll()
        }
        await self.settle(claim, &answers)
        if round.mustRelease { await self.release(claim) }
        self.judge(round)
        self.sending -= 1
        self.lookAgain()
    }

    /// Hands back what is still this claim's: settled tickets are not.
    private func release(_ claim: TicketClaim) async {
        do { try await self.store.release(claim) } catch {
            self.logger.warning(
                "tickets were not handed back, they are due when their lease is over",
                ["orderType": .string(self.settings.identifier.text), "error": "\(error)"]
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
        var way = RetryPolicy.Way()
        way.mayForget = self.tally.mayForget
        way.mayGiveUpBad = self.tally.mayGiveUp(at: .now())
        way.isClosed = self.fault != nil
        way.openSince = self.openSince
        switch self.policy.fate(outcome, ticket: ticket, way: way, now: present, using: &self.random) {
        case .settle(let settled): verdict = settled
        case .handBack:
            round.mustRelease = true
            return nil
        case .prune(let otherwise):
            // Registered again while the push was under way: then it is another phone's word against an old answer.
            var before = Moment(microseconds: ticket.tokenSince.microseconds + 1)
            if case .unregistered(_, let since?) = outcome { before = since }
            do {
                let isPruned = try await self.store.prune(
                    self.settings.identifier,
                    device: ticket.device,
                    tokenDigest: ticket.tokenDigest,
                    registeredBefore: before,
                    reason: outcome.reason
                )
                if isPruned { return nil }
            } catch {
                self.logger.warning(
                    "a token was not forgotten, the push goes out again when its lease is over",
                    ["orderType": .string(self.settings.identifier.text), "error": "\(error)"]
                )
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
        do {
            _ = try await self.store.settle(claim, batch)
            if batch.contains(where: { $0.verdict == .retry(after: .zero) }) { self.lookAgain() }
        } catch {
            self.logger.warning(
                "push answers were not recorded, the pushes go out again",
                ["count": .integer(batch.count), "error": "\(error)"]
            )
        }
    }

    /// What one claim's answers say together about the way to APNs.
    private struct Round {
        /// The claim's number.
        let number: Int
        /// Answers that show that the way is open, whatever they say about the token.
        var answered = 0
        /// Pushes that got none, or were told to come later.
        var failed = 0
        /// Those that got no answer at all and are tried again at once.
        var lost = 0
        var reason: String?
        var detail: String?
        /// Whether there was no connection at all.
        var hasNoConnection = false
        var tokens: Set<SHA256Digest> = []
        var isRefused = false
        var mustRelease = false
    }

    /// Counts an outcome.
    private func note(_ answer: APNsChannel.Answer, _ ticket: PushTicket, in round: inout Round) {
        let outcome = answer.outcome
        let token = ticket.tokenDigest
        self.metrics.counter(
            "walletorders_pushes_total",
            help: "Pushes by what APNs answered.",
            labels: [("order_type", self.settings.identifier.text), ("outcome", outcome.label)]
        ).increment()
        self.tally.note(outcome, token: token, order: ticket.order, at: .now())
        self.tellOfEnvironment(outcome)
        switch outcome {
        case .typeFault(let reason): self.refuse(reason, in: &round)
        case .rejected(let reason):
            self.hasRejected = true
            // It shows that the way is open, as the answers below do.
            round.answered += 1
            if self.rejections.count < 16, self.rejections.insert(reason).inserted {
                self.logger.error(
                    "APNs will never accept this push: its ticket is given up, and so are others with this answer",
                    ["orderType": .string(self.settings.identifier.text), "reason": .string(reason)]
                )
            }
        case .retry(let reason):
            round.failed += 1
            round.reason = reason
            self.noteSilence(answer, token, in: &round)
        case .again(let reason):
            round.lost += 1
            if round.reason == nil { round.reason = reason }
            self.noteSilence(answer, token, in: &round)
        default: round.answered += 1
        }
        if round.answered > 0 { self.answeredClaim = max(self.answeredClaim, round.number) }
    }

    private func noteSilence(_ answer: APNsChannel.Answer, _ token: SHA256Digest, in round: inout Round) {
        if let detail = answer.detail { round.detail = detail }
        round.hasNoConnection = round.hasNoConnection || answer.hasNoConnection
        if round.tokens.count < 8 { round.tokens.insert(token) }
    }

    /// Nothing of this type gets through until someone sees to it.
    private func refuse(_ reason: String, in round: inout Round) {
        self.stop(
            PushFault(reason: reason, detail: "\(self.place) refuses this order type"),
            for: .seconds(300),
            at: round.number
        ) {
            self.logger.error(
                "APNs refuses this order type: renew its certificate or mend its settings, then reload",
                ["orderType": .string(self.settings.identifier.text), "reason": .string(reason)]
            )
        }
        round.isRefused = true
    }

    /// Says once that all tokens are called bad. The type goes on: tokens are what strangers give, and each that is bad waits
    /// by itself, longer each time, while all others go out.
    private func tellOfEnvironment(_ outcome: PushOutcome) {
        guard self.tally.isWrongEnvironment else {
            self.hasToldOfEnvironment = false
            return
        }
        guard case .badToken(let reason) = outcome, !self.hasToldOfEnvironment else { return }
        self.hasToldOfEnvironment = true
        self.logger.error(
            "APNs calls all tokens of this order type bad: \(Self.environmentAdvice)",
            ["orderType": .string(self.settings.identifier.text), "reason": .string(reason)]
        )
    }

    /// Decides whether the type goes on. Judged by claims, not by pushes: one broken connection fails a hundred pushes
    /// at once, and is still one failure.
    private func judge(_ round: Round) {
        if round.isRefused { return }
        if round.answered > 0, round.answered >= round.failed {
            self.lostRounds = 0
            self.silentTokens = []
            if let fault = self.fault, round.number > fault.claim { self.goOn(after: fault.fault) }
            return
        }
        // Others got through meanwhile: what has no answer is these tokens' bad luck.
        guard round.failed + round.lost > 0, self.answeredClaim < round.number else { return }
        self.lostRounds += 1
        if self.silentTokens.count < 8 { self.silentTokens.formUnion(round.tokens) }
        // What failed once may be one stream's bad luck, and after a GOAWAY the next connection is the cure. One token
        // that never gets an answer is no reason to keep the others waiting.
        let isGeneral = round.hasNoConnection || self.silentTokens.count >= 3
        guard round.failed >= 5 || (self.lostRounds >= 3 && isGeneral) || self.fault != nil else { return }
        let fault = PushFault(reason: round.reason ?? "unreachable", detail: round.detail ?? "\(self.place) can't now")
        self.stop(fault, for: .seconds(min(60, 1 << min(self.lostRounds - 1, 6))), at: round.number) {
            self.logger.warning(
                "pushes stand still: APNs is not reached",
                [
                    "orderType": .string(self.settings.identifier.text), "reason": .string(fault.reason),
                    "apns": .string(self.place), "error": .string(fault.detail),
                ]
            )
        }
    }

    /// Sends nothing for a while.
    ///
    /// - Parameter tell: called unless the reason is known already.
    private func stop(_ fault: PushFault, for pause: Duration, at claim: Int, tell: () -> Void) {
        if self.fault?.fault.reason != fault.reason { tell() }
        self.fault = (fault, max(claim, self.fault?.claim ?? 0))
        self.stoppedUntil = MonotonicTime.now() + pause
    }

    private func goOn(after fault: PushFault) {
        self.fault = nil
        self.stoppedUntil = nil
        self.openSince = Moment(seconds: WallTime.now().seconds)
        self.logger.notice(
            "pushes go on",
            [
                "orderType": .string(self.settings.identifier.text), "reason": .string(fault.reason),
                "apns": .string(self.place),
            ]
        )
    }

    private var place: String { "\(self.settings.apns.host):\(self.settings.apns.port)" }
}
