// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OrderModel
package import ServiceRuntime

/// What the answers of the last minutes say together about an order type's tokens. Pure.
///
/// One token that APNs calls bad is that token's fault. Many are the fault of the type's settings: tokens of one of APNs'
/// environments are bad in the other. A phone does not register again by itself, so a token that is forgotten for such a
/// fault is lost for good.
///
/// Counted are the orders that bad tokens follow, not the tokens: whoever has an order may register a thousand devices for it
/// with tokens that he made up. And what is found here is told and keeps tokens; it never keeps a push from going out.
///
/// Source: reliability 1.3: "may be the wrong environment: alarm if > 5 % of a type".
package struct TokenTally: Sendable {
    /// After how long answers begin to be left out; after twice as long they are. Longer than the longest wait for a bad
    /// token's next try: each of them is counted, and meets any push that was taken meanwhile.
    private static let span = Duration.seconds(1_000)
    /// Fewer orders with bad tokens than this say nothing about the type.
    private static let fewest = 5
    /// So many are remembered: more change no answer.
    private static let most = 10_000

    private struct Span: Sendable {
        var begin: MonotonicTime
        var taken = 0
        var other = 0
        var bad: Set<SHA256Digest> = []
        /// The orders that these follow; nil stands for all that follow none.
        var orders: Set<OrderIdentifier?> = []
    }

    private let begin: MonotonicTime
    private var present: Span
    private var last: Span

    /// A tally without answers.
    package init(at now: MonotonicTime) {
        self.begin = now
        self.present = Span(begin: now)
        self.last = Span(begin: now)
    }

    /// Counts an answer of APNs to a push; what got none is not counted.
    ///
    /// - Parameter order: the order that the token's device follows.
    package mutating func note(
        _ outcome: PushOutcome,
        token: SHA256Digest,
        order: OrderIdentifier?,
        at now: MonotonicTime
    ) {
        self.moveOn(to: now)
        switch outcome {
        case .sent: self.present.taken += 1
        case .badToken:
            if self.present.bad.count < Self.most { self.present.bad.insert(token) }
            if self.present.orders.count < Self.most { self.present.orders.insert(order) }
        case .unregistered, .rejected, .slowDown: self.present.other += 1
        case .typeFault, .retry, .again: break
        }
    }

    /// Leaves out what is too long ago.
    package mutating func moveOn(to now: MonotonicTime) {
        guard now - self.present.begin > Self.span else { return }
        self.last = now - self.present.begin > Self.span + Self.span ? Span(begin: now) : self.present
        self.present = Span(begin: now)
    }

    /// How many tokens were called bad.
    package var badTokens: Int { self.present.bad.union(self.last.bad).count }

    /// Whether more than one in twenty answers is about a bad token, an order's tokens counted as one.
    package var isAlarming: Bool {
        let bad = self.present.orders.union(self.last.orders).count
        return bad >= Self.fewest && bad * 20 > bad + self.taken + self.present.other + self.last.other
    }

    /// Whether it is the settings and not the tokens: those of many orders are bad, and not one push was taken.
    package var isWrongEnvironment: Bool { self.isAlarming && self.taken == 0 }

    /// Whether a bad token may be forgotten: others' pushes were taken, so that the settings are right.
    package var mayForget: Bool { self.taken > 0 && !self.isAlarming }

    /// Whether a push may be given up because its token has been bad for long: the settings are right, or all bad tokens
    /// there are have had a try and are few. After a start the first of many would be few, too.
    package func mayGiveUp(at now: MonotonicTime) -> Bool {
        self.taken > 0 || (now - self.begin > Self.span && !self.isAlarming)
    }

    private var taken: Int { self.present.taken + self.last.taken }
}
