// SPDX-License-Identifier: Apache-2.0

package import OrderModel
import PostgreSQL
import ServiceRuntime

/// Wakes the workers: NOTIFY with the order type, at most once in 5 ms a type.
///
/// The notification is sent outside the change's transaction, because NOTIFY inside one takes a lock of the whole
/// database at commit. It may get lost; a worker also looks once a second.
package final class TicketBell: Sendable {
    private static let pause = Duration.milliseconds(5)

    private let client: PostgresClient
    private let logger: Logger
    /// Types whose ring is on its way; the value says whether another one came meanwhile.
    private let ringing = Locked<Set<OrderTypeIdentifier>>([])

    init(client: PostgresClient, logger: Logger) {
        self.client = client
        self.logger = logger
    }

    /// Says that a type has tickets due. Returns at once; does nothing off the event loops, where the workers' own
    /// look once a second is enough.
    package func ring(_ orderType: OrderTypeIdentifier) {
        guard let loop = EventLoop.current, ringing.withLock({ $0.insert(orderType).inserted }) else { return }
        loop.spawn { [self] in
            try? await sleep(for: Self.pause)
            // Taken off before it is sent: a change that commits from here on rings again.
            ringing.withLock { _ = $0.remove(orderType) }
            do {
                // The change is made, and its request may be answered.
                _ = try await RequestTime.unlimited {
                    try await client.query(TicketStatements.notify, [.text(orderType.text)])
                }
            } catch {
                logger.debug("A wake-up of the workers was not sent; they look once a second.")
            }
        }
    }
}
