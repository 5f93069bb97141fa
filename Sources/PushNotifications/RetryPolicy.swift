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

    /// Decides what becomes of a ticket.
    package func fate(
        _ outcome: PushOutcome,
        ticket: PushTicket,
        now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> Fate {
        let failingFor = ticket.firstFailedAt.map { now.microseconds - $0.microseconds } ?? 0
        let isTooOld = failingFor > self.givesUpAfter.components.seconds * 1_000_000
        let later: TicketAnswer.Verdict =
            isTooOld ? .dead : .retry(after: self.wait(attempts: ticket.attempts, using: &random))
        switch outcome {
        case .sent: return .settle(.sent)
        case .unregistered: return .prune(orElse: later)
        case .badToken:
            let isSecond = ticket.retryReason.map(PushOutcome.badTokenReasons.contains) ?? false
            return isSecond ? .prune(orElse: later) : .settle(.retry(after: .seconds(60)))
        case .rejected: return .settle(.dead)
        case .typeFault: return .handBack
        case .slowDown(let seconds):
            if isTooOld { return .settle(.dead) }
            let wait = seconds ?? min(60 << min(max(ticket.attempts, 1) - 1, 4), 900)
            return .settle(.retry(after: .seconds(wait)))
        case .retry: return .settle(later)
        case .again: return .settle(ticket.attempts <= 2 && !isTooOld ? .retry(after: .zero) : later)
        }
    }
}
