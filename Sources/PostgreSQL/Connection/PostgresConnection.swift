// SPDX-License-Identifier: Apache-2.0
import CLibPQ
package import ServiceRuntime

/// A session with the server, confined to one event loop.
///
/// Statements are prepared on first use, parameters and results are binary, and every round trip is a pipeline. Calls from
/// several tasks are done one after another. Whoever holds a connection got it from `PostgresClient` and is on its loop.
@safe
package final class PostgresConnection: ReadinessHandler, @unchecked Sendable {
    // Sendable by rule: every entry point checks that it runs on `loop`, and nothing else touches the state.

    /// The loop that this connection lives on.
    package let loop: EventLoop
    internal let configuration: PostgresConfiguration
    /// Set by the pool.
    internal var identifier = 0
    /// Called once, when the connection has come to its end.
    internal var onClose: ((PostgresError) -> Void)?
    /// Called for each NOTIFY: channel, payload.
    internal var onNotification: ((String, String) -> Void)?

    private let handle: ConnectionHandle
    private let logger: Logger
    private var watch: Watch?
    private var timer: Timer?

    private var operationCount: UInt64 = 0
    private var active: Operation?
    private var queue: [Operation] = []
    private var isPipelining = true
    private var cancelsInFlight = 0
    /// What the server said as it ended the session, outside of any statement.
    private var farewell: PostgresError?

    /// The statements that the server knows, with the types of their parameters.
    internal var prepared: [String: PreparedStatement] = [:]
    /// Those that are on their way to the server.
    internal var preparing: Set<String> = []
    internal var phase = TransactionPhase.none
    /// The first error since the transaction began: what decides on its repetition, whatever the closure threw.
    internal var transactionFailure: PostgresError?

    /// Why it is closed; nil as long as it is open.
    internal private(set) var closeReason: PostgresError?
    /// Whether it must not be used by anyone else.
    internal private(set) var mustDiscard = false
    /// What the server had no room for, until the pool has noted it.
    internal var shortage: PostgresError?
    /// Whether the server turned out to be a standby.
    internal private(set) var isReadOnly = false
    /// Whether a plan of the session's no longer fitted its tables.
    internal private(set) var hasStalePlan = false

    internal init(
        handle: ConnectionHandle,
        notices: NoticeSink,
        loop: EventLoop,
        configuration: PostgresConfiguration,
        logger: Logger
    ) throws(PostgresError) {
        self.handle = handle
        self.loop = loop
        self.configuration = configuration
        self.logger = logger
        notices.handler = { [weak self] report in self?.note(report) }
        do throws(SystemError) {
            self.watch = try loop.watch(handle.socket, .readable, self)
        } catch {
            throw PostgresError(.connection, "can't wait for the socket: \(error)")
        }
    }

    /// Whether the connection has come to its end.
    package var isClosed: Bool { self.closeReason != nil }

    /// Whether someone else may have it next: idle, outside a transaction, nothing cancelled half-way.
    internal var isReusable: Bool {
        !self.isClosed && !self.mustDiscard && self.active == nil && self.queue.isEmpty && self.cancelsInFlight == 0
            && self.handle.isOutsideTransaction
    }

    /// Keeps the connection from being used by anyone else; for a session whose settings were changed.
    package func discard() { self.mustDiscard = true }

    /// Ends the session. What is under way fails.
    internal func close() {
        self.fail(PostgresError(.shuttingDown, "the connection was closed"))
    }

    /// Looks whether the server has closed its end, before it is reported by the loop.
    internal func checkAlive() {
        if self.active == nil, !self.isClosed { self.receive() }
    }

    // MARK: Operations

    /// Does one round trip.
    internal func perform(
        _ work: Operation.Work,
        isCancellable: Bool = true,
        timeout: Duration? = nil
    ) async -> (outcome: Operation.Outcome, hasWarning: Bool) {
        self.loop.preconditionOnLoop()
        self.operationCount &+= 1
        let number = self.operationCount
        let operation = Operation(
            number: number,
            work,
            isCancellable: isCancellable,
            timeout: timeout ?? self.configuration.answerTimeout,
            latest: RequestTime.end ?? .distantFuture
        )
        if !isCancellable {
            let outcome = await withCheckedContinuation { self.submit(operation, $0) }
            return (outcome, operation.hasWarning)
        }
        if Task.isCancelled { return (.failure(PostgresConnection.cancelled), false) }
        if RequestTime.isOver { return (.failure(PostgresConnection.late), false) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { self.submit(operation, $0) }
        } onCancel: {
            self.loop.execute { self.cancel(number) }
        }
        return (outcome, operation.hasWarning)
    }

    private static let cancelled = PostgresError(.cancelled, "the task was cancelled")
    private static let late = PostgresError(.statementTimeout, "the request's time is over")

    private func submit(_ operation: Operation, _ continuation: CheckedContinuation<Operation.Outcome, Never>) {
        operation.continuation = continuation
        if let reason = self.closeReason {
            self.complete(operation, .failure(reason))
        } else if self.active != nil {
            self.queue.append(operation)
        } else {
            self.start(operation)
        }
    }

    private func start(_ operation: Operation) {
        // What it waited behind others on this connection is gone from its request's time.
        guard operation.begin(now: MonotonicTime.now(), least: self.configuration.cancelGrace) else {
            return self.complete(operation, .failure(PostgresConnection.late))
        }
        self.active = operation
        operation.startedAt = self.loop.now
        self.armTimer()
        guard self.send(operation) else {
            self.broke()
            return
        }
        self.flush()
    }

    private func send(_ operation: Operation) -> Bool {
        switch operation.work {
        case .script(let sql):
            if self.isPipelining {
                guard self.handle.setPipelineMode(false) else { return false }
                self.isPipelining = false
            }
            return self.handle.sendScript(sql)
        case .steps(let steps):
            if !self.isPipelining {
                guard self.handle.setPipelineMode(true) else { return false }
                self.isPipelining = true
            }
            for step in steps {
                switch step {
                case .prepare(let statement): guard self.handle.sendPrepare(statement) else { return false }
                case .describe(let statement): guard self.handle.sendDescribe(statement) else { return false }
                case .execute(let statement, let parameters):
                    guard self.handle.sendExecute(statement, parameters) else { return false }
                }
            }
            return self.handle.sendSync()
        }
    }

    private func flush() {
        guard let watch = self.watch else { return }
        switch self.handle.flush() {
        case .done: self.loop.change(watch, to: .readable)
        // The server may be answering while we send: not reading then would be a deadlock.
        case .pending: self.loop.change(watch, to: [.readable, .writable])
        case .failed: self.broke()
        }
    }

    // MARK: Readiness

    package func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { self.flush() }
        if !self.isClosed, readiness.contains(.readable) || readiness.contains(.hangup) { self.receive() }
    }

    private func receive() {
        let isOpen = self.handle.consume()
        self.harvest()
        while let notification = self.closeReason == nil ? self.handle.nextNotification() : nil {
            self.onNotification?(notification.channel, notification.payload)
        }
        if !self.isClosed, !isOpen || self.handle.isBroken { self.broke() }
    }

    /// Takes the answers that are complete. Never asks libpq for more than it has: it would block.
    private func harvest() {
        // A session that libpq takes for idle though it owes answers has none however often it is asked.
        var endings = 0
        // Parsing also takes in notices and notifications that came on their own.
        while !self.handle.isBusy, let operation = self.active, !operation.isDrained {
            guard let result = self.handle.nextResult() else {
                endings += 1
                if self.handle.isBroken || endings > 16 { return }
                if case .script = operation.work {
                    self.drained(operation)
                } else {
                    operation.endStep()
                    if operation.isOverrun { return self.outOfStep() }
                }
                continue
            }
            endings = 0
            switch result.status {
            case PGRES_PIPELINE_SYNC: self.drained(operation)
            case PGRES_PIPELINE_ABORTED: operation.accept(PostgresError(.other, "skipped after an error"))
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: operation.accept(result)
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR:
                if let report = result.report {
                    operation.accept(report.error(statement: operation.statementName))
                } else {
                    operation.accept(self.farewell ?? PostgresError(.connection, self.handle.message))
                }
            default: return self.outOfStep()
            }
        }
    }

    private func outOfStep() {
        self.fail(PostgresError(.connection, "the server's answers are not those of the statements sent (COPY?)"))
    }

    /// All answers of an operation are in.
    private func drained(_ operation: Operation) {
        operation.isDrained = true
        if operation.stop != nil {
            // A cancellation that arrives late would hit the next statement, so it is waited for: the server closes the
            // cancelling connection after it has sent the signal, and the signal has hit if it shows in the answer.
            let isConsumed =
                operation.failure?.sqlState == "57014"
                && self.loop.now - operation.startedAt < self.configuration.statementTimeout * 0.9
            if !isConsumed { self.mustDiscard = true }
            if self.cancelsInFlight > 0 { return }
        }
        self.end(operation)
    }

    private func end(_ operation: Operation) {
        self.active = nil
        self.complete(operation, operation.outcome)
        while self.active == nil, !self.queue.isEmpty, !self.isClosed { self.start(self.queue.removeFirst()) }
    }

    private func complete(_ operation: Operation, _ outcome: Operation.Outcome) {
        var outcome = outcome
        if case .failure(var error) = outcome {
            if let stop = operation.stop, error.sqlState == "57014" || error.isConnectionLoss {
                switch stop {
                case .cancelled: error = PostgresConnection.cancelled
                case .deadline where error.sqlState == "57014":
                    error = PostgresError(
                        .statementTimeout,
                        "no answer within \(operation.timeout.inSeconds) s",
                        sqlState: "57014"
                    )
                case .deadline: break
                }
                outcome = .failure(error)
            }
            if error.code == .readOnly { self.isReadOnly = true }
            if error.code == .exhausted { self.shortage = error }
            // The plan of a statement does not outlive a change of its tables' columns; a fresh session plans anew.
            if error.isAboutPreparation { self.mustDiscard = true }
            if error.hasStalePlan { self.hasStalePlan = true }
            if self.phase != .none, self.transactionFailure == nil { self.transactionFailure = error }
        }
        operation.continuation?.resume(returning: outcome)
        operation.continuation = nil
    }

    // MARK: The end

    /// The connection is gone: the reason is what the server said last, or libpq's words.
    private func broke() {
        if self.isClosed { return }
        // A server that ends a session says why before it closes the socket, and we may not have read that yet.
        _ = self.handle.consume()
        self.harvest()
        if self.isClosed { return }
        let message = self.handle.message
        self.fail(
            self.active?.failure.flatMap { $0.isConnectionLoss ? $0 : nil } ?? self.farewell
                ?? PostgresError(.connection, message.isEmpty ? "the server closed the connection" : message)
        )
    }

    private func fail(_ reason: PostgresError) {
        if self.isClosed { return }
        self.closeReason = reason
        if let watch = self.watch { self.loop.unwatch(watch) }
        self.watch = nil
        self.timer?.cancel()
        self.timer = nil
        self.handle.finish()
        let stranded = (self.active.map { [$0] } ?? []) + self.queue
        self.active = nil
        self.queue = []
        for operation in stranded { self.complete(operation, .failure(operation.failure ?? reason)) }
        self.onClose?(reason)
        self.onClose = nil
        self.onNotification = nil
    }

    // MARK: Limits of time

    /// One timer serves all operations: it is set anew only when it would fire too late.
    private func armTimer() {
        guard let operation = self.active else { return }
        if let timer = self.timer {
            if timer.deadline <= operation.deadline { return }
            timer.cancel()
        }
        self.timer = self.loop.schedule(at: operation.deadline) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        self.timer = nil
        guard let operation = self.active else { return }
        if MonotonicTime.now() < operation.deadline { return self.armTimer() }
        if operation.isDrained {
            // The answers are in, but the cancellation is still on its way somewhere.
            self.mustDiscard = true
            self.end(operation)
        } else if operation.stop == nil {
            // Also what its task can't cancel. A COMMIT that waits for the standby would wait on in the server though the
            // connection is closed, and keep its locks and its session; cut short, it warns that it is on one machine only.
            self.stop(operation, operation.isGivenUp ? .cancelled : .deadline)
        } else {
            self.fail(PostgresError(.connection, "the server did not answer in time"))
        }
    }

    private func cancel(_ number: UInt64) {
        if let operation = self.active, operation.number == number {
            if operation.stop != nil || operation.isDrained || operation.isGivenUp { return }
            operation.isGivenUp = true
            operation.deadline = min(operation.deadline, MonotonicTime.now() + self.configuration.cancelDelay)
            self.armTimer()
        } else if let index = self.queue.firstIndex(where: { $0.number == number }) {
            self.complete(self.queue.remove(at: index), .failure(PostgresConnection.cancelled))
        }
    }

    /// Asks the server to cancel, and gives it a moment to do so.
    private func stop(_ operation: Operation, _ reason: Operation.Stop) {
        operation.stop = reason
        operation.deadline = MonotonicTime.now() + self.configuration.cancelGrace
        self.armTimer()
        guard let key = self.handle.cancelKey() else { return self.fail(PostgresConnection.cancelled) }
        self.cancelsInFlight += 1
        self.loop.spawn {
            do { try await PostgresConnection.cancelThreads.run { key.send() } } catch {}
            self.cancelReturned()
        }
    }

    /// Two threads: a cancellation towards a host that went dark takes as long as TCP wants.
    private static let cancelThreads = BlockingThreads(limit: 2)

    private func cancelReturned() {
        self.cancelsInFlight -= 1
        if let operation = self.active, operation.isDrained, self.cancelsInFlight == 0 { self.end(operation) }
    }

    // MARK: Notices

    private func note(_ report: ServerReport) {
        switch report.severity {
        case "FATAL", "PANIC": self.farewell = report.error(statement: nil)
        case "WARNING" where report.sqlState == "01000": self.active?.hasWarning = true
        default: break
        }
        self.logger.debug(
            "notice of the database",
            [
                "severity": .string(report.severity), "state": .string(report.sqlState),
                "text": .string(report.safeMessage),
            ]
        )
    }
}
