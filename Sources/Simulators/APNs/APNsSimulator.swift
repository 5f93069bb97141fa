// SPDX-License-Identifier: Apache-2.0
package import Cryptography
internal import ExactJSON
package import HTTPEngine
package import ServiceRuntime

/// Apple's push service as its documentation describes it, on this machine: HTTP/2 over TLS, client certificates, the same
/// answers and reasons. What it accepts, simulated iPhones can wait for.
///
/// Like APNs it takes a connection without a client certificate, and answers each push on it with 403.
///
/// Source: Apple, "Sending notification requests to APNs", "Handling notification responses from APNs"; spec 4.
package final class APNsSimulator: Service {
    /// A push that was accepted.
    package struct Push: Sendable, Equatable {
        /// The device's token.
        package let token: String
        /// The order type that the push was for.
        package let topic: String
        /// The header fields as they came.
        package let headers: HTTPFields
        /// The body; orders' pushes are `{}`.
        package let body: [UInt8]
        /// The SHA-256 digest of the client's certificate, in hexadecimal digits.
        package let certificate: String
    }

    /// An answer that a token is to get instead of the one it would get.
    package struct ScriptedAnswer: Sendable {
        /// The status.
        package var status: Int
        /// The reason in the body.
        package var reason: String
        /// When the token became invalid, in milliseconds; sent with 410.
        package var timestamp: Int64?
        /// How often it is given; then the token is well again.
        package var times: Int
        /// It is held back until this is fired; nil: at once.
        package var after: Signal?

        /// Makes an answer.
        package init(
            status: Int,
            reason: String,
            timestamp: Int64? = nil,
            times: Int = .max,
            after: Signal? = nil
        ) {
            self.after = after
            self.status = status
            self.reason = reason
            self.timestamp = timestamp
            self.times = times
        }
    }

    private struct State: Sendable {
        var counts: [ExactKey: Int] = [:]
        var total = 0
        var recent: [Push] = []
        var scripts: [ExactKey: ScriptedAnswer] = [:]
        /// Replaced at each push: who waits for one waits for this.
        var next = Signal()
    }

    /// How many accepted pushes are kept to be looked at.
    private static let kept = 10_000
    /// How many tokens are counted.
    private static let tokens = 1_000_000

    package let name = "apns-simulator"
    /// The listener.
    package let server: HTTPServer
    private let inner: APNsRules
    private let state: Locked<State>

    /// Makes a simulator.
    ///
    /// - Parameters:
    ///   - tls: asks for client certificates and takes connections without one.
    ///   - control: makes connections misbehave as APNs' do on bad days: GOAWAY, few streams, no answers.
    package init(
        address: ListenAddress,
        tls: TLSContext,
        loops: EventLoopGroup,
        logger: Logger,
        control: HTTP2Control? = nil
    ) {
        let state = Locked(State())
        self.state = state
        let rules = APNsRules()
        self.inner = rules
        var router = Router()
        router.on(.post, "/3/device/{token}", bodyLimit: 8_192, name: "push") { request, parameters in
            try await Self.answer(request, token: parameters["token"], rules, state)
        }
        router.on(.get, "/simulator/pushes/{token}", name: "pushes") { request, parameters in
            try await Self.pushes(of: parameters["token"], request, state)
        }
        self.server = HTTPServer(
            name: "apns-simulator",
            address: address,
            tls: tls,
            router: router,
            loops: loops,
            logger: logger,
            control: control
        )
    }

    package func run(shutdown: Signal) async throws { try await self.server.run(shutdown: shutdown) }

    /// Makes a token get other answers.
    package func script(_ token: String, _ answer: ScriptedAnswer) {
        self.state.withLock { $0.scripts[ExactKey(token)] = answer }
    }

    /// How many pushes a token got.
    package func count(of token: String) -> Int { self.state.withLock { $0.counts[ExactKey(token)] ?? 0 } }

    /// How many pushes were accepted in all.
    package var total: Int { self.state.withLock { $0.total } }

    /// The last accepted pushes, oldest first.
    package var recent: [Push] { self.state.withLock { $0.recent } }

    /// Waits until a token has got more than `count` pushes.
    ///
    /// - Returns: how many it has got.
    /// - Throws: `DeadlineExceeded`.
    package func waitForPush(to token: String, after count: Int, deadline: Duration) async throws -> Int {
        try await Self.wait(token, after: count, deadline: deadline, self.state)
    }

    private static func wait(
        _ token: String,
        after count: Int,
        deadline: Duration,
        _ state: Locked<State>
    ) async throws -> Int {
        try await withDeadline(deadline) {
            while true {
                let (present, next) = state.withLock { ($0.counts[ExactKey(token)] ?? 0, $0.next) }
                if present > count { return present }
                try await next.wait()
            }
        }
    }

    private static func answer(
        _ request: HTTPRequest,
        token: String,
        _ rules: APNsRules,
        _ state: Locked<State>
    ) async throws -> HTTPResponse {
        let identifier = request.headers["apns-id"] ?? SecureRandom.uuid()
        if let refusal = rules.refusal(of: request, token: token) {
            return self.response(refusal, identifier)
        }
        let scripted = state.withLock { state -> ScriptedAnswer? in
            guard var answer = state.scripts[ExactKey(token)], answer.times > 0 else { return nil }
            answer.times -= 1
            state.scripts[ExactKey(token)] = answer.times > 0 ? answer : nil
            return answer
        }
        try await scripted?.after?.wait()
        if let scripted, scripted.status != 200 {
            return self.response(
                APNsRules.Refusal(scripted.status, scripted.reason, timestamp: scripted.timestamp),
                identifier
            )
        }
        let push = Push(
            token: token,
            topic: request.headers["apns-topic"] ?? "",
            headers: request.headers,
            body: request.body,
            certificate: request.clientCertificate?.fingerprint.hex ?? ""
        )
        let waiting = state.withLock { state -> Signal in
            if state.counts.count < Self.tokens || state.counts[ExactKey(token)] != nil {
                state.counts[ExactKey(token), default: 0] += 1
            }
            state.total += 1
            if state.recent.count >= Self.kept { state.recent.removeFirst(Self.kept / 2) }
            state.recent.append(push)
            defer { state.next = Signal() }
            return state.next
        }
        waiting.fire()
        return HTTPResponse(.ok, headers: ["apns-id": identifier])
    }

    private static func response(_ refusal: APNsRules.Refusal, _ identifier: String) -> HTTPResponse {
        var body: JSONObject = ["reason": .string(refusal.reason)]
        if let timestamp = refusal.timestamp { body["timestamp"] = .number(JSONNumber(timestamp)) }
        return HTTPResponse(
            HTTPStatus(refusal.status),
            headers: ["apns-id": identifier, "content-type": "application/json"],
            body: .bytes(JSONValue.object(body).serialized())
        )
    }

    /// `GET /simulator/pushes/{token}?after=N`: waits up to 20 s for more than N pushes;
    /// `{"count": …, "certificate": …}`, the latter of the last push to any token.
    private static func pushes(
        of token: String,
        _ request: HTTPRequest,
        _ state: Locked<State>
    ) async throws -> HTTPResponse {
        let after = request.queryValue("after").flatMap(Int.init) ?? -1
        var count = state.withLock { $0.counts[ExactKey(token)] ?? 0 }
        if count <= after {
            do {
                count = try await self.wait(token, after: after, deadline: .seconds(20), state)
            } catch is DeadlineExceeded {}
        }
        let certificate = state.withLock { $0.recent.last?.certificate } ?? ""
        return .json(["count": .number(JSONNumber(Int64(count))), "certificate": .string(certificate)])
    }
}
