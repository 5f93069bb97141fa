// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// SIGTERM, SIGINT and SIGHUP as events of a loop instead of interruptions of a random thread.
package enum ProcessSignals {
    /// What the operator asks for.
    package enum Request: Sendable {
        /// SIGTERM or SIGINT for the first time: drain and end.
        case stop
        /// SIGTERM or SIGINT again: end at once.
        case stopNow
        /// SIGHUP: read certificates and configuration again.
        case reload
    }

    /// Takes the signals away from the process's threads. Must come before the first thread is started: threads inherit
    /// the mask of their maker. Ignores SIGPIPE too.
    package static func prepare() {
        self.ignoreBrokenPipes()
        // A shell ignores some of them for what it starts in the background, as nohup does SIGHUP: then none would come.
        for request in self.requests { signal(request, SIG_DFL) }
        var mask = self.mask()
        unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
    }

    /// Ignores SIGPIPE: a peer that closes early costs an error code, not the process. All that a command needs which ends
    /// by itself: the other signals end it as they do any program.
    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Ends the process as SIGPIPE ends those that don't ignore it: whoever read its output has gone.
    package static func endForBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(128 + SIGPIPE)
    }

    /// Calls a handler on the loop for each request. The loop must not be stopped before the process ends.
    ///
    /// When the system has no descriptor or no place in epoll for it, the signals end the process as they end any other: one
    /// that heeds none could only be killed.
    package static func watch(on loop: EventLoop, _ handler: @escaping @Sendable (Request) -> Void) {
        loop.execute {
            var mask = self.mask()
            let descriptor = unsafe signalfd(-1, &mask, Int32(CLINUX_SFD_CLOEXEC | CLINUX_SFD_NONBLOCK))
            guard descriptor >= 0 else { return self.letThrough() }
            let reader = Reader(descriptor: descriptor, handler: handler)
            do throws(SystemError) { reader.watch = try loop.watch(descriptor, .readable, reader) } catch {
                close(descriptor)
                self.letThrough()
            }
        }
    }

    /// Lets the signals come to this thread.
    private static func letThrough() {
        var mask = self.mask()
        unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    private static let requests = [SIGTERM, SIGINT, SIGHUP]

    private static func mask() -> sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for signal in self.requests { unsafe sigaddset(&mask, signal) }
        return mask
    }

    private final class Reader: ReadinessHandler {
        let descriptor: Int32
        let handler: @Sendable (Request) -> Void
        var watch: Watch?
        var stops = 0

        init(descriptor: Int32, handler: @escaping @Sendable (Request) -> Void) {
            self.descriptor = descriptor
            self.handler = handler
        }

        func ready(_ readiness: Readiness) {
            var info = signalfd_siginfo()
            while unsafe read(self.descriptor, &info, MemoryLayout<signalfd_siginfo>.size)
                == MemoryLayout<signalfd_siginfo>.size
            {
                if Int32(info.ssi_signo) == SIGHUP {
                    self.handler(.reload)
                } else {
                    self.stops += 1
                    self.handler(self.stops == 1 ? .stop : .stopNow)
                }
            }
        }
    }
}
