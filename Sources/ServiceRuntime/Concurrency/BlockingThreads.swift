// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A few threads for calls that block: file reads, name look-ups, waiting for a child process.
///
/// They keep such calls off the loops and off Swift's own pool, which has only as many threads as the machine has cores.
@safe
package final class BlockingThreads: @unchecked Sendable {
    // Sendable by rule: everything mutable is touched only while `mutex` is held.
    /// The process's own set of threads.
    package static let shared = BlockingThreads(limit: 16)

    private let limit: Int
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [@Sendable () -> Void] = []
    private var threads = 0
    private var idle = 0

    /// Makes an empty set that will have at most `limit` threads; they are started when needed and stay.
    package init(limit: Int) {
        self.limit = limit
        unsafe self.mutex = .allocate(capacity: 1)
        unsafe self.condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(self.mutex, nil)
        unsafe pthread_cond_init(self.condition, nil)
    }

    /// Runs a blocking closure on one of the threads.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            self.submit { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        unsafe pthread_mutex_lock(self.mutex)
        self.jobs.append(job)
        let mustStart = self.jobs.count > self.idle && self.threads < self.limit
        if mustStart { self.threads += 1 }
        unsafe pthread_cond_signal(self.condition)
        unsafe pthread_mutex_unlock(self.mutex)
        guard mustStart else { return }
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        if unsafe pthread_create(&thread, nil, BlockingThreads.body, context) == 0 {
            pthread_detach(thread)
        } else {
            // The job stays queued for the threads that exist; with none at all, it runs here and now.
            unsafe Unmanaged<BlockingThreads>.fromOpaque(context).release()
            unsafe pthread_mutex_lock(self.mutex)
            self.threads -= 1
            let stranded = self.threads == 0 ? self.jobs : []
            if self.threads == 0 { self.jobs = [] }
            unsafe pthread_mutex_unlock(self.mutex)
            for job in stranded { job() }
        }
    }

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context = unsafe context else { return nil }
        let threads = unsafe Unmanaged<BlockingThreads>.fromOpaque(context).takeRetainedValue()
        _ = unsafe clinux_set_thread_name("blocking")
        threads.workForever()
        return nil
    }

    private func workForever() {
        unsafe pthread_mutex_lock(self.mutex)
        while true {
            while self.jobs.isEmpty {
                self.idle += 1
                unsafe pthread_cond_wait(self.condition, self.mutex)
                self.idle -= 1
            }
            let job = self.jobs.removeFirst()
            unsafe pthread_mutex_unlock(self.mutex)
            job()
            unsafe pthread_mutex_lock(self.mutex)
        }
    }
}

/// Runs a closure that blocks on a thread made for that, and waits for it without blocking.
package func runBlocking<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await BlockingThreads.shared.run(body)
}
