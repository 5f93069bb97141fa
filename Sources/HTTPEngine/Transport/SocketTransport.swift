// SPDX-License-Identifier: Apache-2.0
import CLinux
package import Cryptography
import Glibc
package import ServiceRuntime

/// A connected, non-blocking stream socket on an event loop, with or without TLS.
///
/// It reads when the socket has something, queues what is written and sends it in as few system calls as it can: once at the
/// end of a delegate's call or of the loop's turn. The kernel is asked about writability only while something is stuck.
@safe
package final class SocketTransport: ReadinessHandler, @unchecked Sendable {
    // Sendable by rule: every property is touched on the loop's thread only.

    /// Deadlines and water marks.
    package struct Settings: Sendable {
        /// From `start` to the end of the TLS handshake.
        package var handshakeTimeout: Duration = .seconds(10)
        /// While bytes wait for the peer, it has to take some in each period of this length.
        package var writeTimeout: Duration = .seconds(20)
        /// How many it has to take, in bytes a second on the average of such a period; 1 at least.
        package var minimumWriteRate = 1
        /// How long `close` waits for the peer's end after the last byte was sent.
        package var lingerTimeout: Duration = .seconds(2)
        /// Above so many queued bytes `isAboveHighWater` is true.
        package var highWater = 256 * 1024
        /// Once below so many again, the delegate hears `transportWritable`.
        package var lowWater = 64 * 1024

        /// The defaults.
        package init() {}
    }

    enum State {
        case idle
        case handshaking
        case open
        /// No more is taken from either side; what is queued is still sent.
        case flushing
        /// All is sent and our side shut; the peer's rest is read and dropped, or the kernel would answer it with a reset
        /// that could overtake our last bytes.
        case lingering
        case closed
    }

    /// The loop.
    package let loop: EventLoop
    /// Told of everything; held until `transportClosed`.
    var delegate: (any SocketTransportDelegate)?

    let settings: Settings
    let descriptor: Int32
    let tls: TLSSession?
    let buffers: LoopBuffers

    var state = State.idle
    /// A value with no way back to its owner: no call on it can meet another, so the runtime need not look.
    @safe @exclusivity(unchecked) var queue = OutputQueue()
    var isPaused = false
    var hasReceivedEnd = false
    /// Whether the kernel took less than was offered.
    var isBlocked = false
    /// OpenSSL has to read before it can write on, and the reverse: a key update.
    var writeWantsRead = false
    var readWantsWrite = false
    var isAboveHighWaterOnce = false
    var isFlushing = false
    var isFlushScheduled = false
    /// Whether the peer is let go for what it did: nothing of it is read any more.
    var isDismissed = false
    /// Inside `ready` or a timer: what is written is sent at the end of it.
    var depth = 0
    /// Bytes that the kernel has accepted since the beginning.
    var acceptedBytes = 0
    private var watch: Watch?
    /// Whether the loop was last told that reading is of interest and nothing else.
    private var isReadOnly = true
    var timer: ServiceRuntime.Timer?

    /// Takes over a connected, non-blocking descriptor. On any thread; everything else is the loop's.
    package init(
        takingOwnership descriptor: Int32,
        loop: EventLoop,
        tls: TLSSession? = nil,
        settings: Settings = .init()
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.tls = tls
        self.settings = settings
        buffers = LoopBuffers.of(loop)
    }

    deinit {
        if state != .closed { _ = Glibc.close(descriptor) }
    }

    // MARK: What the owner sees

    /// Whether bytes are encrypted.
    package var isSecure: Bool { tls != nil }
    /// The protocol agreed on by ALPN, after `transportReady`.
    package var applicationProtocol: String? { tls?.applicationProtocol }
    /// The peer's certificate, after `transportReady`.
    package var peerCertificate: Certificate? { tls?.peerCertificate }
    /// Whether the peer's certificate leads to a trusted root.
    package var isPeerVerified: Bool { tls?.peerVerified ?? false }
    /// Bytes written to the transport and not yet taken by the kernel.
    package var queuedBytes: Int { queue.count }
    /// Whether the owner should stop producing until `transportWritable`.
    package var isAboveHighWater: Bool { queue.count > settings.highWater }
    /// Whether writing still makes sense.
    package var isOpen: Bool { state == .open || state == .handshaking }
    /// Whether it has come to its end.
    package var isClosed: Bool { state == .closed }

    // MARK: Start

    /// Puts the descriptor on the loop and begins the TLS handshake if there is one.
    package func start(_ delegate: any SocketTransportDelegate) {
        loop.preconditionOnLoop()
        guard state == .idle else { return }
        self.delegate = delegate
        do {
            watch = try loop.watch(descriptor, .readable, self)
        } catch {
            end(.system(error))
            return
        }
        guard tls != nil else {
            state = .open
            inside { delegate.transportReady() }
            return
        }
        state = .handshaking
        timer = loop.schedule(after: settings.handshakeTimeout) { [unowned self] in
            timer = nil
            if state == .handshaking { end(.handshakeTimeout) }
        }
        inside { advanceHandshake() }
    }

    private func advanceHandshake() {
        guard let tls else { return }
        do {
            switch try tls.handshake() {
            case .wantsRead: isBlocked = false
            case .wantsWrite: isBlocked = true
            case .done:
                isBlocked = false
                timer?.cancel()
                timer = nil
                state = .open
                delegate?.transportReady()
            }
        } catch {
            end(.tls(error))
        }
    }

    /// Runs a step of the transport and sends, at its end, what was written meanwhile.
    func inside(_ step: () -> Void) {
        depth += 1
        step()
        depth -= 1
        guard depth == 0, state != .closed else { return }
        flush()
        updateInterest()
    }

    // MARK: Readiness

    package func ready(_ readiness: Readiness) {
        inside {
            if state == .handshaking {
                if readiness.contains(.hangup), !readiness.contains(.readable) { return endAfterHangup() }
                advanceHandshake()
                // What came with the last handshake record is reported again by the level-triggered loop.
                return
            }
            if readiness.contains(.writable) || (writeWantsRead && readiness.contains(.readable)) {
                isBlocked = false
                writeWantsRead = false
            }
            let mayRead =
                readiness.contains(.readable) || readiness.contains(.hangup)
                || (readWantsWrite && readiness.contains(.writable))
            if mayRead {
                if isPaused, state == .open {
                    // Asked for nothing and got something: only now is it worth a system call not to hear it again.
                    dropReadable()
                } else {
                    readWantsWrite = false
                    receive()
                }
            }
            // Both directions are gone. What had come before is read by now, unless there is more than one turn's worth.
            if readiness.contains(.hangup), isPaused || hasReceivedEnd || isDismissed || state == .flushing {
                endAfterHangup()
            }
        }
    }

    private func endAfterHangup() {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        end(result == 0 && code != 0 ? .system(SystemError(operation: "socket", errno: code)) : .peer)
    }

    /// Stops reading, so that a peer that sends faster than it is served is held up by TCP.
    package func pauseReading() { isPaused = true }

    /// Reads on.
    package func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        guard depth == 0 else { return }
        updateInterest()
        if let tls, state == .open, tls.hasBufferedInput {
            loop.execute { [self] in
                if state == .open, !isPaused { inside { receive() } }
            }
        }
    }

    private func dropReadable() {
        guard let watch else { return }
        loop.change(watch, to: watch.interest.subtracting(.readable))
        isReadOnly = false
    }

    /// Tells the loop what is of interest. A paused transport keeps its interest until something really comes.
    func updateInterest() {
        // As nearly always: reading, nothing stuck, and the loop was told so.
        if isReadOnly, !isPaused, !hasReceivedEnd, !isDismissed, !isBlocked, !readWantsWrite { return }
        guard let watch, state != .closed else { return }
        var interest = watch.interest.intersection(.readable)
        if hasReceivedEnd || isDismissed {
            interest = []
        } else if !isPaused || state != .open {
            interest = .readable
        }
        if isBlocked && !writeWantsRead || readWantsWrite { interest.insert(.writable) }
        loop.change(watch, to: interest)
        isReadOnly = interest == .readable
    }

    // MARK: End

    /// Sends what is queued, says goodbye, and closes. Nothing more is delivered but `transportClosed`.
    package func close() {
        switch state {
        case .idle, .handshaking: end(.local)
        case .open:
            state = .flushing
            if depth == 0 { inside {} }
        case .flushing, .lingering, .closed: break
        }
    }

    /// How long a dismissed peer has for our last bytes before the connection is cut.
    private static let dismissalTime: Duration = .milliseconds(250)

    /// Sends of what is queued as much as the kernel takes at once, and closes without reading on: for a peer that floods.
    package func dismiss() {
        guard state == .open else { return close() }
        isDismissed = true
        close()
    }

    /// Closes at once and drops what is queued.
    package func abort() { end(.local) }

    /// Our side is sent: shut it and wait for the peer's end.
    func finishFlushing() {
        if let tls, !tls.close(), !isDismissed {
            // TLS's goodbye is one more piece that waits for room.
            isBlocked = true
            armStallTimer()
            return updateInterest()
        }
        shutdown(descriptor, Int32(SHUT_WR))
        guard !hasReceivedEnd else { return end(.local) }
        state = .lingering
        timer?.cancel()
        let time = isDismissed ? min(settings.lingerTimeout, Self.dismissalTime) : settings.lingerTimeout
        timer = loop.schedule(after: time) { [unowned self] in
            timer = nil
            end(.local)
        }
    }

    /// The one way to the end.
    func end(_ reason: TransportClosure) {
        guard state != .closed else { return }
        loop.preconditionOnLoop()
        state = .closed
        timer?.cancel()
        timer = nil
        if let watch { loop.unwatch(watch) }
        watch = nil
        queue.removeAll()
        _ = Glibc.close(descriptor)
        // Told later in the turn, so that no delegate finds itself called from inside its own call.
        loop.execute { [self] in
            let delegate = delegate
            self.delegate = nil
            delegate?.transportClosed(reason)
        }
    }
}
