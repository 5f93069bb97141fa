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

    /// How many orders of a roll-out get their revision in one go: short enough to end between two looks at the shutdown,
    /// and for the others' turn.
    private static let batch = 50

    /// Where each work stands.
    private struct Places {
        /// Orders that a roll-out under way has reached so far.
        var rolledOut: [OrderTypeIdentifier: Int] = [:]
        /// A type whose roll-out fails waits alone; the others', and all else, go on.
        var waiting: [OrderTypeIdentifier: MonotonicTime] = [:]
        var nextRemoval = MonotonicTime.now() + .seconds(60)
        var nextSweep = MonotonicTime.now() + .seconds(600)
        var sweep: FileSweepPlace?
        /// Types whose logs are still to be looked at, and how far the first of them is.
        var folds: ArraySlice<OrderTypeSettings> = []
        var fold: OrderIdentifier?
    }

    /// In turns: one batch of each work that has something to do, so that none waits for another's end, be it a million
    /// orders away.
    func run(shutdown: Signal) async throws {
        var places = Places()
        var hasMore = false
        while !shutdown.isFired {
            if !hasMore {
                do { try await withDeadline(.seconds(1)) { try await shutdown.wait() } } catch is DeadlineExceeded {}
            }
            hasMore = false
            for type in self.types.all where !shutdown.isFired {
                if await self.rollOut(type, &places, until: shutdown) { hasMore = true }
            }
            if !shutdown.isFired, await self.remove(&places, until: shutdown) { hasMore = true }
            if !shutdown.isFired, await self.sweep(&places, until: shutdown) { hasMore = true }
            if !shutdown.isFired, await self.fold(&places, until: shutdown) { hasMore = true }
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
    ///
    /// - Returns: whether there is more to do.
    private func rollOut(_ type: OrderTypeSettings, _ places: inout Places, until shutdown: Signal) async -> Bool {
        let name = type.identifier
        if let until = places.waiting[name], MonotonicTime.now() < until { return false }
        var done: Int?
        let isDone = await self.attempt("roll-out", of: type, until: shutdown) {
            done = try await self.store.refreshBatch(of: name, size: Self.batch, Self.options(type))
        }
        places.waiting[name] = isDone ? nil : MonotonicTime.now() + .seconds(60)
        if let done {
            places.rolledOut[name, default: 0] += done
            return true
        }
        if isDone, let count = places.rolledOut.removeValue(forKey: name), count > 0 {
            self.logger.notice(
                "files and texts were rolled out",
                ["orderType": .string(name.text), "orders": .integer(count)]
            )
        }
        return false
    }

    /// Takes away what has had its time.
    private func remove(_ places: inout Places, until shutdown: Signal) async -> Bool {
        guard MonotonicTime.now() >= places.nextRemoval else { return false }
        var removed = 0
        _ = await self.attempt("removal of what is over", until: shutdown) {
            removed = try await self.store.removeExpired(batch: 1_000)
        }
        if removed > 0 { return true }
        places.nextRemoval = MonotonicTime.now() + .seconds(60)
        return false
    }

    /// Takes away contents that nothing uses, and has the logs looked at afterwards.
    private func sweep(_ places: inout Places, until shutdown: Signal) async -> Bool {
        guard MonotonicTime.now() >= places.nextSweep else { return false }
        var next: FileSweepPlace?
        let place = places.sweep
        _ = await self.attempt("sweep of unused files", until: shutdown) {
            next = try await self.store.sweepFiles(after: place).next
        }
        places.sweep = next
        if next != nil { return true }
        places.nextSweep = MonotonicTime.now() + .seconds(3_600)
        places.folds = self.types.all[...]
        places.fold = nil
        return false
    }

    /// Shortens logs that have grown long.
    private func fold(_ places: inout Places, until shutdown: Signal) async -> Bool {
        guard let type = places.folds.first else { return false }
        var next: OrderIdentifier?
        let place = places.fold
        _ = await self.attempt("folding of long logs", of: type, until: shutdown) {
            next = try await self.store.foldLongLogs(of: type.identifier, after: place, Self.options(type))
        }
        places.fold = next
        if next == nil { places.folds.removeFirst() }
        return !places.folds.isEmpty
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
