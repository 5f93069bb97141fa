// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Takes whole log lines to a descriptor and never keeps who logs waiting: a reader that stalls must not stall the loops.
///
/// While the descriptor takes them, lines are written at once, so that the last one before a crash is out. Once it does
/// not, they queue up for a thread; what the queue has no room for is dropped, counted, and said when lines flow again.
@safe
package final class LogWriter: @unchecked Sendable {
    // Sendable by rule: everything mutable is touched only while `mutex` is held.
    /// How much a pipe takes whole once `poll` calls it writable: PIPE_BUF (pipe(7)).
    private static let atOnce = 4_096

    private let descriptor: Int32
    private let limit: Int
    private let notice: @Sendable (_ dropped: Int) -> [UInt8]
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Said when there is something to write.
    private let work: UnsafeMutablePointer<pthread_cond_t>
    /// Said when there is nothing left to write.
    private let rest: UnsafeMutablePointer<pthread_cond_t>
    private var queue: [UInt8] = []
    private var dropped = 0
    private var isWriting = false
    private var hasThread = false

    /// Makes a writer. Its thread is started when it is needed, and stays.
    ///
    /// - Parameters:
    ///   - limit: the most bytes that wait; further lines are dropped.
    ///   - notice: the line that says how many were.
    package init(
        descriptor: Int32,
        limit: Int = 1 << 20,
        notice: @escaping @Sendable (_ dropped: Int) -> [UInt8]
    ) {
        self.descriptor = descriptor
        self.limit = limit
        self.notice = notice
        unsafe self.mutex = .allocate(capacity: 1)
        unsafe self.work = .allocate(capacity: 1)
        unsafe self.rest = .allocate(capacity: 1)
        unsafe pthread_mutex_init(self.mutex, nil)
        unsafe pthread_cond_init(self.work, nil)
        // Waits with an end are measured by the clock that nobody sets.
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(self.rest, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    /// The thread keeps its writer alive, so only one without a thread comes to its end.
    deinit {
        unsafe pthread_cond_destroy(self.rest)
        unsafe pthread_cond_destroy(self.work)
        unsafe pthread_mutex_destroy(self.mutex)
        unsafe self.rest.deallocate()
        unsafe self.work.deallocate()
        unsafe self.mutex.deallocate()
    }

    /// Writes a line, or puts it into the queue, or drops it.
    package func write(_ line: [UInt8]) {
        unsafe pthread_mutex_lock(self.mutex)
        let isDropped = self.take(line)
        unsafe pthread_mutex_unlock(self.mutex)
        if isDropped {
            Metrics.shared.counter(
                "walletorders_log_lines_dropped_total",
                help: "Log lines that were dropped because nobody read them."
            ).increment()
        }
    }

    /// Waits until all lines are out, but not for long: whoever does not read them must not hold up the process's end.
    ///
    /// - Returns: whether they are.
    @discardableResult
    package func flush(within time: Duration) -> Bool {
        let end = (MonotonicTime.now() + time).nanoseconds
        var moment = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
        unsafe pthread_mutex_lock(self.mutex)
        defer { unsafe pthread_mutex_unlock(self.mutex) }
        while !self.queue.isEmpty || self.isWriting || self.dropped > 0 {
            if unsafe pthread_cond_timedwait(self.rest, self.mutex, &moment) == ETIMEDOUT { return false }
        }
        return true
    }

    // MARK: Under the lock

    /// - Returns: whether the line was dropped.
    private func take(_ line: [UInt8]) -> Bool {
        var line = line[...]
        if self.queue.isEmpty, !self.isWriting, self.dropped == 0, line.count <= Self.atOnce, self.isWritable {
            let count = unsafe line.withUnsafeBufferPointer { bytes in
                unsafe Glibc.write(self.descriptor, bytes.baseAddress, bytes.count)
            }
            // An error other than these will not pass, and nobody can be told of it.
            if count == line.count || count < 0 && errno != EAGAIN && errno != EINTR { return false }
            line = line.dropFirst(max(count, 0))
        } else if self.queue.count + line.count > self.limit {
            self.dropped += 1
            return true
        }
        self.queue += line
        self.startThread()
        unsafe pthread_cond_signal(self.work)
        return false
    }

    private var isWritable: Bool {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    private func startThread() {
        guard !self.hasThread else { return }
        self.hasThread = true
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        if unsafe pthread_create(&thread, nil, LogWriter.body, context) == 0 {
            pthread_detach(thread)
        } else {
            // The next line tries again.
            unsafe Unmanaged<LogWriter>.fromOpaque(context).release()
            self.hasThread = false
        }
    }

    // MARK: The thread

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context = unsafe context else { return nil }
        let writer = unsafe Unmanaged<LogWriter>.fromOpaque(context).takeRetainedValue()
        _ = unsafe clinux_set_thread_name("log")
        writer.writeForever()
        return nil
    }

    private func writeForever() {
        unsafe pthread_mutex_lock(self.mutex)
        while true {
            while self.queue.isEmpty, self.dropped == 0 {
                unsafe pthread_cond_broadcast(self.rest)
                unsafe pthread_cond_wait(self.work, self.mutex)
            }
            var batch: [UInt8] = []
            swap(&batch, &self.queue)
            let dropped = self.dropped
            self.dropped = 0
            self.isWriting = true
            unsafe pthread_mutex_unlock(self.mutex)
            // What was dropped had come after all that waited.
            if dropped > 0 { batch += self.notice(dropped) }
            self.writeAll(batch)
            unsafe pthread_mutex_lock(self.mutex)
            self.isWriting = false
        }
    }

    private func writeAll(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            var done = 0
            while done < bytes.count {
                let count = unsafe Glibc.write(self.descriptor, start + done, bytes.count - done)
                if count >= 0 {
                    done += count
                } else if errno == EAGAIN {
                    var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&entry, 1, -1)
                } else if errno != EINTR {
                    return
                }
            }
        }
    }
}
