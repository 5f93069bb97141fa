// SPDX-License-Identifier: Apache-2.0
internal import Cryptography
internal import ExactJSON
internal import HTTPEngine

/// What APNs refuses, and with which reason. Pure.
internal struct APNsRules: Sendable {
    /// A refusal: status and reason.
    struct Refusal: Sendable, Equatable {
        let status: Int
        let reason: String
        let timestamp: Int64?

        init(_ status: Int, _ reason: String, timestamp: Int64? = nil) {
            self.status = status
            self.reason = reason
            self.timestamp = timestamp
        }
    }

    /// The marker of a production push certificate (Apple's OID list).
    private static let productionMarker = "1.2.840.113635.100.6.3.2"

    /// Why a push is refused, or nil when it is not.
    func refusal(of request: HTTPRequest, token: String) -> Refusal? {
        let headers = request.headers
        guard let certificate = request.clientCertificate else { return Refusal(403, "MissingProviderToken") }
        guard certificate.extensionValue(Self.productionMarker) != nil else {
            return Refusal(403, "BadCertificateEnvironment")
        }
        guard let topic = headers["apns-topic"] else { return Refusal(400, "MissingTopic") }
        guard certificate.subject(.userID)?.isExactly(topic) == true else { return Refusal(400, "TopicDisallowed") }
        guard (1...1_000).contains(token.utf8.count), token.utf8.allSatisfy(Self.isHexDigit) else {
            return Refusal(400, "BadDeviceToken")
        }
        if request.body.isEmpty { return Refusal(400, "PayloadEmpty") }
        if request.body.count > 4_096 { return Refusal(413, "PayloadTooLarge") }
        let type = headers["apns-push-type"]
        if let type, !type.isExactly(oneOf: ["alert", "background"]) { return Refusal(400, "InvalidPushType") }
        if let priority = headers["apns-priority"] {
            guard priority.isExactly(oneOf: ["1", "5", "10"]),
                !(type?.isExactly("background") == true && priority.isExactly("10"))
            else {
                return Refusal(400, "BadPriority")
            }
        }
        if let expiration = headers["apns-expiration"], Int64(expiration) == nil {
            return Refusal(400, "BadExpirationDate")
        }
        if let identifier = headers["apns-collapse-id"], identifier.utf8.count > 64 {
            return Refusal(400, "BadCollapseId")
        }
        if let identifier = headers["apns-id"], !Self.isUUID(identifier) { return Refusal(400, "BadMessageId") }
        return nil
    }

    /// 8-4-4-4-12 hex digits.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(Self.isHexDigit) }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}
