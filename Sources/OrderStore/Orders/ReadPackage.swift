// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import ExactJSON
package import OrderModel
import PostgreSQL

/// Everything that a package is built from, but for the contents of its files.
package struct PackageSource: Sendable {
    /// Revision, dates and identity.
    package let head: OrderHead
    /// The document.
    package let document: OrderDocument
    /// The pinned files, by name.
    package let parts: [OrderPart]
}

/// An order as its merchant reads it.
package struct StoredOrder: Sendable {
    /// Revision, dates and identity.
    package let head: OrderHead
    /// The document as stored; `updatedAt` is the head's.
    package let document: JSONValue
}

extension OrderStore {
    /// The head of an order, which answers a conditional request by itself. Nil when unknown; a tombstone is
    /// ``OrderHead/isErased``.
    package func head(_ key: OrderKey) async throws -> OrderHead? {
        let rows = try await client.query(
            OrderStatements.readHead,
            [.text(key.orderType.text), .text(key.order.text)]
        )
        return try rows.first.map { try OrderHead($0, orderType: key.orderType) }
    }

    /// Head, document and files of the newest revision under one snapshot. Nil when unknown or erased.
    package func package(_ key: OrderKey) async throws -> PackageSource? {
        let rows = try await client.query(
            OrderStatements.readPackage,
            [.text(key.orderType.text), .text(key.order.text)]
        )
        guard let row = rows.first else { return nil }
        let head = try OrderHead(row, orderType: key.orderType)
        let document = try stored { try OrderDocument.trusted(bytes: try row.bytes(12)) }
        let parts = try (try row.optionalText(13) ?? "").split(separator: "\n").map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 3, let digest = Hex.decode(String(fields[1])),
                let origin = OrderPart.Origin(rawValue: String(fields[2]))
            else { throw StoreError(.corrupt, "A pinned file can't be read back.", order: key) }
            return OrderPart(name: String(fields[0]), digest: try SHA256Digest(stored: digest), origin: origin)
        }
        return PackageSource(head: head, document: document, parts: parts)
    }

    /// An order for its merchant. Nil when unknown or erased.
    package func order(_ key: OrderKey) async throws -> StoredOrder? {
        try await package(key).map { StoredOrder(head: $0.head, document: $0.document.json) }
    }

    /// The head of the order that a device may read with this token. Nil for an unknown order, an erased one and a
    /// wrong token alike, after the same work.
    package func authorize(_ key: OrderKey, token: String) async throws -> OrderHead? {
        let head = try await head(key)
        let matches = tokens.matches(token, key: key, stamp: head?.token)
        return matches && head?.isErased == false ? head : nil
    }

    /// The order's authentication token, for the hand-off and the package.
    ///
    /// - Throws: ``StoreError`` with `unknownTokenKey`.
    package func authenticationToken(for head: OrderHead) throws(StoreError) -> String {
        try tokens.token(for: head.key, stamp: head.token)
    }
}
