// SPDX-License-Identifier: Apache-2.0

/// Runs services together, and ends them in the reverse order of their start.
///
/// A later service may use an earlier one until it has drained: the listener goes before the pool, the pool before the
/// database cluster. Each is told, given its time, and cancelled when that is over.
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
    ///   - drain: how long one service may take to end after it was told.
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
            for member in self.members.reversed() where !member.ended.isFired { await self.end(member) }
        }
        if let error = self.firstError.withLock({ $0 }) { throw error }
    }

    /// Tells a service to end, and waits for it as long as it may take.
    private func end(_ member: Member) async {
        self.logger.debug("stopping", ["service": .string(member.service.name)])
        member.shutdown.fire()
        do {
            try await withDeadline(self.drain) { try await member.ended.wait() }
        } catch {
            self.logger.warning("service did not drain in time", ["service": .string(member.service.name)])
            member.cancel.fire()
            // It was cancelled; one that heeds not even that must not hold up those that come before it.
            do { try await withDeadline(.seconds(2)) { try await member.ended.wait() } } catch {}
        }
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
