// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel
import PostgreSQL
package import ServiceRuntime

/// Which orders to list.
package struct OrderQuery: Sendable {
    /// The type.
    package var orderType: OrderTypeIdentifier
    /// Orders with this status.
    package var status: String?
    /// Orders with a fulfillment of this status.
    package var fulfillmentStatus: String?
    /// Orders whose newest revision is not older; oldest first then, otherwise by identifier.
    package var updatedSince: WallTime?
    /// Orders with this number.
    package var orderNumber: String?
    /// Orders that some device follows, or none.
    package var registered: Bool?
    /// How many at most, 1 to 1,000.
    package var limit: Int
    /// Where the page before ended.
    package var cursor: String?

    /// Describes a list.
    package init(
        orderType: OrderTypeIdentifier,
        status: String? = nil,
        fulfillmentStatus: String? = nil,
        updatedSince: WallTime? = nil,
        orderNumber: String? = nil,
        registered: Bool? = nil,
        limit: Int = 100,
        cursor: String? = nil
    ) {
        self.orderType = orderType
        self.status = status
        self.fulfillmentStatus = fulfillmentStatus
        self.updatedSince = updatedSince
        self.orderNumber = orderNumber
        self.registered = registered
        self.limit = limit
        self.cursor = cursor
    }

    /// Whether not every order passes; without a filter, a page has to pass over a few erased ones at most.
    var hasFilter: Bool { status != nil || fulfillmentStatus != nil || registered != nil }
}

/// A page of heads.
package struct OrderPage: Sendable {
    /// The orders.
    package let heads: [OrderHead]
    /// Where to go on; nil at the end. A page may be short, or empty, and still have one: a page looks at no more than
    /// 5,000 orders.
    package let cursor: String?
}

extension OrderStore {
    /// Lists orders, without erased ones.
    ///
    /// - Throws: ``StoreError`` with `badCursor`.
    package func orders(_ query: OrderQuery) async throws -> OrderPage {
        let limit = min(max(query.limit, 1), 1_000)
        let byTime = query.orderNumber == nil ? query.updatedSince : nil
        let cursor = try query.cursor.map { try PageCursor($0, since: byTime) }
        if let number = query.orderNumber { return try await page(query, number: number, cursor, limit) }
        if let since = query.updatedSince { return try await page(query, since: since, cursor, limit) }
        let rows = try await client.query(
            ListStatements.pageByKey,
            [
                .text(query.orderType.text), .text(cursor?.order ?? ""), query.status.map { .text($0) } ?? .null,
                query.fulfillmentStatus.map { .text($0) } ?? .null, query.registered.map { .bool($0) } ?? .null,
                .int(Int64(limit)), .int(query.hasFilter ? 5_000 : min(Int64(limit) + 100, 5_000)),
            ]
        )
        let heads = try rows.filter { try $0.bool(12) }.map { try OrderHead($0, orderType: query.orderType) }
        guard let last = rows.last, try last.bool(13) else { return OrderPage(heads: heads, cursor: nil) }
        return OrderPage(heads: heads, cursor: PageCursor(moment: 0, order: try last.text(0)).text)
    }

    private func page(
        _ query: OrderQuery,
        number: String,
        _ cursor: PageCursor?,
        _ limit: Int
    ) async throws -> OrderPage {
        let rows = try await client.query(
            ListStatements.findByNumber,
            [
                .text(query.orderType.text), .text(Self.cut(number, 255)), .text(cursor?.order ?? ""),
                query.status.map { .text($0) } ?? .null, query.fulfillmentStatus.map { .text($0) } ?? .null,
                query.registered.map { .bool($0) } ?? .null, .int(Int64(limit)),
            ]
        )
        var heads = try rows.map { try OrderHead($0, orderType: query.orderType) }
        let last = heads.count == limit ? heads.last : nil
        if let since = query.updatedSince { heads.removeAll { $0.modifiedAt < since } }
        return OrderPage(heads: heads, cursor: last.map { PageCursor(moment: 0, order: $0.key.order.text).text })
    }

    private func page(
        _ query: OrderQuery,
        since: WallTime,
        _ cursor: PageCursor?,
        _ limit: Int
    ) async throws -> OrderPage {
        let start = cursor.map { Timestamp(microseconds: $0.moment) } ?? .seconds(since.seconds)
        let rows = try await client.query(
            ListStatements.pageByTime,
            [
                .text(query.orderType.text), .timestamp(start), .text(cursor?.order ?? ""),
                query.status.map { .text($0) } ?? .null, query.fulfillmentStatus.map { .text($0) } ?? .null,
                query.registered.map { .bool($0) } ?? .null, .int(Int64(limit)),
            ]
        )
        let heads = try rows.filter { try $0.bool(12) }.map { try OrderHead($0, orderType: query.orderType) }
        // A row that passed no filter is where a full window ended.
        let isMore = try heads.count == limit || rows.contains { try !$0.bool(12) }
        guard isMore, let last = rows.last else { return OrderPage(heads: heads, cursor: nil) }
        let next = PageCursor(moment: try last.timestamp(13).microseconds, order: try last.text(0))
        return OrderPage(heads: heads, cursor: next.text)
    }
}

/// A place in a list, opaque to callers.
private struct PageCursor {
    let moment: Int64
    let order: String

    init(moment: Int64, order: String) {
        self.moment = moment
        self.order = order
    }

    /// The last second that a time of ours can be in: the end of the year 9999.
    private static let latest: Int64 = 253_402_300_799 * 1_000_000

    /// - Parameter since: set for a list by time, whose cursors lie within it; those of the others have no time. A cursor
    ///   of one kind of list would show too much of another, or too little.
    init(_ text: String, since: WallTime?) throws(StoreError) {
        guard text.utf8.count <= 600, let bytes = Base64URL.decode(text), let space = bytes.firstIndex(of: 0x20),
            let moment = Int64(String(decoding: bytes[..<space], as: UTF8.self)),
            moment <= Self.latest, since.map({ moment >= $0.seconds * 1_000_000 }) ?? (moment == 0),
            let order = try? OrderIdentifier(String(decoding: bytes[(space + 1)...], as: UTF8.self))
        else { throw StoreError(.badCursor, "The cursor is not one of this service; start without one.") }
        self.moment = moment
        self.order = order.text
    }

    var text: String { Base64URL.encode(Array("\(moment) \(order)".utf8)) }
}
