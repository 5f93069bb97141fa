// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OrderModel
import PostgreSQL
import ServiceRuntime

extension OrderStore {
    /// One transaction's worth of orders. 50 orders a transaction give four times the events a second of one; more adds
    /// little and holds locks for longer.
    private static let chunkSize = 50

    /// Makes changes of any orders: type by type, in chunks, each with all its heads locked first, then all its
    /// devices. A chunk that fails is repeated order by order, so that one order's trouble stays its own.
    func run(_ works: [OrderWork], _ options: ChangeOptions) async -> [Int: Result<ChangeOutcome, any Error>] {
        var outcomes: [Int: Result<ChangeOutcome, any Error>] = [:]
        let sorted = works.sorted { $0.key < $1.key }
        var start = sorted.startIndex
        while start < sorted.endIndex {
            let orderType = sorted[start].key.orderType
            var end = start
            while end < sorted.endIndex, sorted[end].key.orderType == orderType, end - start < Self.chunkSize {
                end += 1
            }
            let chunk = Array(sorted[start..<end])
            do {
                outcomes.merge(try await runChunk(chunk, of: orderType, options)) { _, new in new }
            } catch {
                // Each further order, and each further chunk, would wait as long for a database that is away.
                var hopeless = Self.endsAll(error) ? error : nil
                for work in chunk {
                    do {
                        if chunk.count == 1 || hopeless != nil { throw hopeless ?? error }
                        outcomes.merge(try await runChunk([work], of: orderType, options)) { _, new in new }
                    } catch {
                        for edit in work.edits { outcomes[edit.index] = .failure(error) }
                        if Self.endsAll(error) { hopeless = error }
                    }
                }
                if let hopeless {
                    for work in sorted[end...] { for edit in work.edits { outcomes[edit.index] = .failure(hopeless) } }
                    break
                }
            }
            start = end
        }
        return outcomes
    }

    /// Whether an error is the database's or the caller's end, and not one chunk's trouble.
    static func endsAll(_ error: any Error) -> Bool {
        if Task.isCancelled || RequestTime.isOver { return true }
        return switch (error as? PostgresError)?.code {
        case .connection, .refused, .noDatabase, .shuttingDown, .exhausted: true
        // The standby is away, or there are no connections: each further try waits as long as these did.
        case .unknownCommit, .busy: true
        default: false
        }
    }

    private func runChunk(
        _ works: [OrderWork],
        of orderType: OrderTypeIdentifier,
        _ options: ChangeOptions
    ) async throws -> [Int: Result<ChangeOutcome, any Error>] {
        if options.validateOnly {
            return try await repeating {
                try await self.client.withConnection { connection in
                    var run = ChangeRun(orderType: orderType, options: options, connection: connection)
                    return try await run.outcomes(works)
                }
            }
        }
        // Of many orders, few are waited for; a chunk that meets one that is busy is repeated order by order.
        if works.count > 1 { return try await changeChunk(works, of: orderType, options) }
        return try await inTurn(works[0].key) { try await self.changeChunk(works, of: orderType, options) }
    }

    private func changeChunk(
        _ works: [OrderWork],
        of orderType: OrderTypeIdentifier,
        _ options: ChangeOptions
    ) async throws -> [Int: Result<ChangeOutcome, any Error>] {
        let attempts = Locked<[OrderKey: ChangeRun.Attempt]>([:])
        let missed = Locked<Set<SHA256Digest>>([])
        let (outcomes, devices) = try await transaction { connection in
            var run = ChangeRun(
                orderType: orderType,
                options: options,
                connection: connection,
                attempts: attempts,
                missed: missed
            )
            let outcomes = try await run.outcomes(works)
            return (outcomes, run.devices)
        }
        if devices > 0 { bell.ring(orderType) }
        return outcomes
    }
}
