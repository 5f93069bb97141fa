// SPDX-License-Identifier: Apache-2.0
internal import ExactJSON
package import HTTPEngine
internal import OrderModel
internal import OrderPackage
package import OrderStore
package import ServiceRuntime

/// What the operator and the machines that watch over us ask: alive, ready, numbers.
package final class Console: Service {
    package let name = "console"
    private let store: OrderStore
    private let types: OrderTypeDirectory
    private let metrics: Metrics
    private let logger: Logger
    private let faults: @Sendable () -> [String]
    private let isDraining = Locked(false)

    /// Makes the console.
    ///
    /// - Parameter faults: what is wrong with single order types at present, one sentence each, for `/readyz`.
    package init(
        store: OrderStore,
        types: OrderTypeDirectory,
        metrics: Metrics,
        logger: Logger,
        faults: @escaping @Sendable () -> [String] = { [] }
    ) {
        self.store = store
        self.types = types
        self.metrics = metrics
        self.logger = logger
        self.faults = faults
    }

    /// The routes of the admin listener.
    package func router() -> Router {
        var router = Router()
        router.on(.get, "/livez", name: "livez") { _, _ in .text("ok\n") }
        router.on(.get, "/readyz", name: "readyz") { _, _ in await self.readiness() }
        router.on(.get, "/metrics", name: "metrics") { _, _ in await self.numbers() }
        return router
    }

    /// Readiness ends before the listeners do, so that a load balancer looks elsewhere in time.
    package func run(shutdown: Signal) async throws {
        do { try await shutdown.wait() } catch {}
        self.isDraining.withLock { $0 = true }
    }

    /// 200 with what is degraded, or 503 when no request could be served: no database, another schema, or about to end.
    private func readiness() async -> HTTPResponse {
        if self.isDraining.withLock({ $0 }) { return self.notReady("draining") }
        do {
            if let fault = try await withDeadline(.seconds(2), { try await self.store.schemaFault() }) {
                return self.notReady("the database has another schema: \(fault)")
            }
        } catch  where OrderStore.isUnavailable(error) || error is DeadlineExceeded {
            return self.notReady("the database does not answer")
        } catch {
            return self.notReady("the database's schema can't be read: \(error)")
        }
        let degraded = self.faults() + self.certificateFaults()
        return self.uncached(.json(["ready": true, "degraded": .array(degraded.map { .string($0) })]))
    }

    private func notReady(_ reason: String) -> HTTPResponse {
        self.uncached(.json(["ready": false, "reason": .string(reason)], status: .serviceUnavailable))
    }

    private func uncached(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers["cache-control"] = "no-store"
        return response
    }

    /// What is wrong, or soon will be, with the types' certificates.
    private func certificateFaults() -> [String] {
        let now = WallTime.now().seconds
        return self.types.all.compactMap { type in
            let name = type.identifier.text
            switch type.identity.validity(at: now) {
            case .valid: return nil
            case .ending(let days):
                return "\(name): its certificate expires in \(days) \(days == 1 ? "day" : "days")"
            case .expired: return "\(name): its certificate has expired"
            case .notYetValid: return "\(name): its certificate is not valid yet; the clock may be wrong"
            }
        }
    }

    private func numbers() async -> HTTPResponse {
        let now = WallTime.now().seconds
        self.metrics.replaceGauges(
            "walletorders_certificate_expiry_seconds",
            help: "Time until an order type's certificate chain expires.",
            self.types.all.map { type in
                ([("order_type", type.identifier.text)], Double(type.identity.chainNotAfter - now))
            }
        )
        var counts: [TicketCount] = []
        var oldest: [Double] = []
        do {
            let (found, age) = try await withDeadline(.seconds(2)) {
                (try await self.store.ticketCounts(), try await self.store.oldestDueTicket())
            }
            counts = found
            oldest = [age.map(\.inSeconds) ?? 0]
        } catch {
            // Left out: what was true a while ago would look as if it were true now.
            self.logger.warning("ticket numbers could not be read", ["error": "\(error)"])
        }
        self.metrics.replaceGauges(
            "walletorders_push_tickets",
            help: "Push tickets by state.",
            counts.flatMap { count in
                [("due", count.due), ("in_flight", count.inFlight), ("dead", count.dead)].map { state, number in
                    ([("order_type", count.orderType.text), ("state", state)], Double(number))
                }
            }
        )
        self.metrics.replaceGauges(
            "walletorders_oldest_due_ticket_seconds",
            help: "How long the oldest due push ticket has been due.",
            oldest.map { ([], $0) }
        )
        return HTTPResponse(
            .ok,
            headers: ["content-type": "text/plain; version=0.0.4; charset=utf-8"],
            body: .bytes(Array(self.metrics.text().utf8))
        )
    }
}
