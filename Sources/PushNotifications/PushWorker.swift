// SPDX-License-Identifier: Apache-2.0
internal import HTTPEngine
package import OrderModel
internal import OrderPackage
package import OrderStore
package import ServiceRuntime

/// Carries due tickets to APNs: woken by the database's notification, and once a second by itself, so that a lost
/// notification costs a second and nothing else.
///
/// At least once: a push that was sent but not recorded goes out again, which costs the device one request.
package final class PushWorker: Service {
    package let name = "push-worker"
    private let store: OrderStore
    private let types: OrderTypeDirectory
    private let loop: EventLoop
    private let policy: RetryPolicy
    private let logger: Logger
    private let metrics: Metrics
    private struct Wakes: Sendable {
        var types: Set<OrderTypeIdentifier> = []
        var waiter: Signal?
        var faults: [OrderTypeIdentifier: PushFault] = [:]
        // short: APNs' reasons, letters of ASCII, 64 at most.
        var givenUp: [OrderTypeIdentifier: [String: Int]] = [:]
    }
    private let wakes = Locked(Wakes())
    private let deadlines: PushDeadlines

    /// Makes a worker; all of it runs on one loop.
    package init(
        store: OrderStore,
        types: OrderTypeDirectory,
        loop: EventLoop,
        policy: RetryPolicy = .init(),
        deadlines: PushDeadlines = .init(),
        logger: Logger,
        metrics: Metrics = .shared
    ) {
        self.store = store
        self.types = types
        self.loop = loop
        self.policy = policy
        self.deadlines = deadlines
        self.logger = logger
        self.metrics = metrics
    }

    /// Tells the worker that a type has due tickets: what the listener of `OrderStore.ticketChannel` calls.
    package func wake(_ type: OrderTypeIdentifier) {
        self.wakes.withLock { wakes -> Signal? in
            wakes.types.insert(type)
            defer { wakes.waiter = nil }
            return wakes.waiter
        }?.fire()
    }

    /// Tells the worker that the directory has other settings: each type goes on under its own, at once.
    package func settingsChanged() {
        for type in self.types.all { self.wake(type.identifier) }
    }

    /// Why some types are not being pushed to, for the readiness page.
    package var faults: [OrderTypeIdentifier: PushFault] { self.wakes.withLock { $0.faults } }

    // short: APNs' reasons, letters of ASCII, 64 at most.
    /// How many pushes of the types were given up and not redriven yet, by APNs' reason.
    package var givenUp: [OrderTypeIdentifier: [String: Int]] { self.wakes.withLock { $0.givenUp } }

    package func run(shutdown: Signal) async throws {
        try await self.loop.run { try await self.work(until: shutdown) }
    }

    private enum Event: Sendable {
        case woken
        case drained(OrderTypeIdentifier)
        case counted
    }

    private func work(until shutdown: Signal) async throws {
        var senders: [OrderTypeIdentifier: TypeSender] = [:]
        var draining: Set<OrderTypeIdentifier> = []
        var again: Set<OrderTypeIdentifier> = []
        var nextLook = MonotonicTime.now()
        var pace = CountPace()
        await withTaskGroup(of: Event.self) { group in
            group.addTask { await self.pause(until: shutdown) }
            while let event = await group.next() {
                switch event {
                case .drained(let type):
                    draining.remove(type)
                    guard let sender = senders[type] else { break }
                    await self.lookForComplaint(of: type, sender)
                    if await sender.takeRejected() { pace.noteNews() }
                case .counted: pace.end(at: .now())
                case .woken:
                    if !shutdown.isFired, !Task.isCancelled {
                        // By the clock, not when it is quiet: a busy type must not keep others' retries waiting.
                        let isDue = MonotonicTime.now() >= nextLook
                        if isDue { nextLook = MonotonicTime.now() + .milliseconds(Int.random(in: 900...1_000)) }
                        again.formUnion(await self.typesToServe(asking: isDue))
                        if isDue { for (type, sender) in senders { await self.lookForComplaint(of: type, sender) } }
                        if pace.begins(at: .now()) {
                            // Beside the loop that serves all types: it may take its time.
                            group.addTask {
                                await self.countGivenUp()
                                return .counted
                            }
                        }
                        await self.dismiss(&senders, except: draining)
                        group.addTask { await self.pause(until: shutdown) }
                    }
                }
                if shutdown.isFired || Task.isCancelled {
                    if draining.isEmpty { break }
                    continue
                }
                for type in again where draining.contains(type) {
                    guard let sender = senders[type] else { continue }
                    if await sender.ring() { again.remove(type) }
                    await self.lookForComplaint(of: type, sender)
                }
                for type in again where !draining.contains(type) {
                    again.remove(type)
                    guard let sender = await self.sender(for: type, in: &senders) else { continue }
                    draining.insert(type)
                    group.addTask {
                        await sender.drain(until: shutdown)
                        return .drained(type)
                    }
                }
            }
            group.cancelAll()
        }
        for sender in senders.values { await sender.close() }
    }

    /// Waits for a wake-up, a second at most.
    private func pause(until shutdown: Signal) async -> Event {
        let signal = Signal()
        let isDue = self.wakes.withLock { wakes -> Bool in
            if !wakes.types.isEmpty { return true }
            wakes.waiter = signal
            return false
        }
        if isDue || shutdown.isFired { return .woken }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { do { try await signal.wait() } catch {} }
            group.addTask { do { try await shutdown.wait() } catch {} }
            group.addTask { do { try await sleep(for: .milliseconds(Int.random(in: 900...1_000))) } catch {} }
            await group.next()
            group.cancelAll()
        }
        return .woken
    }

    /// The types that were named, and all that have due tickets when it is time to ask.
    private func typesToServe(asking: Bool) async -> Set<OrderTypeIdentifier> {
        var types = self.wakes.withLock { wakes -> Set<OrderTypeIdentifier> in
            defer { wakes.types = [] }
            return wakes.types
        }
        if asking {
            do { types.formUnion(try await self.store.orderTypesWithDueTickets()) } catch {
                self.logger.warning("due tickets could not be looked up", ["error": "\(error)"])
            }
        }
        return types
    }

    /// Asks a sender what is wrong: a complaint about the last minutes ends also where nothing is sent any more.
    private func lookForComplaint(of type: OrderTypeIdentifier, _ sender: TypeSender) async {
        let fault = await sender.complaint
        self.wakes.withLock { $0.faults[type] = fault }
    }

    /// Lets go of types that this process no longer serves: their connections and their faults.
    private func dismiss(
        _ senders: inout [OrderTypeIdentifier: TypeSender],
        except draining: Set<OrderTypeIdentifier>
    ) async {
        for type in Array(senders.keys) where self.types[type] == nil && !draining.contains(type) {
            await senders.removeValue(forKey: type)?.close()
        }
        // Also of a type whose sender could not be made.
        self.wakes.withLock { wakes in wakes.faults = wakes.faults.filter { self.types[$0.key] != nil } }
    }

    /// Asks the database, where redriven tickets are no longer counted, whoever redrove them.
    private func countGivenUp() async {
        do {
            let counts = try await self.store.givenUpTickets()
            self.wakes.withLock { $0.givenUp = counts.filter { self.types[$0.key] != nil } }
        } catch {
            self.logger.debug("given-up tickets could not be counted", ["error": "\(error)"])
        }
    }

    /// The sender of a type; a new one when its settings have changed. Nil when this process does not serve the type.
    private func sender(
        for type: OrderTypeIdentifier,
        in senders: inout [OrderTypeIdentifier: TypeSender]
    ) async -> TypeSender? {
        guard let settings = self.types[type] else { return nil }
        if let sender = senders[type] {
            if sender.settings.pushesAlike(settings) { return sender }
            await sender.close()
        }
        do {
            let sender = try TypeSender(
                settings: settings,
                types: self.types,
                store: self.store,
                loop: self.loop,
                policy: self.policy,
                deadlines: self.deadlines,
                logger: self.logger,
                metrics: self.metrics
            )
            senders[type] = sender
            return sender
        } catch {
            self.logger.error("no way to APNs", ["orderType": .string(type.text), "error": "\(error)"])
            senders[type] = nil
            let fault = PushFault(reason: "identity", detail: "its certificate or APNs' roots can't be used: \(error)")
            self.wakes.withLock { $0.faults[type] = fault }
            return nil
        }
    }
}
