// SPDX-License-Identifier: Apache-2.0
package import OrderStore
package import ServiceRuntime

/// Writes down which revisions devices fetched, in batches once a second: the operator's answer to "did the phone pull?".
///
/// Not part of any guarantee: what a crash takes with it is the last second's notes.
package final class PackageReads: Service {
    /// The most notes that wait; beyond it they are dropped and counted.
    private static let limit = 10_000

    package let name = "package-reads"
    private let store: OrderStore
    private let logger: Logger
    private let waiting = Locked<[PackageRead]>([])

    /// Makes an empty book.
    package init(store: OrderStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Notes a read.
    internal func note(_ read: PackageRead) {
        self.waiting.withLock { if $0.count < Self.limit { $0.append(read) } }
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
            self.logger.warning("reads were not recorded", ["count": .integer(reads.count)])
        }
    }
}
