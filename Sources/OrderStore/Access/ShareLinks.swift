// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import PostgreSQL
package import ServiceRuntime

/// A link to one order's package for somebody without Apple Pay.
package struct ShareLink: Sendable {
    /// Names the link to its merchant; no secret.
    package let identifier: String
    /// The unguessable part of the URL, 256 bits; only its digest is stored.
    package let token: String
    /// When it stops working.
    package let expiresAt: WallTime
}

extension OrderStore {
    /// Makes a link.
    ///
    /// - Parameter lifetime: a minute to 30 days.
    /// - Throws: ``StoreError`` with `orderNotFound`.
    package func createShareLink(for key: OrderKey, lifetime: Duration) async throws -> ShareLink {
        let identifier = SecureRandom.uuid()
        let token = try tokens.shareToken(for: key, link: identifier, kid: tokens.newest)
        let seconds = min(max(lifetime.components.seconds, 60), 30 * 86_400)
        let rows = try await client.query(
            AccessStatements.addShareLink,
            [
                .bytes(SHA256.hash(Array(token.utf8)).bytes), .text(identifier), .text(key.orderType.text),
                .text(key.order.text), .int(seconds * 1_000_000), .int(Int64(tokens.newest)),
            ]
        )
        guard let row = rows.first else { throw StoreError.notFound(key) }
        return ShareLink(identifier: identifier, token: token, expiresAt: Moment(try row.timestamp(0)).wallTime)
    }

    /// A link that works, with its token derived again: for a repeated request, whose kept answer has no token in it.
    ///
    /// - Returns: nil when the order has no such link, or it was revoked or is over.
    package func shareLink(_ identifier: String, of key: OrderKey) async throws -> ShareLink? {
        let rows = try await client.query(
            AccessStatements.findShareLink,
            [.text(key.orderType.text), .text(key.order.text), .text(Self.cut(identifier, 64))]
        )
        guard let row = rows.first else { return nil }
        return ShareLink(
            identifier: identifier,
            token: try tokens.shareToken(for: key, link: identifier, kid: Int(try row.int(0))),
            expiresAt: Moment(try row.timestamp(1)).wallTime
        )
    }

    /// Ends a link.
    ///
    /// - Returns: false when the order has no such link or it was revoked before.
    package func revokeShareLink(_ identifier: String, of key: OrderKey) async throws -> Bool {
        try await changes(
            AccessStatements.revokeShareLink,
            [.text(key.orderType.text), .text(key.order.text), .text(Self.cut(identifier, 64))]
        )
    }

    /// The order that a link leads to; nil for unknown, revoked and expired ones alike.
    package func shareLink(token: String) async throws -> OrderKey? {
        let digest = SHA256.hash(Array(token.utf8)).bytes
        guard let row = try await client.query(AccessStatements.readShareLink, [.bytes(digest)]).first else {
            return nil
        }
        return OrderKey(
            try stored { try OrderTypeIdentifier(try row.text(0)) },
            try stored { try OrderIdentifier(try row.text(1)) }
        )
    }
}
