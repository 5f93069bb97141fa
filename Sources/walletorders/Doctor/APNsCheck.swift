// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTPEngine
import OrderModel
import OrderPackage
import OrderStore
import PushNotifications
import ServiceRuntime

/// `doctor` on one order type's way to APNs: opens it as the worker does, and pushes to a token that nobody has. A
/// certificate that APNs does not take is refused before the token is looked at.
struct APNsCheck {
    let settings: OrderTypeSettings
    let loop: EventLoop

    func diagnosis() async -> Diagnosis {
        let apns = self.settings.apns
        let subject = "\(self.settings.identifier.text): APNs"
        let place = "\(apns.host):\(apns.port)"
        do {
            let identity = self.settings.identity
            let tls = try TLSContext.client(
                trust: apns.trust.map { .certificates($0) } ?? .system,
                alpn: ["h2"],
                identity: (certificate: identity.certificate, chain: [identity.intermediate], key: identity.key)
            )
            let outcome = try await self.probe(tls)
            switch outcome {
            case .sent, .badToken, .unregistered, .slowDown:
                return .good(subject, "\(place) takes the certificate")
            case .typeFault("BadCertificateEnvironment"):
                return .bad(
                    subject,
                    "\(place) refuses the certificate: BadCertificateEnvironment",
                    fix: "the certificate is for the other of APNs' environments: "
                        + "look at orderTypes.\(self.settings.identifier.text).apns.host"
                )
            case .typeFault(let reason) where PushOutcome.settingReasons.contains(reason):
                return self.refusedRequest(reason)
            case .typeFault(let reason):
                return .bad(
                    subject,
                    "\(place) refuses the certificate: \(reason)",
                    fix: "use this order type's own certificate, not expired, not revoked; renew it when it is"
                )
            case .rejected(let reason): return self.refusedRequest(reason)
            case .retry(let reason), .again(let reason):
                return .bad(
                    subject,
                    "\(place) can't answer now: \(reason)",
                    fix: "try again in a quarter of an hour; Apple's system status page tells of outages"
                )
            }
        } catch {
            return .bad(
                subject,
                "\(place) is not reached: \(error)",
                fix: self.fix(error, place)
            )
        }
    }

    /// What to do when there is no connection, by what kept it from coming about.
    private func fix(_ error: any Error, _ place: String) -> String {
        let name = "orderTypes.\(self.settings.identifier.text).apns"
        switch (error as? HTTPClientError)?.code {
        case .tls:
            return self.settings.apns.trust == nil
                ? "let no proxy open TLS on the way to \(place); for a server that is not Apple's name its roots with "
                    + "\(name).trust"
                : "see that \(name).trust holds the root of that server's certificate; leave it out for Apple's own"
        case .connect, .refused: return "look at \(name).host and port, and let this machine reach \(place) over TCP"
        case .timeout: return "let this machine reach \(place) over TCP: something on the way answers nothing"
        default: return "look at \(name).host and port: what answers there speaks no HTTP/2 as APNs does"
        }
    }

    private func refusedRequest(_ reason: String) -> Diagnosis {
        let type = self.settings.identifier.text
        return .bad(
            "\(type): APNs",
            "\(self.settings.apns.host):\(self.settings.apns.port) refuses the request: \(reason)",
            fix: "look at orderTypes.\(type).apns: pushType and priority"
        )
    }

    /// Some certificates are refused by the end of the connection alone, with the reason in its last frame.
    private static func refusal(_ error: any Error, _ goAwayReason: [UInt8]?) throws -> PushOutcome {
        guard let error = error as? HTTPClientError else { throw error }
        let outcome = PushOutcome(error, goAwayReason: goAwayReason ?? error.goAwayReason)
        guard case .typeFault = outcome else { throw error }
        return outcome
    }

    private func probe(_ tls: TLSContext) async throws -> PushOutcome {
        let apns = self.settings.apns
        let connection: HTTP2ClientConnection
        do {
            connection = try await HTTP2ClientConnection.connect(
                host: apns.host,
                port: apns.port,
                tls: tls,
                loop: self.loop,
                deadline: .seconds(5)
            )
        } catch {
            return try Self.refusal(error, nil)
        }
        let response: HTTPClientResponse
        do {
            let request = HTTP2Request(
                method: .post,
                authority: apns.port == 443 ? apns.host : "\(apns.host):\(apns.port)",
                path: "/3/device/" + String(repeating: "0", count: 64),
                headers: [
                    .init("apns-topic", self.settings.identifier.text), .init("apns-push-type", apns.pushType),
                    .init("apns-priority", String(apns.priority)), .init("apns-expiration", "0"),
                ],
                body: Array("{}".utf8)
            )
            response = try await connection.send(request, deadline: .seconds(5))
        } catch {
            let goAwayReason = connection.goAwayReason
            await connection.close()
            return try Self.refusal(error, goAwayReason)
        }
        await connection.close()
        return PushOutcome(
            status: response.status.code,
            retryAfter: response.headers["retry-after"],
            body: response.body
        )
    }
}
