// SPDX-License-Identifier: Apache-2.0
import HTTPEngine
import OrderStore
import PushNotifications
import Testing

@Suite("What APNs' answers mean")
struct PushOutcomeTests {
    static func outcome(_ status: Int, _ reason: String?, timestamp: Int64? = nil, retryAfter: String? = nil)
        -> PushOutcome
    {
        var body = ""
        if let reason { body = "{\"reason\":\"\(reason)\"" + (timestamp.map { ",\"timestamp\":\($0)" } ?? "") + "}" }
        return PushOutcome(status: status, retryAfter: retryAfter, body: Array(body.utf8))
    }

    @Test(
        "each status and reason that Apple lists has its action",
        arguments: [
            (200, nil, .sent),
            (400, "BadDeviceToken", .badToken("BadDeviceToken")),
            (400, "DeviceTokenNotForTopic", .badToken("DeviceTokenNotForTopic")),
            (400, "MissingDeviceToken", .badToken("MissingDeviceToken")),
            (400, "BadTopic", .typeFault("BadTopic")),
            (400, "MissingTopic", .typeFault("MissingTopic")),
            (400, "TopicDisallowed", .typeFault("TopicDisallowed")),
            (400, "BadCollapseId", .typeFault("BadCollapseId")),
            (400, "BadExpirationDate", .typeFault("BadExpirationDate")),
            (400, "BadMessageId", .rejected("BadMessageId")),
            (400, "BadPriority", .typeFault("BadPriority")),
            (400, "DuplicateHeaders", .rejected("DuplicateHeaders")),
            (400, "InvalidPushType", .typeFault("InvalidPushType")),
            (400, "PayloadEmpty", .rejected("PayloadEmpty")),
            (400, "IdleTimeout", .again("IdleTimeout")),
            (400, "SomethingNew", .rejected("SomethingNew")),
            (403, "BadCertificate", .typeFault("BadCertificate")),
            (403, "BadCertificateEnvironment", .typeFault("BadCertificateEnvironment")),
            (403, "Forbidden", .typeFault("Forbidden")),
            (403, "ExpiredProviderToken", .typeFault("ExpiredProviderToken")),
            (403, "MissingProviderToken", .typeFault("MissingProviderToken")),
            (404, "BadPath", .rejected("BadPath")),
            (405, "MethodNotAllowed", .rejected("MethodNotAllowed")),
            (403, "InvalidProviderToken", .typeFault("InvalidProviderToken")),
            (410, "Unregistered", .unregistered("Unregistered", since: nil)),
            (410, "ExpiredToken", .unregistered("ExpiredToken", since: nil)),
            (413, "PayloadTooLarge", .rejected("PayloadTooLarge")),
            (429, "TooManyRequests", .slowDown("TooManyRequests", seconds: nil)),
            (429, "TooManyProviderTokenUpdates", .slowDown("TooManyProviderTokenUpdates", seconds: nil)),
            (500, "InternalServerError", .retry("InternalServerError")),
            (503, "ServiceUnavailable", .retry("ServiceUnavailable")),
            (503, "Shutdown", .retry("Shutdown")),
            (502, nil, .retry("status-502")),
            (418, nil, .rejected("status-418")),
            (302, nil, .retry("status-302")),
        ] as [(Int, String?, PushOutcome)]
    )
    func table(status: Int, reason: String?, expected: PushOutcome) {
        #expect(Self.outcome(status, reason) == expected)
        // The operator's screen tells Apple's own word.
        #expect(Self.outcome(status, reason).reason == (status == 200 ? nil : reason ?? "status-\(status)"))
    }

    @Test("a 410's time is read in milliseconds, and nonsense is none")
    func timestamps() {
        #expect(
            Self.outcome(410, "Unregistered", timestamp: 1_700_000_000_123)
                == .unregistered("Unregistered", since: Moment(microseconds: 1_700_000_000_123_000))
        )
        #expect(Self.outcome(410, "Unregistered", timestamp: -1) == .unregistered("Unregistered", since: nil))
        #expect(Self.outcome(410, "Unregistered", timestamp: .max) == .unregistered("Unregistered", since: nil))
    }

    @Test("a reason that is no word does not travel into logs and the database")
    func hostileReason() {
        let body = Array("{\"reason\":\"x\\n\\u001b[31m; drop\"}".utf8)
        #expect(PushOutcome(status: 400, retryAfter: nil, body: body) == .rejected("status-400"))
        #expect(PushOutcome(status: 400, retryAfter: nil, body: [0xff, 0xfe]) == .rejected("status-400"))
    }

    @Test("Retry-After is heeded within an hour")
    func retryAfter() {
        #expect(Self.outcome(429, "TooManyRequests", retryAfter: "120") == .slowDown("TooManyRequests", seconds: 120))
        #expect(
            Self.outcome(429, "TooManyRequests", retryAfter: "999999") == .slowDown("TooManyRequests", seconds: 3_600)
        )
        #expect(Self.outcome(429, "TooManyRequests", retryAfter: "soon") == .slowDown("TooManyRequests", seconds: nil))
    }

    @Test("a push that was certainly not processed goes out again at once; others back off")
    func errors() {
        #expect(PushOutcome(HTTPClientError(.notProcessed, "")) == .again("not-processed"))
        #expect(PushOutcome(HTTPClientError(.closed, "")) == .again("connection-lost"))
        #expect(PushOutcome(HTTPClientError(.timeout, "")) == .retry("timeout"))
        #expect(PushOutcome(HTTPClientError(.refused, "")) == .retry("unreachable"))
        #expect(PushOutcome(HTTPClientError(.tls, "")) == .retry("tls"))
    }

    @Test("a connection that ended with a word about the certificate says more than its end")
    func goAway() {
        let closed = HTTPClientError(.closed, "")
        let word = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)
        #expect(PushOutcome(closed, goAwayReason: word) == .typeFault("BadCertificateEnvironment"))
        let other = Array(#"{"reason":"IdleTimeout"}"#.utf8)
        #expect(PushOutcome(closed, goAwayReason: other) == .again("connection-lost"))
        #expect(PushOutcome(closed, goAwayReason: []) == .again("connection-lost"))
    }
}
