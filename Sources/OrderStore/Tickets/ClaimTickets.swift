// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import OrderModel
import PostgreSQL
import ServiceRuntime

extension OrderStore {
    /// Types with tickets due. A worker asks once a second; between, ``TicketBell`` names the type.
    package func orderTypesWithDueTickets() async throws -> [OrderTypeIdentifier] {
        let rows = try await client.query(TicketStatements.findDueTypes)
        return try rows.map { row in try stored { try OrderTypeIdentifier(try row.text(0)) } }
    }

    /// Takes due tickets of one type under a lease of 30 seconds.
    ///
    /// - Parameters:
    ///   - room: how many the worker can send now.
    ///   - floor: skips the dead index entries below; see ``TicketClaim/isShort``.
    package func claimTickets(
        _ orderType: OrderTypeIdentifier,
        room: Int,
        floor: Moment?
    ) async throws -> TicketClaim {
        let claim = SecureRandom.uuid()
        let room = min(max(room, 0), 10_000)
        // SKIP LOCKED may still wait behind a row that is updated twice, hence the short limit.
        let rows: Rows
        do {
            rows = try await client.transaction(lockTimeout: .milliseconds(100)) { connection in
                try await connection.query(
                    TicketStatements.claimTickets,
                    [
                        .text(orderType.text), .timestamp(floor?.timestamp ?? .seconds(0)), .int(Int64(room)),
                        .uuid(claim),
                    ]
                )
            }
        } catch let error as PostgresError where error.code == .lockTimeout {
            return TicketClaim(
                orderType: orderType,
                claim: claim,
                tickets: [],
                claimedAt: Moment(seconds: 1),
                isShort: false
            )
        }
        let taken = rows.filter { !$0.isNull(0) }
        var tickets: [PushTicket] = []
        for row in taken {
            do { tickets.append(try PushTicket(row)) } catch {
                // Its neighbours go out; it would come back every 30 seconds.
                logger.error(
                    "a push ticket can't be read and is given up",
                    ["orderType": .string(orderType.text), "reason": .string("\(error)")]
                )
                _ = try await write(
                    TicketStatements.setAside,
                    [.text(orderType.text), .uuid(claim), .text(try row.text(0))]
                )
            }
        }
        return TicketClaim(
            orderType: orderType,
            claim: claim,
            tickets: tickets,
            claimedAt: try rows.first.map { Moment(try $0.timestamp(9)) } ?? Moment(seconds: 1),
            isShort: taken.count < room
        )
    }

    /// Hands back what was claimed and not sent, at once; the try does not count.
    package func release(_ claim: TicketClaim) async throws {
        if claim.tickets.isEmpty { return }
        _ = try await write(
            TicketStatements.releaseTickets,
            [.text(claim.orderType.text), .uuid(claim.claim), .texts(claim.tickets.map(\.device.text))]
        )
        bell.ring(claim.orderType)
    }
}
