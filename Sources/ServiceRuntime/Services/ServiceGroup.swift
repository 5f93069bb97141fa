// SPDX-License-Identifier: Apache-2.0

/// Runs services together, and ends them in the reverse order of their start.
///
/// A later service may use an earlier one until it has drained: the listeners go before the pool, the pool before the
/// database cluster. Each is told, given its time, and cancelled when that is over. The time is one for all: services that
/// don't need each other drain together, and whoever is slow leaves less to the others, but always something.
package final class ServiceGroup: Sendable {
    /// One service and the events of its life.
    private struct Member: Sendable {
        let service: any Service
        let shutdown = Signal()
        let cancel = Signal()
        let ended = Signal()
    }

    private let members: [Member]
    private let drain: Duration
    private let logger: Logger
    private let firstError = Locked<(any Error)?>(nil)
    /// Fired by `stop`, and by a service that ends by itself.
    private let ending = Signal()

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - services: in the order of their start.
    ///   - drain: how long all services together may take to end after they were told.
    package init(_ services: [any Service], drain: Duration = .seconds(10), logger: Logger) {
        self.members = services.map { Member(service: $0) }
        self.drain = drain
        self.logger = logger
    }

    /// Asks the group to end; `run` returns when all services have.
    package func stop() {
        self.ending.fire()
    }

    /// Runs all services until `stop`, or until one ends by itself.
    ///
    /// - Throws: the error of the service that failed first.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            for member in self.members {
                group.addTask { await self.run(member) }
            }
            do { try await self.ending.wait() } catch { self.ending.fire() }
            let end = MonotonicTime.now() + self.drain
            for stage in self.stages { await self.end(stage, by: end) }
        }
        if let error = self.firstError.withLock({ $0 }) { throw error }
    }

    /// The members in the order of their end, with those together that end at the same time.
    private var stages: [[Member]] {
        var stages: [[Member]] = []
        for member in self.members.reversed() {
            if member.service.endsWithNeighbours, stages.last?.last?.service.endsWithNeighbours == true {
                stages[stages.count - 1].append(member)
            } else {
                stages.append([member])
            }
        }
        return stages
    }

    /// Ends the members of a stage, and waits until all have.
    private func end(_ stage: [Member], by end: MonotonicTime) async {
        await withTaskGroup(of: Void.self) { group in
            for member in stage where !member.ended.isFired {
                group.addTask { await self.end(member, by: end) }
            }
        }
    }

    /// Tells a service to end, and waits for it as long as it may take: two thirds of what is left, for others come after
    /// it.
    private func end(_ member: Member, by end: MonotonicTime) async {
        self.logger.debug("stopping", ["service": .string(member.service.name)])
        member.shutdown.fire()
        do {
            let time = Self.share(2, of: end)
            try await withDeadline(time) { try await member.ended.wait() }
        } catch {
            self.logger.warning("service did not drain in time", ["service": .string(member.service.name)])
            member.cancel.fire()
            // It was cancelled; one that heeds not even that must not hold up those that come before it.
            let time = min(Self.share(1, of: end), .seconds(2))
            do { try await withDeadline(time) { try await member.ended.wait() } } catch {}
        }
    }

    /// Some thirds of the time until then; never so little that a service could not even take notice.
    static func share(_ thirds: Int, of end: MonotonicTime, at now: MonotonicTime = .now()) -> Duration {
        max((end - now) * thirds / 3, .milliseconds(250))
    }

    private func run(_ member: Member) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await member.service.run(shutdown: member.shutdown)
                } catch {
                    // What a service throws once it was told to end is only its way of ending.
                    if !member.shutdown.isFired {
                        self.logger.error(
                            "service failed",
                            ["service": .string(member.service.name), "error": "\(error)"]
                        )
                        self.firstError.withLock { $0 = $0 ?? error }
                    }
                }
                member.ended.fire()
                self.ending.fire()
            }
            group.addTask { do { try await member.cancel.wait() } catch {} }
            // Whichever comes first, the service's end or the order to cancel it, ends the other.
            await group.next()
            group.cancelAll()
        }
    }
}
