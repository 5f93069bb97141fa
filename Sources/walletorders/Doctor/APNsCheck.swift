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
            case .typeFault(let reason):
                return .bad(
                    subject,
                    "\(place) refuses the certificate: \(reason)",
                    fix: "use this order type's own certificate, not expired, not revoked; renew it when it is"
                )
            case .rejected(let reason):
                return .bad(
                    subject,
                    "\(place) refuses the request: \(reason)",
                    fix: "look at orderTypes.\(self.settings.identifier.text).apns: pushType and priority"
                )
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
                fix: "let this machine reach \(place) over TCP, without a proxy that opens TLS"
            )
        }
    }

    private func probe(_ tls: TLSContext) async throws -> PushOutcome {
        let apns = self.settings.apns
        let connection = try await HTTP2ClientConnection.connect(
            host: apns.host,
            port: apns.port,
            tls: tls,
            loop: self.loop,
            deadline: .seconds(5)
        )
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
            await connection.close()
            throw error
        }
        await connection.close()
        return PushOutcome(
            status: response.status.code,
            retryAfter: response.headers["retry-after"],
            body: response.body
        )
    }
}
