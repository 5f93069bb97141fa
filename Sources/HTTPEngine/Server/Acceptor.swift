// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// Takes connections from the kernel, on one loop, and hands them to all loops in turn.
///
/// One acceptor and not a socket a loop with SO_REUSEPORT: the kernel's hash spreads few long connections badly, and the caps
/// are counted in one place.
final class Acceptor: ReadinessHandler {
    /// How many are taken in one go before the loop's connections get their turn.
    private static let batch = 64

    private let listener: Listener
    private let loop: EventLoop
    private let admission: Admission
    private let take: (Int32, PeerAddress) -> Void
    private let logger: Logger
    private var watch: Watch?
    /// A descriptor kept back, so that there is one to refuse with when there are no more.
    private var reserve: Int32
    private var lastWarning = MonotonicTime(nanoseconds: 0)

    /// Makes an acceptor; `take` gets each admitted connection, on the acceptor's loop.
    init(
        listener: Listener,
        loop: EventLoop,
        admission: Admission,
        logger: Logger,
        take: @escaping (Int32, PeerAddress) -> Void
    ) {
        self.listener = listener
        self.loop = loop
        self.admission = admission
        self.logger = logger
        self.take = take
        self.reserve = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    deinit {
        if self.reserve >= 0 { _ = Glibc.close(self.reserve) }
    }

    /// Begins to take connections.
    func start() throws(SystemError) {
        self.watch = try self.loop.watch(self.listener.descriptor, .readable, self)
    }

    /// Takes no more, and closes the socket.
    func stop() {
        guard let watch = self.watch else { return }
        // Who stands in the kernel's queue has been promised a connection, and may have sent a request.
        self.ready(.readable)
        self.loop.unwatch(watch)
        self.watch = nil
        self.listener.close()
    }

    func ready(_ readiness: Readiness) {
        for _ in 0..<Self.batch {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let descriptor = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe accept4(
                        self.listener.descriptor,
                        address,
                        &length,
                        Int32(CLINUX_SOCK_NONBLOCK) | Int32(CLINUX_SOCK_CLOEXEC)
                    )
                }
            }
            if descriptor < 0 {
                if errno == EMFILE || errno == ENFILE { self.refuseForWantOfDescriptors() }
                // ECONNABORTED and its like concern one connection only; the rest of the queue comes with the next event.
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            let peer = unsafe withUnsafeBytes(of: &storage) { PeerAddress(unsafe Array($0.prefix(Int(length)))) }
            guard self.admission.admit(peer) else {
                _ = Glibc.close(descriptor)
                continue
            }
            self.take(descriptor, peer)
        }
    }

    /// Without a free descriptor `accept` fails for ever and the loop would spin: free one, take the connection, close it.
    private func refuseForWantOfDescriptors() {
        guard self.reserve >= 0 else { return }
        _ = Glibc.close(self.reserve)
        let descriptor = accept4(self.listener.descriptor, nil, nil, Int32(CLINUX_SOCK_CLOEXEC))
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        self.reserve = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        // Once a second: the connections that bring this about come by the thousand.
        guard self.loop.now - self.lastWarning >= .seconds(1) else { return }
        self.lastWarning = self.loop.now
        self.logger.warning("out of descriptors: connections are refused")
    }
}
