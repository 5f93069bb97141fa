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
        var pause = Duration.seconds(1)
        while !shutdown.isFired {
            do { try await withDeadline(pause) { try await shutdown.wait() } } catch is DeadlineExceeded {}
            if shutdown.isFired { return }
            do {
                for type in self.types.all { try await self.refresh(type, until: shutdown) }
                if MonotonicTime.now() >= nextRemoval {
                    nextRemoval = MonotonicTime.now() + .seconds(60)
                    while try await self.store.removeExpired(batch: 1_000) > 0, !shutdown.isFired {}
                }
                if MonotonicTime.now() >= nextSweep {
                    nextSweep = MonotonicTime.now() + .seconds(3_600)
                    try await self.sweep(until: shutdown)
                }
                pause = .seconds(1)
            } catch {
                if shutdown.isFired { return }
                self.logger.warning("upkeep waits a minute", ["error": "\(error)"])
                pause = .seconds(60)
            }
        }
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

    /// Contents that nothing uses, and logs that have grown long.
    private func sweep(until shutdown: Signal) async throws {
        var place: FileSweepPlace?
        repeat { place = try await self.store.sweepFiles(after: place).next } while place != nil && !shutdown.isFired
        for type in self.types.all {
            var cursor: OrderIdentifier?
            repeat {
                cursor = try await self.store.foldLongLogs(of: type.identifier, after: cursor, Self.options(type))
            } while cursor != nil && !shutdown.isFired
        }
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
