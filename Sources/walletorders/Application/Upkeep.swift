// SPDX-License-Identifier: Apache-2.0
import OrderStore
import ServiceRuntime

/// Takes away what has had its time: old idempotency rows, links, log lines. In small batches, once a minute.
struct Upkeep: Service {
    let name = "upkeep"
    let store: OrderStore
    let logger: Logger

    func run(shutdown: Signal) async throws {
        while !shutdown.isFired {
            do { try await withDeadline(.seconds(60)) { try await shutdown.wait() } } catch is DeadlineExceeded {}
            if shutdown.isFired { return }
            do {
                while try await self.store.removeExpired(batch: 1_000) > 0, !shutdown.isFired {}
            } catch {
                self.logger.warning("expired rows could not be removed", ["error": "\(error)"])
            }
        }
    }
}
