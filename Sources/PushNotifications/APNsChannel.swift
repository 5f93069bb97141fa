// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import HTTPEngine
internal import OrderModel
internal import OrderPackage
internal import OrderStore
internal import ServiceRuntime

/// One order type's way to APNs: one HTTP/2 connection at a time, opened with the type's own certificate, kept open, and
/// replaced when it is on its way out.
///
/// Apple asks to keep connections: opening and closing rapidly counts as an attack. An actor, so that a batch that finds
/// no connection opens one and not a hundred.
internal actor APNsChannel {
    private let settings: OrderTypeSettings
    private let loop: EventLoop
    private let tls: TLSContext
    private var connection: HTTP2ClientConnection?
    private var opening: [CheckedContinuation<Result<HTTP2ClientConnection, HTTPClientError>, Never>]?
    private let deadlines: PushDeadlines
    private var lastUse = MonotonicTime.now()
    private var connectedAt = MonotonicTime.now()
    /// Whether a push got no answer in time: the link may be cut without a word.
    private var isSuspect = false

    /// What came of a push.
    struct Answer: Sendable {
        let outcome: PushOutcome
        /// Why there was no answer, in words for the log.
        var detail: String?
        /// Whether there was no connection to push over: no token's fault.
        var hasNoConnection = false
    }

    init(settings: OrderTypeSettings, loop: EventLoop, deadlines: PushDeadlines) throws {
        self.settings = settings
        self.loop = loop
        self.deadlines = deadlines
        let identity = settings.identity
        self.tls = try TLSContext.client(
            trust: settings.apns.trust.map { .certificates($0) } ?? .system,
            alpn: ["h2"],
            identity: (certificate: identity.certificate, chain: [identity.intermediate], key: identity.key)
        )
    }

    /// Pushes to one device: an empty push, which says no more than "look".
    func push(to token: PushToken, identifier: String, now: WallTime) async -> Answer {
        let connection: HTTP2ClientConnection
        switch await self.open() {
        case .success(let open): connection = open
        case .failure(let error):
            return Answer(
                outcome: PushOutcome(error, goAwayReason: error.goAwayReason),
                detail: error.message,
                hasNoConnection: true
            )
        }
        do {
            let apns = self.settings.apns
            let keep = apns.expiration.components.seconds
            let request = HTTP2Request(
                method: .post,
                authority: apns.port == 443 ? apns.host : "\(apns.host):\(apns.port)",
                path: "/3/device/\(token.text)",
                headers: [
                    .init("apns-topic", self.settings.identifier.text), .init("apns-push-type", apns.pushType),
                    .init("apns-priority", String(apns.priority)),
                    .init("apns-expiration", keep == 0 ? "0" : String(now.seconds + keep)),
                    .init("apns-collapse-id", Self.collapseIdentifier(self.settings.identifier)),
                    // Never repeats: it must not push useful entries out of the compression table.
                    .init("apns-id", identifier, neverIndex: true),
                ],
                body: Array("{}".utf8)
            )
            let response = try await connection.send(request, deadline: self.deadlines.answer)
            self.isSuspect = false
            return Answer(
                outcome: PushOutcome(
                    status: response.status.code,
                    retryAfter: response.headers["retry-after"],
                    body: response.body
                )
            )
        } catch {
            if error.code == .timeout { self.isSuspect = true }
            if error.http2ErrorCode == .refusedStream { self.leave(connection) }
            return Answer(
                outcome: PushOutcome(error, goAwayReason: connection.goAwayReason),
                detail: error.message
            )
        }
    }

    /// How many pushes may be under way at once, as APNs said last.
    var streamLimit: Int { self.connection?.streamLimit ?? 100 }

    /// What refuses streams is left: the next push goes over another connection.
    private func leave(_ connection: HTTP2ClientConnection) {
        guard self.connection === connection, !connection.isGoingAway,
            MonotonicTime.now() - self.connectedAt >= self.deadlines.renewal
        else { return }
        self.connection = nil
        self.retire(connection)
    }

    /// Streams that are open still get their answers.
    private func retire(_ connection: HTTP2ClientConnection) {
        let patience = self.deadlines.answer
        self.loop.spawn { await connection.drain(deadline: patience) }
    }

    /// Ends the connection, if there is one.
    func close() async {
        let connection = self.connection
        self.connection = nil
        await connection?.close()
    }

    /// The open connection, or a new one. Names are looked up afresh for each: an old address may be the reason for the
    /// end of the last.
    private func open() async -> Result<HTTP2ClientConnection, HTTPClientError> {
        if self.opening != nil {
            return await withCheckedContinuation { self.opening?.append($0) }
        }
        if let connection = self.connection, !connection.isGoingAway, !self.mustProve {
            self.lastUse = .now()
            return .success(connection)
        }
        // Nobody else opens or proves from here on: they wait for what comes of this.
        self.opening = []
        let result = await self.proveOrConnect()
        self.connection = try? result.get()
        self.isSuspect = false
        self.lastUse = .now()
        let waiting = self.opening ?? []
        self.opening = nil
        for continuation in waiting { continuation.resume(returning: result) }
        return result
    }

    /// Idle connections die silently, and so does one whose link is cut.
    private var mustProve: Bool { self.isSuspect || MonotonicTime.now() - self.lastUse > self.deadlines.idle }

    private func proveOrConnect() async -> Result<HTTP2ClientConnection, HTTPClientError> {
        if let old = self.connection {
            self.connection = nil
            if old.isGoingAway {
                self.retire(old)
            } else {
                do {
                    try await old.ping(deadline: self.deadlines.ping)
                    return .success(old)
                } catch {
                    await old.close()
                }
            }
        }
        do {
            let apns = self.settings.apns
            let new = try await HTTP2ClientConnection.connect(
                host: apns.host,
                port: apns.port,
                tls: self.tls,
                loop: self.loop,
                deadline: self.deadlines.connect
            )
            self.connectedAt = .now()
            return .success(new)
        } catch {
            return .failure(error)
        }
    }

    /// One notification a type and device is enough: they all say the same.
    private static func collapseIdentifier(_ type: OrderTypeIdentifier) -> String {
        String(SHA256.hash(Array(type.text.utf8)).hex.prefix(32))
    }
}
