// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTPEngine
import OrderModel
import OrderPackage
import Testing

@testable import Simulators

/// What APNs refuses.
@Suite("APNs' rules: SimulatorsTests")
struct APNsRulesTests {
    static let topic = "order.com.example.shop"
    static let authority = Result { try TestAuthority.make(orderType: OrderTypeIdentifier(topic)) }
    static let id = "6f1d8a3c-0d5b-4b52-9f0e-2b6a3f1c9d10"

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var headers: [(String, String)] = []
        var token = "00ff"
        var body = "{}"
        var hasCertificate = true
        let status: Int?
        var reason = ""
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "an order's push", status: nil),
        Row(name: "no certificate", hasCertificate: false, status: 403, reason: "MissingProviderToken"),
        Row(name: "no topic", headers: [("apns-topic", "")], status: 400, reason: "MissingTopic"),
        Row(
            name: "another type's topic",
            headers: [("apns-topic", "order.com.example.bakery")],
            status: 400,
            reason: "TopicDisallowed"
        ),
        Row(name: "a token that is not hex", token: "xyz", status: 400, reason: "BadDeviceToken"),
        Row(name: "no body", body: "", status: 400, reason: "PayloadEmpty"),
        Row(
            name: "too long a body",
            body: String(repeating: " ", count: 4_097),
            status: 413,
            reason: "PayloadTooLarge"
        ),
        Row(name: "push type wallet", headers: [("apns-push-type", "wallet")], status: 400, reason: "InvalidPushType"),
        Row(name: "background at once", headers: [("apns-priority", "10")], status: 400, reason: "BadPriority"),
        Row(name: "alert at once", headers: [("apns-priority", "10"), ("apns-push-type", "alert")], status: nil),
        Row(name: "priority 7", headers: [("apns-priority", "7")], status: 400, reason: "BadPriority"),
        Row(
            name: "a date in words",
            headers: [("apns-expiration", "soon")],
            status: 400,
            reason: "BadExpirationDate"
        ),
        Row(
            name: "64 bytes of collapse",
            headers: [("apns-collapse-id", String(repeating: "c", count: 64))],
            status: nil
        ),
        Row(
            name: "65 bytes of collapse",
            headers: [("apns-collapse-id", String(repeating: "c", count: 65))],
            status: 400,
            reason: "BadCollapseId"
        ),
        Row(name: "a short id", headers: [("apns-id", "1")], status: 400, reason: "BadMessageId"),
        Row(
            name: "an id that is no UUID",
            headers: [("apns-id", String(repeating: "z", count: 36))],
            status: 400,
            reason: "BadMessageId"
        ),
    ]

    @Test("each fault has its status and reason", arguments: rows)
    func table(row: Row) throws {
        let certificate = try Self.authority.get().identity.certificate
        var headers: HTTPFields = [
            "apns-topic": Self.topic, "apns-push-type": "background", "apns-priority": "5", "apns-expiration": "0",
            "apns-id": Self.id,
        ]
        for (name, value) in row.headers { headers[name] = value.isEmpty ? nil : value }
        let request = HTTPRequest(
            method: .post,
            target: "/3/device/\(row.token)",
            headers: headers,
            body: Array(row.body.utf8),
            clientCertificate: row.hasCertificate ? certificate : nil
        )
        let refusal = APNsRules().refusal(of: request, token: row.token)
        #expect(refusal?.status == row.status)
        #expect(refusal?.reason ?? "" == row.reason)
    }

    @Test("a certificate without the marker of production pushes is of the wrong environment")
    func environment() throws {
        let request = HTTPRequest(
            method: .post,
            target: "/3/device/00ff",
            headers: ["apns-topic": Self.topic],
            body: Array("{}".utf8),
            clientCertificate: try Self.authority.get().server.certificate
        )
        #expect(APNsRules().refusal(of: request, token: "00ff") == .init(403, "BadCertificateEnvironment"))
    }
}
