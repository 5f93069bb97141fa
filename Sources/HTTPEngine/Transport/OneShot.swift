// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// A result that comes once, from wherever, to one waiter. The first to finish wins; the rest is told so.
///
/// The bridge from loop callbacks to `await` for what happens seldom: connecting, closing, a PING. Its waiter always gets
/// an answer as long as somebody finishes it, so whoever makes one sets a deadline that does.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case value(Value)
        case done
    }

    private let state = Locked(State.empty)

    /// Gives the value.
    ///
    /// - Returns: false when there was one before; the caller keeps what it wanted to hand over.
    @discardableResult
    func finish(_ value: Value) -> Bool {
        let outcome = state.withLock { state -> (accepted: Bool, waiter: CheckedContinuation<Value, Never>?) in
            switch state {
            case .empty:
                state = .value(value)
                return (true, nil)
            case .waiting(let continuation):
                state = .done
                return (true, continuation)
            case .value, .done: return (false, nil)
            }
        }
        outcome.waiter?.resume(returning: value)
        return outcome.accepted
    }

    /// Waits for the value. Only one may wait, once.
    ///
    /// - Parameter onCancel: run when the task is cancelled; it has to bring about a `finish`.
    func value(onCancel: @escaping @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Value? in
                    if case .value(let value) = state {
                        state = .done
                        return value
                    }
                    state = .waiting(continuation)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            onCancel()
        }
    }
}
