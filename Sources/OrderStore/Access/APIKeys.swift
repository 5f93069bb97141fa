// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel
import PostgreSQL
package import ServiceRuntime

/// What a key may do.
package enum APIScope: String, Sendable, Hashable, CaseIterable {
    /// Read orders.
    case ordersRead = "orders:read"
    /// Create and change orders.
    case ordersWrite = "orders:write"
    /// Files of order types and their roll-out, and all that the others allow.
    case admin
}

/// A merchant's key, without its secret.
package struct APIKey: Sendable, Hashable {
    /// The part between `wok_` and the secret; no secret itself.
    package let identifier: String
    /// What the key is for, in the operator's words.
    package let name: String
    /// What it may do.
    package let scopes: Set<APIScope>
    /// The types it is bound to; nil: all.
    package let orderTypes: [OrderTypeIdentifier]?
    /// When it was made.
    package let createdAt: WallTime
    /// When it stops working by itself.
    package let expiresAt: WallTime?
    /// When it was revoked.
    package let revokedAt: WallTime?
    /// About when it was last used; a minute coarse.
    package let lastUsedAt: WallTime?

    /// Whether the key may do this with this type. `admin` includes the other scopes.
    package func allows(_ scope: APIScope, _ orderType: OrderTypeIdentifier) -> Bool {
        (scopes.contains(scope) || scopes.contains(.admin)) && (orderTypes?.contains(orderType) ?? true)
    }

    init(_ row: Row) throws {
        self.identifier = try row.text(0)
        self.name = try row.text(1)
        self.scopes = Set(try row.text(2).split(separator: ",").compactMap { APIScope(rawValue: String($0)) })
        self.orderTypes = try row.optionalText(3)?.split(separator: ",").map { text in
            try stored { try OrderTypeIdentifier(String(text)) }
        }
        self.createdAt = Moment(try row.timestamp(4)).wallTime
        self.expiresAt = try row.optionalTimestamp(5).map { Moment($0).wallTime }
        self.revokedAt = try row.optionalTimestamp(6).map { Moment($0).wallTime }
        self.lastUsedAt = try row.optionalTimestamp(7).map { Moment($0).wallTime }
    }
}

/// A key that was checked a moment ago.
struct CachedKey: Sendable {
    let key: APIKey
    let until: MonotonicTime
}

extension OrderStore {
    private static let cacheTime = Duration.seconds(5)
    private static let cacheSize = 1_024
    /// How long a request waits until its key's use is noted.
    private static let touchTime = Duration.milliseconds(250)

    /// Makes a key `wok_<identifier>_<secret>`. The secret has 256 random bits and is shown this once: the database
    /// keeps its SHA-256, since a slow hash adds nothing to a secret of that size.
    package func createAPIKey(
        name: String,
        scopes: Set<APIScope>,
        orderTypes: [OrderTypeIdentifier]?,
        expiresAt: WallTime? = nil
    ) async throws -> (key: APIKey, secret: String) {
        let identifier = Hex.encode(SecureRandom.bytes(8))
        let secret = "wok_\(identifier)_\(Base64URL.encode(SecureRandom.bytes(32)))"
        let values: [PostgresValue] = [
            .text(identifier), .bytes(SHA256.hash(Array(secret.utf8)).bytes), .text(Self.cut(name, 200)),
            .texts(scopes.map(\.rawValue).sorted()),
            orderTypes.map { .texts($0.map(\.text)) } ?? .null,
            expiresAt.map { .timestamp(.seconds($0.seconds)) } ?? .null,
        ]
        do {
            _ = try await write(AccessStatements.addKey, values)
            guard let row = try await client.query(AccessStatements.readKey, [.text(identifier)]).first else {
                throw StoreError(.apiKeyNotFound, "The key was made and is gone again.")
            }
            return (try APIKey(row), secret)
        } catch {
            // It may be there all the same, and nobody would ever have its secret: better none than one that is listed as good.
            do {
                try await OrderStore.answering(within: .seconds(2)) {
                    _ = try await client.query(AccessStatements.revokeKey, [.text(identifier)])
                }
            } catch let left {
                logger.error(
                    "a key may be there whose secret nobody has; revoke it",
                    ["key": .string(identifier), "error": "\(left)"]
                )
            }
            throw error
        }
    }

    /// All keys, revoked ones too.
    package func apiKeys() async throws -> [APIKey] {
        try await client.query(AccessStatements.listKeys).map { try APIKey($0) }
    }

    /// Ends a key. Other processes may take it for up to five seconds more. A key that has ended stays as it is: whoever asks
    /// again, after an answer that was lost, hears that it has.
    ///
    /// - Returns: false when there is no such key.
    package func revokeAPIKey(_ identifier: String) async throws -> Bool {
        let values = [PostgresValue.text(Self.cut(identifier, 64))]
        let isRevoked = try await write(AccessStatements.revokeKey, values).affected > 0
        keyCache.withLock { $0.removeAll() }
        return isRevoked
    }

    /// The key that was presented, if it is one and works now. Unknown, wrong, revoked and expired look alike.
    package func authenticate(apiKey presented: String) async throws -> APIKey? {
        guard let identifier = Self.identifier(of: presented) else { return nil }
        let digest = SHA256.hash(Array(presented.utf8))
        let now = MonotonicTime.now()
        // The cache is found by the digest of the whole key, so a hit is a check of the secret as well.
        if let hit = keyCache.withLock({ $0[digest.hex] }), hit.until > now { return hit.key }
        let row = try await client.query(AccessStatements.readKey, [.text(identifier)]).first
        let expected = try row?.bytes(8) ?? [UInt8](repeating: 0, count: 32)
        let matches = constantTimeEqual(expected, digest.bytes)
        guard let row, matches, try row.bool(9) else { return nil }
        let key = try APIKey(row)
        keyCache.withLock { cache in
            if cache.count >= Self.cacheSize { cache.removeAll() }
            cache[digest.hex] = CachedKey(key: key, until: now + Self.cacheTime)
        }
        if WallTime.now().seconds - (key.lastUsedAt?.seconds ?? 0) >= 60 {
            // A database that takes no changes may still be read: the note is worth a moment of the request, not its answer.
            do {
                try await OrderStore.answering(within: Self.touchTime) {
                    _ = try await client.query(AccessStatements.touchKey, [.text(identifier)])
                }
            } catch {
                logger.warning("a key's use was not noted", ["key": .string(identifier), "error": "\(error)"])
            }
        }
        return key
    }

    private static func identifier(of presented: String) -> String? {
        let bytes = Array(presented.utf8)
        // short: 64 bytes.
        guard bytes.count == 4 + 16 + 1 + 43, presented.hasPrefix("wok_"), bytes[20] == UInt8(ascii: "_") else {
            return nil
        }
        let identifier = String(decoding: bytes[4..<20], as: UTF8.self)
        return Hex.decode(identifier) == nil ? nil : identifier
    }
}
