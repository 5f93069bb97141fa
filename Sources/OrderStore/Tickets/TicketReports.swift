// SPDX-License-Identifier: Apache-2.0

package import OrderModel
import PostgreSQL

/// A push that was given up.
package struct DeadTicket: Sendable {
    /// The type.
    package let orderType: OrderTypeIdentifier
    /// The device; keep it out of logs.
    package let device: DeviceIdentifier
    /// APNs' reason.
    package let reason: String?
    /// The last push that was taken.
    package let pushedAt: Moment?
}

/// How many tickets a type has.
package struct TicketCount: Sendable, Hashable {
    /// The type.
    package let orderType: OrderTypeIdentifier
    /// Due now or later, not claimed.
    package let due: Int64
    /// Claimed by a worker.
    package let inFlight: Int64
    /// Given up.
    package let dead: Int64
}

extension OrderStore {
    /// Pushes that were given up, of one type or all, at most 1,000.
    package func deadTickets(_ orderType: OrderTypeIdentifier?, limit: Int) async throws -> [DeadTicket] {
        let rows = try await client.query(
            TicketStatements.listDead,
            [orderType.map { .text($0.text) } ?? .null, .int(Int64(min(max(limit, 0), 1_000)))]
        )
        return try rows.map { row in
            DeadTicket(
                orderType: try stored { try OrderTypeIdentifier(try row.text(0)) },
                device: try stored { try DeviceIdentifier(try row.text(1)) },
                reason: try row.optionalText(3),
                pushedAt: try row.optionalTimestamp(4).map { Moment($0) }
            )
        }
    }

    // short: APNs' reasons, letters of ASCII, 64 at most.
    /// How many pushes were given up and not redriven yet, by type and APNs' reason; an empty one stands for none.
    package func givenUpTickets() async throws -> [OrderTypeIdentifier: [String: Int]] {
        // short: APNs' reasons, letters of ASCII, 64 at most.
        var counts: [OrderTypeIdentifier: [String: Int]] = [:]
        for row in try await client.query(TicketStatements.countDead) {
            let orderType = try stored { try OrderTypeIdentifier(try row.text(0)) }
            counts[orderType, default: [:]][try row.text(1)] = Int(try row.int(2))
        }
        return counts
    }

    /// Makes given-up pushes due again: one device's, or up to 1,000 of a type. Call until it returns 0.
    package func redrive(_ orderType: OrderTypeIdentifier, device: DeviceIdentifier?) async throws -> Int {
        let rows = try await write(
            TicketStatements.redrive,
            [.text(orderType.text), device.map { .text($0.text) } ?? .null]
        )
        if rows.affected > 0 { bell.ring(orderType) }
        return rows.affected
    }

    /// Makes every device of an order due now.
    package func push(_ key: OrderKey) async throws -> Int {
        let rows = try await write(
            TicketStatements.pushOrder,
            [.text(key.orderType.text), .text(key.order.text)]
        )
        if rows.affected > 0 { bell.ring(key.orderType) }
        return rows.affected
    }

    /// For how long the oldest due ticket has waited; nil when none is due.
    package func oldestDueTicket() async throws -> Duration? {
        let rows = try await client.query(TicketStatements.findOldestDue)
        guard let microseconds = try rows.first?.optionalInt(0) else { return nil }
        return .microseconds(max(microseconds, 0))
    }

    /// How many tickets each type has. Counts rows: for a metric every few seconds.
    package func ticketCounts() async throws -> [TicketCount] {
        let rows = try await client.query(TicketStatements.countTickets)
        return try rows.map { row in
            TicketCount(
                orderType: try stored { try OrderTypeIdentifier(try row.text(0)) },
                due: try row.int(1),
                inFlight: try row.int(2),
                dead: try row.int(3)
            )
        }
    }
}
