// SPDX-License-Identifier: Apache-2.0
import OrderModel
import OrderStore
import ServiceRuntime

/// The work that no request waits for: rolls changed files and texts of order types out to their open orders, takes away what
/// has had its time, shortens long logs. Any number of processes may do it at once: each stretch is one's alone.
struct Upkeep: Service {
    let name = "upkeep"
    let store: OrderStore
    let types: OrderTypeDirectory
    let logger: Logger

    /// How many orders of a roll-out get their revision in one go: short enough to end between two looks at the shutdown.
    private static let batch = 50

    func run(shutdown: Signal) async throws {
        var nextRemoval = MonotonicTime.now() + .seconds(60)
        var nextSweep = MonotonicTime.now() + .seconds(600)
        // A type whose roll-out fails waits alone; the others', and all removals, go on.
        var waiting: [OrderTypeIdentifier: MonotonicTime] = [:]
        while !shutdown.isFired {
            do { try await withDeadline(.seconds(1)) { try await shutdown.wait() } } catch is DeadlineExceeded {}
            for type in self.types.all where !shutdown.isFired {
                if let until = waiting[type.identifier], MonotonicTime.now() < until { continue }
                let isDone = await self.attempt("roll-out", of: type, until: shutdown) {
                    try await self.refresh(type, until: shutdown)
                }
                waiting[type.identifier] = isDone ? nil : MonotonicTime.now() + .seconds(60)
            }
            if shutdown.isFired { return }
            if MonotonicTime.now() >= nextRemoval {
                nextRemoval = MonotonicTime.now() + .seconds(60)
                _ = await self.attempt("removal of what is over", until: shutdown) {
                    while try await self.store.removeExpired(batch: 1_000) > 0, !shutdown.isFired {}
                }
            }
            if MonotonicTime.now() >= nextSweep {
                nextSweep = MonotonicTime.now() + .seconds(3_600)
                _ = await self.attempt("sweep of unused files", until: shutdown) {
                    try await self.sweepFiles(until: shutdown)
                }
                for type in self.types.all where !shutdown.isFired {
                    _ = await self.attempt("folding of long logs", of: type, until: shutdown) {
                        try await self.foldLogs(of: type, until: shutdown)
                    }
                }
            }
        }
    }

    /// Does one piece of work; its failure is told, and is nobody else's.
    ///
    /// - Returns: whether it was done.
    private func attempt(
        _ work: String,
        of type: OrderTypeSettings? = nil,
        until shutdown: Signal,
        _ body: () async throws -> Void
    ) async -> Bool {
        do { try await body() } catch {
            if shutdown.isFired { return false }
            var values: [String: LogValue] = ["work": .string(work), "error": "\(error)"]
            if let type { values["orderType"] = .string(type.identifier.text) }
            self.logger.warning("upkeep failed and is tried again later", values)
            return false
        }
        return true
    }

    /// Goes on with a roll-out that was asked for, if there is one.
    private func refresh(_ type: OrderTypeSettings, until shutdown: Signal) async throws {
        let options = Self.options(type)
        var count = 0
        while !shutdown.isFired {
            guard let done = try await self.store.refreshBatch(of: type.identifier, size: Self.batch, options) else {
                break
            }
            count += done
        }
        if count > 0 {
            self.logger.notice(
                "files and texts were rolled out",
                ["orderType": .string(type.identifier.text), "orders": .integer(count)]
            )
        }
    }

    /// Takes away contents that nothing uses.
    private func sweepFiles(until shutdown: Signal) async throws {
        var place: FileSweepPlace?
        repeat { place = try await self.store.sweepFiles(after: place).next } while place != nil && !shutdown.isFired
    }

    /// Shortens logs that have grown long.
    private func foldLogs(of type: OrderTypeSettings, until shutdown: Signal) async throws {
        var cursor: OrderIdentifier?
        repeat {
            cursor = try await self.store.foldLongLogs(of: type.identifier, after: cursor, Self.options(type))
        } while cursor != nil && !shutdown.isFired
    }

    private static func options(_ type: OrderTypeSettings) -> ChangeOptions {
        ChangeOptions(
            completeWhenFulfilled: type.completeWhenFulfilled,
            validation: ValidationOptions(
                unknownMembers: type.keepsUnknownFields ? .accept : .refuse,
                isServiceFilled: true
            )
        )
    }
}
