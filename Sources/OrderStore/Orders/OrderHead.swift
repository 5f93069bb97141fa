// SPDX-License-Identifier: Apache-2.0

package import Cryptography
import OrderModel
import PostgreSQL
package import ServiceRuntime

/// The narrow row of an order: enough for conditional requests, tokens and lists, without the document.
package struct OrderHead: Sendable {
    /// Type and identifier.
    package let key: OrderKey
    /// Rises by one with each change.
    package let revision: Int64
    /// `updatedAt` and `Last-Modified`: whole seconds, at least one more than the revision before.
    package let modifiedAt: WallTime
    /// The clock at the revision, never moved up: the package's signing time.
    package let madeAt: WallTime
    /// Over the document, the digests of its files and ``modifiedAt``: other content never has the same one.
    package let digest: SHA256Digest
    /// The order's status word.
    package let status: String
    /// The status words of its fulfillments, each once, sorted.
    package let fulfillmentStatuses: [String]
    /// The number that the customer knows.
    package let orderNumber: String?
    /// When the merchant took the order.
    package let createdAt: WallTime
    /// Whether only the tombstone is left.
    package let isErased: Bool
    /// What the order's authentication token is derived from.
    package let token: TokenStamp

    /// The strong validator at the merchant's door (RFC 9110 8.8.3), quotes included.
    package var entityTag: String { Self.entityTag(digest) }

    static func entityTag(_ digest: SHA256Digest) -> String { "\"\(digest.hex)\"" }

    /// Reads the twelve columns that every statement with heads begins with.
    init(_ row: Row, orderType: OrderTypeIdentifier) throws {
        self.key = OrderKey(orderType, try stored { try OrderIdentifier(try row.text(0)) })
        self.revision = try row.int(1)
        self.modifiedAt = Moment(try row.timestamp(2)).wallTime
        self.madeAt = Moment(try row.timestamp(3)).wallTime
        self.digest = try SHA256Digest(stored: row.bytes(4))
        self.status = try row.text(5)
        self.fulfillmentStatuses = try row.text(6).split(separator: ",").map(String.init)
        self.orderNumber = try row.optionalText(7)
        self.createdAt = Moment(try row.timestamp(8)).wallTime
        self.token = TokenStamp(kid: Int(try row.int(9)), nonce: try row.bytes(10))
        self.isErased = try row.bool(11)
    }
}
