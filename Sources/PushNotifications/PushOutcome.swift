// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
package import HTTPEngine
package import OrderStore

/// What an answer of APNs, or the lack of one, means for a ticket. Pure, so that the whole table is a test.
///
/// Source: Apple, "Handling notification responses from APNs"; spec 4; reliability 1.3.
package enum PushOutcome: Sendable, Equatable {
    /// Accepted. No proof that the device is alive, only that the ticket is done.
    case sent
    /// The token is no more: forget it, unless the device registered after the given moment. Without one, unless it
    /// registered since the push was begun.
    case unregistered(String, since: Moment?)
    /// The token is wrong here, or this is the wrong environment: try once more, then forget it.
    case badToken(String)
    /// Certificate, topic, or what the type's settings put into each request are refused: no push of this type will get through until someone sees to it.
    case typeFault(String)
    /// A request that will never be accepted: a fault of this program or its settings.
    case rejected(String)
    /// This token is told too often: leave it alone for a while, the others go on.
    case slowDown(String, seconds: Int?)
    /// APNs can't now: try again, later each time.
    case retry(String)
    /// It was certainly not processed, or the connection broke: at once, on another connection.
    case again(String)

    /// The reasons that say that a token is wrong here. Two such answers in a row, and the token is forgotten.
    package static let badTokenReasons: Set<String> = [  // short: APNs' reasons, letters of ASCII, 64 at most.
        "BadDeviceToken", "DeviceTokenNotForTopic", "MissingDeviceToken",
    ]

    /// The reasons that say that a header is wrong that comes from the type's settings, and so is in each of its pushes.
    package static let settingReasons: Set<String> = [  // short: APNs' reasons, letters of ASCII, 64 at most.
        "BadCollapseId", "BadExpirationDate", "BadPriority", "InvalidPushType",
    ]

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - body: `{"reason": …}`, with `timestamp` in milliseconds for 410.
    package init(status: Int, retryAfter: String?, body: [UInt8]) {
        let document = try? JSONValue(parsing: body)
        let reason = Self.word(document?["reason"]?.stringValue) ?? "status-\(status)"
        switch status {
        case 200: self = .sent
        case 410:
            let milliseconds = document?["timestamp"]?.int64Value
            self = .unregistered(reason, since: milliseconds.flatMap(Self.moment(milliseconds:)))
        case 400:
            switch reason {
            case _ where Self.badTokenReasons.contains(reason): self = .badToken(reason)
            case "BadTopic", "MissingTopic", "TopicDisallowed": self = .typeFault(reason)
            case _ where Self.settingReasons.contains(reason): self = .typeFault(reason)
            case "IdleTimeout": self = .again(reason)
            default: self = .rejected(reason)
            }
        case 403: self = .typeFault(reason)
        case 429: self = .slowDown(reason, seconds: retryAfter.flatMap(Int.init).map { min(max($0, 1), 3_600) })
        case 500...599: self = .retry(reason)
        case 400..<500: self = .rejected(reason)
        default: self = .retry(reason)
        }
    }

    /// Reads the lack of an answer. A wrong environment is told in the GOAWAY only: {"reason":"BadCertificateEnvironment"}.
    package init(_ error: HTTPClientError, goAwayReason: [UInt8]? = nil) {
        if let goAwayReason, !goAwayReason.isEmpty,
            case .typeFault(let word) = PushOutcome(status: 403, retryAfter: nil, body: goAwayReason),
            // short: APNs' reasons, letters of ASCII, 64 at most.
            word.hasPrefix("BadCertificate")
        {
            self = .typeFault(word)
            return
        }
        switch error.code {
        case .notProcessed: self = .again("not-processed")
        case .closed, .reset: self = .again("connection-lost")
        case .timeout: self = .retry("timeout")
        case .refused, .connect: self = .retry("unreachable")
        case .tls: self = .retry("tls")
        case .cancelled: self = .again("cancelled")
        default: self = .retry("protocol")
        }
    }

    /// A reason fit for logs, metrics and the database: letters only, and not long.
    private static func word(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= 64,
            text.utf8.allSatisfy({ (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) })
        else { return nil }
        return text
    }

    private static func moment(milliseconds: Int64) -> Moment? {
        let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000)
        return overflow || milliseconds < 0 ? nil : Moment(microseconds: microseconds)
    }

    /// What the database and the operator's screen show of it.
    package var reason: String? {
        switch self {
        case .sent: nil
        case .unregistered(let reason, _), .badToken(let reason), .typeFault(let reason), .rejected(let reason),
            .slowDown(let reason, _), .retry(let reason), .again(let reason):
            reason
        }
    }

    /// The name that metrics count it under.
    package var label: String {
        switch self {
        case .sent: "sent"
        case .unregistered: "unregistered"
        case .badToken: "bad-token"
        case .typeFault: "type-fault"
        case .rejected: "rejected"
        case .slowDown: "slow-down"
        case .retry: "retry"
        case .again: "again"
        }
    }
}
