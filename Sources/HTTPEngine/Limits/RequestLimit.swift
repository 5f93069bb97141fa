// SPDX-License-Identifier: Apache-2.0
import ExactJSON
package import ServiceRuntime

/// One limit on how often a client may ask, with all that is said of it: to the client, in metrics, in the log.
///
/// A client over its limit gets 429 with `Retry-After` (RFC 9110 10.2.3, RFC 6585 4) and the fields `RateLimit-Policy` and
/// `RateLimit` (draft-ietf-httpapi-ratelimit-headers). Neither metrics nor log name a client, and the log gets one line a
/// minute however many are refused: whoever floods a service must not flood its log.
package final class RequestLimit: Sendable {
    /// What the limit is called in fields, problems, metrics and logs: lower-case words with hyphens.
    package let name: String
    private let subject: String
    private let limiter: RateLimiter
    private let refusals: Counter
    private let logger: Logger
    private let clock: @Sendable () -> MonotonicTime
    private struct Telling: Sendable {
        var next: MonotonicTime?
        var count = 0
    }
    private let telling = Locked(Telling())

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - subject: what is counted, for "In a minute only 60 … may come.": "requests with one merchant key".
    ///   - perMinute: in requests; 0 is no limit.
    ///   - clients: about how many clients at once have a count of their own.
    ///   - metrics: where refusals are counted.
    ///   - clock: tells the time that passes.
    package init(
        _ name: String,
        of subject: String,
        perMinute: Int,
        clients: Int,
        logger: Logger,
        metrics: Metrics = .shared,
        clock: @escaping @Sendable () -> MonotonicTime = { .now() }
    ) {
        self.name = name
        self.subject = subject
        self.limiter = RateLimiter(TokenRate(perMinute: perMinute), clients: clients)
        self.refusals = metrics.counter(
            "walletorders_rate_limited_requests_total",
            help: "Requests that were refused because their client asks too often.",
            labels: [("limit", name)]
        )
        self.logger = logger
        self.clock = clock
    }

    /// What a client may ask for in a minute; 0 is no limit. A new number is in force at once.
    package var perMinute: Int {
        get { self.limiter.rate?.perMinute ?? 0 }
        set { self.limiter.rate = TokenRate(perMinute: newValue) }
    }

    /// Judges a request, and draws its cost if it may come.
    ///
    /// - Parameters:
    ///   - cost: how many plain requests it counts for; 0 asks without drawing.
    /// - Returns: the problem that it is refused with; nil when it may come.
    package func refusal(of key: RateLimiter.Key, cost: Int = 1) -> Problem? {
        let now = self.clock()
        guard case .refused(let wait) = self.limiter.take(cost, of: key, at: now) else { return nil }
        return self.problem(wait, at: now)
    }

    /// Draws what a request costs beyond what was drawn when it was judged.
    package func draw(_ cost: Int, of key: RateLimiter.Key) {
        self.limiter.draw(cost, of: key, at: self.clock())
    }

    /// Tells a client what it has left, in the fields of an answer; nothing without a limit.
    package func show(to key: RateLimiter.Key, in headers: inout HTTPFields) {
        guard let left = self.limiter.standing(of: key, at: self.clock()) else { return }
        // As long as they come back in, so that a client that spreads them over it is never refused.
        let seconds = Self.seconds(left.units > 0 ? left.rate.duration(of: left.units) : left.wait)
        Self.write(self.name, left.rate, remaining: left.units, seconds: seconds, into: &headers)
    }

    @inline(never)
    private func problem(_ wait: Duration, at now: MonotonicTime) -> Problem {
        self.refusals.increment()
        self.tell(at: now)
        let seconds = Self.seconds(wait)
        var headers: HTTPFields = ["retry-after": String(seconds)]
        var detail = "Try again in \(seconds) \(seconds == 1 ? "second" : "seconds")."
        if let rate = self.limiter.rate {
            Self.write(self.name, rate, remaining: 0, seconds: seconds, into: &headers)
            detail = "In a minute only \(rate.perMinute) \(self.subject) may come. " + detail
        }
        return Problem(
            .tooManyRequests,
            code: "rate-limited",
            detail: detail,
            extensions: ["limit": .string(self.name)],
            headers: headers
        )
    }

    /// Whole seconds, rounded up, since who comes earlier comes in vain; at least one.
    private static func seconds(_ duration: Duration) -> Int {
        max(1, Int((duration.nanoseconds + 999_999_999) / 1_000_000_000))
    }

    private static func write(
        _ name: String,
        _ rate: TokenRate,
        remaining: Int,
        seconds: Int,
        into headers: inout HTTPFields
    ) {
        headers["ratelimit-policy"] = "\"\(name)\";q=\(rate.perMinute);w=60"
        headers["ratelimit"] = "\"\(name)\";r=\(remaining);t=\(seconds)"
    }

    /// One line for the first refusal, and one a minute while they go on, with how many there were.
    private func tell(at now: MonotonicTime) {
        let count = self.telling.withLock { telling -> Int? in
            telling.count += 1
            if let next = telling.next, now < next { return nil }
            telling.next = now + .seconds(60)
            defer { telling.count = 0 }
            return telling.count
        }
        guard let count else { return }
        self.logger.warning(
            "clients ask too often and are refused",
            ["limit": .string(self.name), "perMinute": .integer(self.perMinute), "refused": .integer(count)]
        )
    }
}
