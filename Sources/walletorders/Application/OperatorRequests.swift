// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime

/// What the operator asks of a serving process by signals, heeded from the first moment of its start to its end.
final class OperatorRequests: Sendable {
    /// Fired by SIGTERM or SIGINT. A second one ends the process at once.
    let stop = Signal()
    private struct Reload: Sendable {
        var action: (@Sendable () -> Void)?
        /// Whether SIGHUP came before there was something to do: what had been read by then may have changed since.
        var isAskedFor = false
    }
    private let reload = Locked(Reload())

    /// Begins to watch.
    init(on loop: EventLoop, logger: Logger) {
        ProcessSignals.watch(on: loop) { request in
            switch request {
            case .stop:
                logger.notice("stopping")
                self.stop.fire()
            case .stopNow: _exit(1)
            case .reload:
                let action = self.reload.withLock { reload in
                    reload.isAskedFor = reload.action == nil
                    return reload.action
                }
                action?()
            }
        }
    }

    /// Sets what SIGHUP does.
    func onReload(_ body: @escaping @Sendable () -> Void) {
        let isAskedFor = self.reload.withLock { reload in
            reload.action = body
            return reload.isAskedFor
        }
        if isAskedFor { body() }
    }

    /// Runs a part of the start, and cancels it when the operator ends the process meanwhile.
    ///
    /// - Returns: what the body gives, even when it was told to stop a moment before: it is complete then, and ends like
    ///   one that was stopped a moment later.
    /// - Throws: `Interrupted`, or what the body throws.
    func untilStopped<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let stop = self.stop
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                do { try await stop.wait() } catch {}
                return nil
            }
            defer { group.cancelAll() }
            do {
                if let result = try await group.next() ?? nil { return result }
                group.cancelAll()
                if let result = try await group.next() ?? nil { return result }
                throw Interrupted()
            } catch {
                throw stop.isFired ? Interrupted() : error
            }
        }
    }
}

/// The operator ended the process before its work was done. What was begun has been put away.
struct Interrupted: Error {}
