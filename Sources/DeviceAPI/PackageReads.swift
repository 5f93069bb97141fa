// SPDX-License-Identifier: Apache-2.0
package import OrderStore
package import ServiceRuntime

/// Writes down which revisions devices fetched, in batches once a second: the operator's answer to "did the phone pull?".
///
/// Not part of any guarantee: what a crash takes with it is the last second's notes.
package final class PackageReads: Service {
    /// The most notes that wait; beyond it they are dropped and counted.
    internal static let limit = 10_000

    package let name = "package-reads"
    private let store: OrderStore
    private let logger: Logger
    private let dropped: Counter
    private let waiting = Locked<[PackageRead]>([])

    /// Makes an empty book.
    ///
    /// - Parameter metrics: where notes that were lost are counted.
    package init(store: OrderStore, logger: Logger, metrics: Metrics = .shared) {
        self.store = store
        self.logger = logger
        self.dropped = metrics.counter(
            "walletorders_package_reads_dropped_total",
            help: "Fetches of packages that no order's history tells of: too many at once, or no database."
        )
    }

    /// Notes a read.
    internal func note(_ read: PackageRead) {
        let isKept = self.waiting.withLock { waiting in
            guard waiting.count < Self.limit else { return false }
            waiting.append(read)
            return true
        }
        if !isKept { self.dropped.increment() }
    }

    package func run(shutdown: Signal) async throws {
        repeat {
            do { try await withDeadline(.seconds(1)) { try await shutdown.wait() } } catch is DeadlineExceeded {}
            await self.flush()
        } while !shutdown.isFired
    }

    private func flush() async {
        let reads = self.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        guard !reads.isEmpty else { return }
        do { try await self.store.recordReads(reads) } catch {
            self.dropped.increment(by: reads.count)
            self.logger.warning("reads were not recorded", ["count": .integer(reads.count), "error": "\(error)"])
        }
    }
}
