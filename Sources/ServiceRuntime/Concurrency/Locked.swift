// SPDX-License-Identifier: Apache-2.0
import CLinux

/// A value behind a lock.
///
/// Built on a pthread mutex and not on `Synchronization.Mutex`, because ThreadSanitizer knows the former and reports the
/// latter's futex as a race. Hold it for a few instructions only; never across an `await`, never while calling out.
@safe
package final class Locked<Value: Sendable>: @unchecked Sendable {
    // Sendable by rule: `value` is only touched between lock and unlock of `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Puts a value behind a new lock.
    package init(_ value: Value) {
        self.value = value
        unsafe self.mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        unsafe pthread_mutex_init(self.mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(self.mutex)
        unsafe self.mutex.deallocate()
    }

    /// Runs a closure with the value, alone.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(self.mutex)
        defer { unsafe pthread_mutex_unlock(self.mutex) }
        return try body(&self.value)
    }
}
