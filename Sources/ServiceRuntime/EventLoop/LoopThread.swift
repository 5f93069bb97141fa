// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The threads that loops run on, and the way from a thread to its loop.
internal enum LoopThread {
    /// The thread-local slot that holds the loop of a thread.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// The loop that runs on the calling thread.
    static var currentLoop: EventLoop? {
        guard let pointer = unsafe pthread_getspecific(self.key) else { return nil }
        return unsafe Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Starts a thread that runs a loop until it ends. The thread keeps the loop alive.
    static func start(running loop: EventLoop) -> (thread: pthread_t, error: SystemError?) {
        // A peer that closes early must cost an error code, not the process.
        signal(SIGPIPE, SIG_IGN)
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(loop).toOpaque()
        let code = unsafe pthread_create(&thread, nil, self.body, context)
        if code != 0 {
            unsafe Unmanaged<EventLoop>.fromOpaque(context).release()
            return (0, SystemError(operation: "pthread_create", errno: code))
        }
        pthread_detach(thread)
        return (thread, nil)
    }

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        guard let context = unsafe context else { return nil }
        unsafe pthread_setspecific(LoopThread.key, context)
        let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
        unsafe _ = clinux_set_thread_name(loop.name)
        loop.runForever()
        pthread_setspecific(LoopThread.key, nil)
        return nil
    }
}
