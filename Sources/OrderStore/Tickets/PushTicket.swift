// SPDX-License-Identifier: Apache-2.0

package import Cryptography
package import OrderModel
import PostgreSQL

/// A device that is to be told to look.
package struct PushTicket: Sendable {
    /// The device.
    package let device: DeviceIdentifier
    /// Where to push to.
    package let pushToken: PushToken
    /// SHA-256 of the token: compares tokens, and names one in logs.
    package let tokenDigest: SHA256Digest
    /// When the device last said that the token is its own.
    package let tokenSince: Moment
    /// What the device is behind; the answer carries it back.
    package let mark: Int64
    /// Tries, this one included.
    package let attempts: Int
    /// When the first of a row of failures was.
    package let firstFailedAt: Moment?
    /// APNs' reason when the last answer to this token meant "try again"; nil for another answer, or none.
    package let retryReason: String?
    /// An order that the device follows, of several always the same one; nil when it follows none any more. Whoever has
    /// one order's token may register any number of devices, but only for that order.
    package let order: OrderIdentifier?

    /// Makes a ticket of its parts.
    package init(
        device: DeviceIdentifier,
        pushToken: PushToken,
        tokenSince: Moment,
        mark: Int64,
        attempts: Int,
        firstFailedAt: Moment?,
        retryReason: String?,
        order: OrderIdentifier?
    ) {
        self.device = device
        self.pushToken = pushToken
        self.tokenDigest = SHA256.hash(Array(pushToken.text.utf8))
        self.tokenSince = tokenSince
        self.mark = mark
        self.attempts = attempts
        self.firstFailedAt = firstFailedAt
        self.retryReason = retryReason
        self.order = order
    }

    init(_ row: Row) throws {
        self.device = try stored { try DeviceIdentifier(try row.text(0)) }
        self.pushToken = try stored { try PushToken(try row.text(1)) }
        self.tokenDigest = try SHA256Digest(stored: row.bytes(2))
        self.tokenSince = Moment(try row.timestamp(3))
        self.mark = try row.int(4)
        self.attempts = Int(try row.int(5))
        self.firstFailedAt = try row.optionalTimestamp(6).map { Moment($0) }
        self.retryReason = try row.optionalText(7)
        self.order = try row.optionalText(8).map { text in try stored { try OrderIdentifier(text) } }
    }
}

/// Tickets taken by one worker, for 30 seconds.
package struct TicketClaim: Sendable {
    /// The type; it has its own certificate, connections and limits.
    package let orderType: OrderTypeIdentifier
    /// Fresh for each claim.
    package let claim: String
    /// What was due.
    package let tickets: [PushTicket]
    /// The database's clock at the claim.
    package let claimedAt: Moment
    /// Whether fewer were due than there was room for. The next claim's floor is then ``claimedAt`` less one second;
    /// every five seconds there should be one without a floor.
    package let isShort: Bool
}

/// What came of a push.
package struct TicketAnswer: Sendable, Hashable {
    /// What to do with the ticket.
    package enum Verdict: Sendable, Hashable {
        /// APNs took it.
        case sent
        /// Once more, after a while.
        case retry(after: Duration)
        /// Never again, until the order changes, the device registers anew or somebody redrives it.
        case dead

        var word: String {
            switch self {
            case .sent: "sent"
            case .retry: "retry"
            case .dead: "dead"
            }
        }

        var wait: Int64 {
            guard case .retry(let duration) = self else { return 0 }
            let (seconds, fraction) = duration.components
            // A day at most; the product can't overflow.
            return min(max(seconds, 0), 86_400) * 1_000_000 + fraction / 1_000_000_000_000
        }
    }

    /// The device of the ticket.
    package let device: DeviceIdentifier
    /// The mark of the ticket.
    package let mark: Int64
    /// What to do.
    package let verdict: Verdict
    /// APNs' reason, for the order's history.
    package let reason: String?

    /// Makes an answer.
    package init(device: DeviceIdentifier, mark: Int64, verdict: Verdict, reason: String? = nil) {
        self.device = device
        self.mark = mark
        self.verdict = verdict
        self.reason = reason
    }
}
