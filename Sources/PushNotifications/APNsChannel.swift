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
    private var lastUse = MonotonicTime.now()

    init(settings: OrderTypeSettings, loop: EventLoop) throws {
        self.settings = settings
        self.loop = loop
        let identity = settings.identity
        self.tls = try TLSContext.client(
            trust: settings.apns.trust.map { .certificates($0) } ?? .system,
            alpn: ["h2"],
            identity: (certificate: identity.certificate, chain: [identity.intermediate], key: identity.key)
        )
    }

    /// Pushes to one device: an empty push, which says no more than "look".
    func push(to token: PushToken, identifier: String, now: WallTime) async -> PushOutcome {
        let connection: HTTP2ClientConnection
        switch await self.open() {
        case .success(let open): connection = open
        case .failure(let error): return PushOutcome(error)
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
            let response = try await connection.send(request, deadline: .seconds(10))
            return PushOutcome(
                status: response.status.code,
                retryAfter: response.headers["retry-after"],
                body: response.body
            )
        } catch {
            // A wrong environment is told in the GOAWAY only: {"reason":"BadCertificateEnvironment"}.
            if let reason = connection.goAwayReason, !reason.isEmpty,
                case .typeFault(let word) = PushOutcome(status: 403, retryAfter: nil, body: reason),
                word.hasPrefix("BadCertificate")
            {
                return .typeFault(word)
            }
            return PushOutcome(error)
        }
    }

    /// How many pushes may be under way at once, as APNs said last.
    var streamLimit: Int { self.connection?.streamLimit ?? 100 }

    /// Ends the connection, if there is one.
    func close() async {
        let connection = self.connection
        self.connection = nil
        await connection?.close()
    }

    /// The open connection, or a new one. Names are looked up afresh for each: an old address may be the reason for the
    /// end of the last.
    private func open() async -> Result<HTTP2ClientConnection, HTTPClientError> {
        let now = MonotonicTime.now()
        defer { self.lastUse = now }
        if let connection = self.connection, !connection.isGoingAway {
            // Idle connections die silently: one that was quiet for a minute must show that it lives.
            guard now - self.lastUse > .seconds(60) else { return .success(connection) }
            do {
                try await connection.ping(deadline: .seconds(3))
                return .success(connection)
            } catch {
                if self.connection === connection { self.connection = nil }
                await connection.close()
            }
        }
        if self.opening != nil {
            return await withCheckedContinuation { self.opening?.append($0) }
        }
        self.opening = []
        let result: Result<HTTP2ClientConnection, HTTPClientError>
        do {
            let apns = self.settings.apns
            result = .success(
                try await HTTP2ClientConnection.connect(
                    host: apns.host,
                    port: apns.port,
                    tls: self.tls,
                    loop: self.loop,
                    deadline: .seconds(5)
                )
            )
        } catch {
            result = .failure(error)
        }
        self.connection = try? result.get()
        let waiting = self.opening ?? []
        self.opening = nil
        for continuation in waiting { continuation.resume(returning: result) }
        return result
    }

    /// One notification a type and device is enough: they all say the same.
    private static func collapseIdentifier(_ type: OrderTypeIdentifier) -> String {
        String(SHA256.hash(Array(type.text.utf8)).hex.prefix(32))
    }
}
