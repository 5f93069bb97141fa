// SPDX-License-Identifier: Apache-2.0
package import OrderStore

/// When a ticket that failed goes out again, and when it is given up.
package struct RetryPolicy: Sendable {
    /// The longest wait between two tries.
    package var longest: Duration = .seconds(900)
    /// How long after its first failure a ticket is given up. It stays, counted and shown, for `tickets redrive`.
    package var givesUpAfter: Duration = .seconds(86_400)

    /// The default policy.
    package init() {}

    /// The wait before the next try: full jitter, so that what failed together does not come back together.
    ///
    /// - Parameter attempts: tries so far, from 1.
    package func wait(attempts: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let cap = self.longest.components.seconds * 1_000
        let bound = min(cap, 1_000 << Int64(min(max(attempts, 1) - 1, 20)))
        return .milliseconds(Int64.random(in: min(250, bound)...bound, using: &random))
    }

    /// What becomes of a ticket.
    package enum Fate: Sendable, Hashable {
        /// The answer is written down.
        case settle(TicketAnswer.Verdict)
        /// The token is forgotten. Should the device have registered it again since, the ticket is tried once more.
        case prune(orElse: TicketAnswer.Verdict)
        /// It goes back as if it had not been tried: what failed is the type's way to APNs, which waits for someone to
        /// renew the certificate, as long as it takes, and then all goes out at once.
        case handBack
    }

    /// What is known about the type beside one ticket's answer.
    package struct Way: Sendable {
        /// Whether pushes of the type were taken by the present settings and bad tokens are few: only then is a token that
        /// APNs calls bad the token's own fault.
        package var mayForget = true
        /// Whether a push whose token has been called bad for long is given up: not where the settings may be what is wrong.
        package var mayGiveUpBad = true
        /// Whether nothing gets through for a reason that is no ticket's own.
        package var isClosed = false
        /// When it was last opened again. No ticket grows old while it is closed.
        package var openSince: Moment?

        /// An open way.
        package init() {}
    }

    /// Decides what becomes of a ticket.
    package func fate(
        _ outcome: PushOutcome,
        ticket: PushTicket,
        way: Way,
        now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> Fate {
        let isTooOld = self.isTooOld(ticket, way, now)
        let later: TicketAnswer.Verdict =
            isTooOld ? .dead : .retry(after: self.wait(attempts: ticket.attempts, using: &random))
        switch outcome {
        case .sent: return .settle(.sent)
        case .unregistered: return .prune(orElse: later)
        case .badToken:
            if way.isClosed { return .handBack }
            let isSecond = ticket.retryReason.map(PushOutcome.badTokenReasons.contains) ?? false
            if isSecond, way.mayForget { return .prune(orElse: later) }
            // For the settings' fault no push is given up, however long it lasts.
            return .settle(isTooOld && way.mayGiveUpBad ? .dead : .retry(after: Self.doubled(ticket)))
        case .rejected: return .settle(.dead)
        case .typeFault: return .handBack
        case .slowDown(_, let seconds):
            if isTooOld { return .settle(.dead) }
            return .settle(.retry(after: seconds.map { .seconds($0) } ?? Self.doubled(ticket)))
        case .retry: return way.isClosed ? .handBack : .settle(later)
        case .again:
            if way.isClosed { return .handBack }
            return .settle(ticket.attempts <= 2 && !isTooOld ? .retry(after: .zero) : later)
        }
    }

    /// Counted from the last change, which is what the device is to be told, and only while others' pushes got through.
    private func isTooOld(_ ticket: PushTicket, _ way: Way, _ now: Moment) -> Bool {
        guard let failed = ticket.firstFailedAt else { return false }
        // A mark is the clock at the change (store-design 3).
        let since = [failed, Moment(microseconds: ticket.mark), way.openSince ?? failed].max() ?? failed
        return now.microseconds - since.microseconds > self.givesUpAfter.components.seconds * 1_000_000
    }

    /// A minute, doubled with each try.
    private static func doubled(_ ticket: PushTicket) -> Duration {
        .seconds(min(60 << min(max(ticket.attempts, 1) - 1, 4), 900))
    }
}
