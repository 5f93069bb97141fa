// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// Takes connections from the kernel, on one loop, and hands them to all loops in turn.
///
/// One acceptor and not a socket a loop with SO_REUSEPORT: the kernel's hash spreads few long connections badly, and the caps
/// are counted in one place.
final class Acceptor: ReadinessHandler {
    /// What the kernel says to `accept`.
    enum Outcome {
        case connection(Int32, PeerAddress)
        /// Nobody waits.
        case none
        /// The one that waited is gone again, or a signal came.
        case gone
        /// There is no descriptor or no memory for who waits, or the socket is broken.
        case failed(SystemError)
    }

    /// How many are taken in one go before the loop's connections get their turn.
    private static let batch = 64
    /// How long nothing is accepted when the kernel has no descriptor or memory to give.
    private static let pause: Duration = .milliseconds(100)

    private let listener: Listener
    private let loop: EventLoop
    private let admission: Admission
    private let refusal: [UInt8]?
    private let take: (Int32, PeerAddress) -> Void
    private let accept: (Listener) -> Outcome
    private let logger: Logger
    private var watch: Watch?
    private var timer: ServiceRuntime.Timer?
    /// A descriptor kept back, so that there is one to refuse with when there are no more.
    private var reserve: Int32
    // short: words of ours.
    private var lastWarning: [String: MonotonicTime] = [:]

    /// Makes an acceptor.
    ///
    /// - Parameters:
    ///   - refusal: said to who is one too many before the connection is closed; nil: nothing.
    ///   - accept: takes the next connection; another one than the kernel's is for tests.
    ///   - take: gets each admitted connection, on the acceptor's loop.
    init(
        listener: Listener,
        loop: EventLoop,
        admission: Admission,
        refusal: [UInt8]? = nil,
        logger: Logger,
        accept: @escaping (Listener) -> Outcome = Acceptor.acceptNext,
        take: @escaping (Int32, PeerAddress) -> Void
    ) {
        self.listener = listener
        self.loop = loop
        self.admission = admission
        self.refusal = refusal
        self.take = take
        self.accept = accept
        self.logger = logger
        self.reserve = Self.openReserve()
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
        // Who stands in the kernel's queue has been promised a connection, and may have sent a request. Those who come
        // meanwhile have not: the queue is looked through once.
        var rounds = Int(self.listener.backlog) / Self.batch + 1
        while rounds > 0, self.takeBatch() { rounds -= 1 }
        self.timer?.cancel()
        self.timer = nil
        self.loop.unwatch(watch)
        self.watch = nil
        self.listener.close()
    }

    func ready(_ readiness: Readiness) { _ = self.takeBatch() }

    /// - Returns: whether more may wait.
    private func takeBatch() -> Bool {
        for _ in 0..<Self.batch {
            switch self.accept(self.listener) {
            case .none: return false
            // Concerns one connection only.
            case .gone: continue
            case .failed(let error):
                self.makeRoom(error)
                return false
            case .connection(let descriptor, let peer):
                if self.admission.admit(peer) {
                    self.take(descriptor, peer)
                } else {
                    self.refuse(descriptor)
                }
            }
        }
        return true
    }

    /// The next connection in the kernel's queue.
    static func acceptNext(_ listener: Listener) -> Outcome {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe accept4(
                    listener.descriptor,
                    address,
                    &length,
                    Int32(CLINUX_SOCK_NONBLOCK) | Int32(CLINUX_SOCK_CLOEXEC)
                )
            }
        }
        if descriptor >= 0 {
            let peer = unsafe withUnsafeBytes(of: &storage) { PeerAddress(unsafe Array($0.prefix(Int(length)))) }
            return .connection(descriptor, peer)
        }
        switch errno {
        case EAGAIN: return .none
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, EBADF, EINVAL: return .failed(SystemError.last("accept"))
        // Errors of the network that belong to the connection that would have come (accept(2)).
        default: return .gone
        }
    }

    /// Tells who is one too many so, and closes. Nothing waits: what doesn't fit into the socket's empty buffer is not said.
    private func refuse(_ descriptor: Int32) {
        if let refusal = self.refusal {
            unsafe refusal.withUnsafeBytes { bytes in
                _ = unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            // A request that is here already is read, or closing would be a reset, which overtakes the answer.
            var scratch: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            unsafe withUnsafeMutableBytes(of: &scratch) { bytes in
                var left = 64
                while left > 0, unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count { left -= 1 }
            }
        }
        _ = Glibc.close(descriptor)
        self.warn("too many connections: further ones are refused")
    }

    /// Without a free descriptor `accept` fails for ever and the loop would spin: free one, take the connection, close it.
    private func makeRoom(_ error: SystemError) {
        self.warn("connections are refused: \(error)")
        if self.reserve >= 0, error.errno == EMFILE || error.errno == ENFILE {
            _ = Glibc.close(self.reserve)
            let outcome = self.accept(self.listener)
            if case .connection(let descriptor, _) = outcome { _ = Glibc.close(descriptor) }
            self.reserve = Self.openReserve()
            if case .failed = outcome {} else if self.reserve >= 0 { return }
        }
        // Nothing to refuse with. The queue stays as it is, so the loop would be back here at once: not before a while.
        guard self.timer == nil, let watch = self.watch else { return }
        self.loop.change(watch, to: [])
        self.timer = self.loop.schedule(after: Self.pause) { [weak self] in
            guard let self else { return }
            self.timer = nil
            if self.reserve < 0 { self.reserve = Self.openReserve() }
            if let watch = self.watch { self.loop.change(watch, to: .readable) }
        }
    }

    private static func openReserve() -> Int32 { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

    /// Once a second: the connections that bring this about come by the thousand.
    private func warn(_ message: String) {
        if let last = self.lastWarning[message], self.loop.now - last < .seconds(1) { return }
        self.lastWarning[message] = self.loop.now
        self.logger.warning(message)
    }
}
