// SPDX-License-Identifier: Apache-2.0

package import Cryptography
import ExactJSON
package import OrderModel
import PostgreSQL
import ServiceRuntime

/// A request that may come twice. The answer of the first is kept for 72 hours, in the same commit as what it did, so a
/// crash leaves both or neither.
package struct IdempotentRequest: Sendable {
    /// Method and route, such as `POST /api/v1/orders`. With the order type and the key it is the scope.
    package let route: String
    /// The caller's key, 1 to 255 bytes.
    package let key: String
    /// SHA-256 of the request in a canonical form: the same key with another one is refused.
    package let fingerprint: SHA256Digest
    /// Makes the answer to keep. It must not hold the authentication token: a replay derives it again.
    package let answer: @Sendable (CreatedOrder) -> StoredAnswer

    /// Describes a request.
    package init(
        route: String,
        key: String,
        fingerprint: SHA256Digest,
        answer: @escaping @Sendable (CreatedOrder) -> StoredAnswer
    ) {
        self.route = route
        self.key = key
        self.fingerprint = fingerprint
        self.answer = answer
    }
}

/// An answer as kept, without the authentication token.
package struct StoredAnswer: Sendable, Hashable {
    /// The HTTP status.
    package let status: Int
    /// JSON text.
    package let body: String

    /// Makes an answer.
    package init(status: Int, body: String) {
        self.status = status
        self.body = body
    }

    /// Whether the order that the answer was about was erased: `erase_contents` and `keep_answer` leave no more than this
    /// of it, which no answer says by itself.
    package var isErased: Bool { self.body.isExactly("{}") }

    /// Whether both are the same, byte for byte: answers quote what was sent.
    package static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.body.isExactly(right.body)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactKey(self.body)) }
}

/// A request that is safe to repeat by itself (events, roll-outs) or nearly so (share links), and that came with an
/// idempotency key: the key is taken before the work, which may be many transactions, and its answer is kept after it.
package struct RequestKey: Sendable, Hashable {
    /// Method and route.
    package let route: String
    /// The caller's key, 1 to 255 bytes.
    package let key: String
    /// SHA-256 of the request in a canonical form.
    package let fingerprint: SHA256Digest
    /// The order that the request is about; its erasure takes the contents of the answer along.
    package let order: OrderIdentifier?

    /// Describes a request.
    package init(route: String, key: String, fingerprint: SHA256Digest, order: OrderIdentifier? = nil) {
        self.route = route
        self.key = key
        self.fingerprint = fingerprint
        self.order = order
    }
}

extension OrderStore {
    /// Takes the key for a request before its work begins, so that another request under the same key does nothing. Twins
    /// of the request may work at the same time. Whoever took a key gives it an answer or leaves it.
    ///
    /// - Parameter orderType: the scope; nil for requests about many types.
    /// - Returns: the answer that was kept for the request; nil when the key is taken now.
    /// - Throws: ``StoreError`` with `keyReused`, `stillRunning`.
    package func takeKey(_ request: RequestKey, of orderType: OrderTypeIdentifier?) async throws -> StoredAnswer? {
        let values: [PostgresValue] = [
            .text(orderType?.text ?? ""), .text(request.route), .text(request.key),
            .bytes(request.fingerprint.bytes),
        ]
        // What stands in the way may be gone by the time it is looked at.
        for _ in 1...3 {
            // Not repeated when its answer is lost: it counts.
            if try await client.query(AccessStatements.takeKey, values).first != nil { return nil }
            if let kept = try await keptAnswer(request, of: orderType) { return kept }
        }
        throw StoreError(
            .stillRunning,
            "A request with this Idempotency-Key is being worked on. Send it again in a second.",
            retryAfter: 1
        )
    }

    /// Gives a key back whose request failed: mended, it may come again. In a moment of its own, since it may be that the
    /// request failed for want of time, or because its client went away; and in one commit, or one whose answer is lost would
    /// leave the rest undone.
    package func leaveKey(_ request: RequestKey, of orderType: OrderTypeIdentifier?) async throws {
        let values: [PostgresValue] = [
            .text(orderType?.text ?? ""), .text(request.route), .text(request.key),
            .bytes(request.fingerprint.bytes),
        ]
        try await uncancelled { [client] in
            try await RequestTime.unlimited {
                try await OrderStore.answering(within: Self.leaveTime) {
                    _ = try await client.pipeline([
                        (AccessStatements.leaveKey, values), (AccessStatements.dropLeftKey, values),
                    ])
                }
            }
        }
    }

    /// Waits for work that does not end with the request: in a task of its own, when the request has a loop to start it on.
    private func uncancelled(_ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let loop = EventLoop.ofTask() else { return try await body() }
        let failure = Locked<(any Error)?>(nil)
        let task = loop.spawn {
            do { try await body() } catch { failure.withLock { $0 = error } }
        }
        await task.value
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Fits into what is left of the five seconds in which a request is answered.
    private static let leaveTime = Duration.milliseconds(300)

    /// The answer that was kept for a request; nil when there is none yet.
    ///
    /// - Parameter orderType: the scope; nil for requests about many types.
    /// - Throws: ``StoreError`` with `keyReused`.
    package func keptAnswer(_ request: RequestKey, of orderType: OrderTypeIdentifier?) async throws -> StoredAnswer? {
        let scope: [PostgresValue] = [.text(orderType?.text ?? ""), .text(request.route), .text(request.key)]
        guard let row = try await client.query(AccessStatements.readAnswer, scope).first else { return nil }
        guard try row.bool(4) else {
            _ = try await write(AccessStatements.dropExpiredAnswer, scope)
            return nil
        }
        guard try row.bytes(0) == request.fingerprint.bytes else { throw Self.keyReused }
        guard try row.int(2) != 0 else { return nil }
        return StoredAnswer(status: Int(try row.int(2)), body: try row.text(3))
    }

    /// Keeps the answer of a request that succeeded. It must hold no token, and what it says of a customer only when the
    /// request names the one order that it is about.
    ///
    /// - Returns: the answer to give: of twins that ran at once, the first one's.
    /// - Throws: ``StoreError`` with `keyReused`.
    package func keepAnswer(
        _ answer: StoredAnswer,
        for request: RequestKey,
        of orderType: OrderTypeIdentifier?
    ) async throws -> StoredAnswer {
        _ = try await write(
            AccessStatements.keepAnswer,
            [
                .text(orderType?.text ?? ""), .text(request.route), .text(request.key),
                .bytes(request.fingerprint.bytes), .int(Int64(answer.status)), .text(answer.body),
                request.order.map { .text($0.text) } ?? .null,
            ]
        )
        return try await keptAnswer(request, of: orderType) ?? answer
    }

    static let keyReused = StoreError(
        .keyReused,
        "This Idempotency-Key was used for another request. Use a new key for a new request."
    )

    /// What a kept answer says about a repeated request: nil when there is none (any more), the outcome to replay, or an
    /// error when the key was used for another request.
    func replay(_ request: IdempotentRequest, of orderType: OrderTypeIdentifier) async throws -> CreateOutcome? {
        let scope: [PostgresValue] = [.text(orderType.text), .text(request.route), .text(request.key)]
        guard let row = try await client.query(AccessStatements.readAnswer, scope).first else { return nil }
        guard try row.bool(4) else {
            _ = try await write(AccessStatements.dropExpiredAnswer, scope)
            return nil
        }
        guard try row.bytes(0) == request.fingerprint.bytes else {
            throw Self.keyReused
        }
        let key = OrderKey(orderType, try stored { try OrderIdentifier(try row.text(1)) })
        let answer = StoredAnswer(status: Int(try row.int(2)), body: try row.text(3))
        let head = try await head(key)
        try await awaitStandby()
        let token = try head.flatMap { $0.isErased ? nil : try tokens.token(for: key, stamp: $0.token) }
        return .replayed(answer, key: key, authenticationToken: token)
    }
}
