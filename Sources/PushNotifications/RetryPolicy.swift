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

    /// What becomes of a ticket; nil when the token is to be pruned instead.
    package func verdict(
        _ outcome: PushOutcome,
        ticket: PushTicket,
        now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> TicketAnswer.Verdict? {
        let failingFor = ticket.firstFailedAt.map { now.microseconds - $0.microseconds } ?? 0
        let isTooOld = failingFor > self.givesUpAfter.components.seconds * 1_000_000
        switch outcome {
        case .sent: return .sent
        case .unregistered: return nil
        case .badToken: return ticket.attempts >= 2 ? nil : .retry(after: .seconds(60))
        case .rejected: return .dead
        // The type is stopped, not the ticket: it waits as long as it takes for someone to renew the certificate.
        case .typeFault: return .retry(after: .seconds(300))
        case .slowDown(let seconds):
            if isTooOld { return .dead }
            return .retry(after: .seconds(seconds ?? min(60 << min(max(ticket.attempts, 1) - 1, 4), 900)))
        case .retry:
            return isTooOld ? .dead : .retry(after: self.wait(attempts: ticket.attempts, using: &random))
        case .again:
            if isTooOld { return .dead }
            return .retry(after: ticket.attempts <= 2 ? .zero : self.wait(attempts: ticket.attempts, using: &random))
        }
    }
}
