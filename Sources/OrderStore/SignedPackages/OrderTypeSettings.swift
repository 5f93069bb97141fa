// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OrderModel
package import OrderPackage
internal import ServiceRuntime

/// How pushes of one order type reach APNs. All but host and port are Apple's to know and ours to guess (spec 8.1), so all
/// are settings.
package struct APNsSettings: Sendable {
    /// The host to connect to.
    package var host: String
    /// Its port: 443 or 2197 at Apple.
    package var port: Int
    /// The roots that the server's certificate must lead to; nil for those of the system.
    package var trust: [Certificate]?
    /// The header `apns-push-type`.
    package var pushType: String
    /// The header `apns-priority`; 5 is the only one allowed with push type `background`.
    package var priority: Int
    /// How long APNs keeps a push for a device that is off; zero for one attempt.
    package var expiration: Duration

    /// Whether both lead to the same place in the same way.
    package func isAlike(_ other: APNsSettings) -> Bool {
        host == other.host && port == other.port && pushType == other.pushType && priority == other.priority
            && expiration == other.expiration && trust?.map(\.der) == other.trust?.map(\.der)
    }

    /// Makes settings; the defaults are those that were seen to work.
    package init(
        host: String = "api.push.apple.com",
        port: Int = 443,
        trust: [Certificate]? = nil,
        pushType: String = "background",
        priority: Int = 5,
        expiration: Duration = .seconds(30 * 86_400)
    ) {
        self.host = host
        self.port = port
        self.trust = trust
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
    }
}

/// What belongs to one order type: who signs, where devices call, how pushes go out.
package struct OrderTypeSettings: Sendable {
    /// The order type identifier; the identity's certificate names the same.
    package let identifier: OrderTypeIdentifier
    /// Signs packages, and opens APNs.
    package var identity: SigningIdentity { didSet { identityDigest = Self.digest(identity) } }
    /// Names the certificates as a whole: a serial number is its issuer's choice, and two issuers can choose alike.
    package private(set) var identityDigest: SHA256Digest
    /// The address that devices are told; `/v1/…` follows it.
    package var webServiceURL: String
    /// Whether an order is completed when all its fulfillments are final.
    package var completeWhenFulfilled: Bool
    /// Whether members that Apple does not know are kept and passed through; by default they are refused.
    package var keepsUnknownFields: Bool
    /// How pushes reach APNs.
    package var apns: APNsSettings

    /// Makes settings of one type.
    package init(
        identifier: OrderTypeIdentifier,
        identity: SigningIdentity,
        webServiceURL: String,
        completeWhenFulfilled: Bool = false,
        keepsUnknownFields: Bool = false,
        apns: APNsSettings = .init()
    ) {
        self.identifier = identifier
        self.identity = identity
        identityDigest = Self.digest(identity)
        self.webServiceURL = webServiceURL
        self.completeWhenFulfilled = completeWhenFulfilled
        self.keepsUnknownFields = keepsUnknownFields
        self.apns = apns
    }

    private static func digest(_ identity: SigningIdentity) -> SHA256Digest {
        SHA256.hash(identity.certificate.der + identity.intermediate.der)
    }

    /// Whether pushes go out alike under both: to the same place, with the same certificate.
    package func pushesAlike(_ other: OrderTypeSettings) -> Bool {
        identityDigest == other.identityDigest && apns.isAlike(other.apns)
    }
}

/// The order types that this process serves. Replaced as a whole when certificates are read again (SIGHUP), so a request
/// sees either all the old settings or all the new.
package final class OrderTypeDirectory: Sendable {
    private let types: Locked<[OrderTypeIdentifier: OrderTypeSettings]>

    /// Makes a directory of some types.
    package init(_ types: [OrderTypeSettings] = []) {
        self.types = Locked(Self.index(types))
    }

    /// The settings of a type, or nil when this process does not serve it.
    package subscript(_ type: OrderTypeIdentifier) -> OrderTypeSettings? {
        self.types.withLock { $0[type] }
    }

    /// All types, by identifier.
    package var all: [OrderTypeSettings] {
        self.types.withLock { Array($0.values) }.sorted { $0.identifier.text < $1.identifier.text }
    }

    /// Puts other settings in force.
    package func replace(_ types: [OrderTypeSettings]) {
        self.types.withLock { $0 = Self.index(types) }
    }

    private static func index(_ types: [OrderTypeSettings]) -> [OrderTypeIdentifier: OrderTypeSettings] {
        Dictionary(types.map { ($0.identifier, $0) }) { _, last in last }
    }
}
