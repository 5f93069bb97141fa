// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import PostgreSQL

/// An order as read under its head's lock: what changes start from.
struct LockedOrder: Sendable {
    let key: OrderKey
    let revision: Int64
    let modifiedAt: Moment
    let mark: Int64
    let digest: SHA256Digest
    let partsDigest: SHA256Digest
    let partsVersion: Int64
    let isErased: Bool
    /// The time of the next revision: the clock, but at least a second later than this one.
    let nextAt: Moment
    /// The database's clock.
    let now: Moment
    /// Set once the document was read; a tombstone has none.
    var text: StoredText?
    /// Entries of the log that this request names.
    var known: [EventIdentifier: KnownEntry] = [:]

    /// The document's row.
    struct StoredText: Sendable {
        let document: String
        let base: String
        let baseUntil: Moment?
        let foldedTo: String
        let state: String
        let stampedAt: Moment?
    }

    /// An entry that was answered before.
    struct KnownEntry: Sendable {
        let fingerprint: [UInt8]
        let verdict: String
        let changed: [String]
        let complaints: [JSONValue]
        let revision: Int64
        let modifiedAt: Moment
    }

    private init(_ row: Row, _ orderType: OrderTypeIdentifier) throws {
        self.key = OrderKey(orderType, try stored { try OrderIdentifier(try row.text(0)) })
        self.revision = try row.int(1)
        self.modifiedAt = Moment(try row.timestamp(2))
        self.mark = try row.int(3)
        self.digest = try SHA256Digest(stored: row.bytes(4))
        self.partsDigest = try SHA256Digest(stored: row.bytes(5))
        self.partsVersion = try row.int(6)
        self.isErased = try row.bool(7)
        self.nextAt = Moment(try row.timestamp(8))
        self.now = Moment(try row.timestamp(9))
    }

    /// Reads a chunk of orders, heads first. With `locking`, the heads are locked in their order, and what follows is
    /// read by later statements, so that it is what the locks protect.
    static func read(
        _ works: [OrderWork],
        of orderType: OrderTypeIdentifier,
        locking: Bool,
        on connection: PostgresConnection
    ) async throws -> (orders: [OrderIdentifier: LockedOrder], partsVersion: Int64) {
        let type = PostgresValue.text(orderType.text)
        let identifiers = PostgresValue.texts(works.map(\.key.order.text))
        let named = works.flatMap { work in work.edits.map { (work.key.order.text, $0.identifier.text) } }
        let rows = try await connection.pipeline([
            (locking ? OrderStatements.lockOrders : OrderStatements.peekOrders, [type, identifiers]),
            (OrderStatements.readDocuments, [type, identifiers]),
            (OrderStatements.readKnownEvents, [type, .texts(named.map(\.0)), .texts(named.map(\.1))]),
            (FileStatements.readPartsVersion, [type]),
        ])
        var orders: [OrderIdentifier: LockedOrder] = [:]
        for row in rows[0] {
            let order = try LockedOrder(row, orderType)
            orders[order.key.order] = order
        }
        for row in rows[1] {
            let order = try stored { try OrderIdentifier(try row.text(0)) }
            orders[order]?.text = StoredText(
                document: try row.text(1),
                base: try row.text(2),
                baseUntil: try row.optionalTimestamp(3).map { Moment($0) },
                foldedTo: try row.text(4),
                state: try row.text(5),
                stampedAt: try row.optionalTimestamp(6).map { Moment($0) }
            )
        }
        for row in rows[2] {
            let order = try stored { try OrderIdentifier(try row.text(0)) }
            let event = try stored { try EventIdentifier(try row.text(1)) }
            let told = try Self.told(try row.text(4))
            orders[order]?.known[event] = KnownEntry(
                fingerprint: try row.bytes(2),
                verdict: try row.text(3),
                changed: told.pointers,
                complaints: told.complaints,
                revision: try row.int(5),
                modifiedAt: Moment(try row.timestamp(6))
            )
        }
        return (orders, try rows[3].first?.int(0) ?? 1)
    }

    /// A list as the database keeps it: pointers, which are texts, and findings, which are objects.
    static func told(_ text: String) throws -> (pointers: [String], complaints: [JSONValue]) {
        let list = try stored { try JSONValue(parsing: Array(text.utf8)).arrayValue ?? [] }
        return (list.compactMap(\.stringValue), list.filter { $0.objectValue != nil })
    }

    static func text(of pointers: [String]) -> String {
        String(decoding: JSONValue.array(pointers.map { .string($0) }).serialized(), as: UTF8.self)
    }
}
