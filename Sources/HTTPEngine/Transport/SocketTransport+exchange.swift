// SPDX-License-Identifier: Apache-2.0
import CLinux
import Cryptography
import Glibc
import ServiceRuntime

extension SocketTransport {
    /// Reads of one turn; then other connections have theirs.
    private static let readsPerTurn = 16
    /// Bytes sent in one turn.
    private static let bytesPerTurn = 1024 * 1024
    /// The most plain bytes of a TLS record (RFC 8446 5.1).
    private static let recordBytes = 16 * 1024

    private enum Transfer {
        case bytes(Int)
        case wouldBlock
        case end
        case failed(TransportClosure)
    }

    // MARK: Receiving

    /// Reads what there is and hands it over.
    func receive() {
        var turns = Self.readsPerTurn
        while turns > 0, !hasReceivedEnd, state != .closed, !(isPaused && state == .open), !isDismissed {
            turns -= 1
            switch readOnce() {
            case .wouldBlock: return
            case .bytes(let count):
                if state == .open {
                    unsafe delegate?.transportReceived(
                        RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffers.input[..<count]))
                    )
                }
                // A socket that gave less than asked for is empty; should more have come, the loop says so.
                if tls == nil, unsafe count < buffers.input.count { return }
            case .end:
                hasReceivedEnd = true
                switch state {
                case .open: delegate?.transportReceivedEnd()
                case .lingering: end(.local)
                default: break
                }
            case .failed(let reason):
                end(state == .lingering ? .local : reason)
            }
        }
        // The loop tells again of what the socket holds, but not of what OpenSSL holds.
        if turns == 0, let tls, state == .open, !isPaused, tls.hasBufferedInput {
            loop.execute { [self] in
                if state == .open, !isPaused { inside { receive() } }
            }
        }
    }

    /// Reads now what the kernel already has, for an owner that is about to end the connection.
    func receivePending() {
        guard state == .open, !isPaused, depth == 0 else { return }
        inside { receive() }
    }

    private func readOnce() -> Transfer {
        // Once our side is shut TLS is over; its records need not be opened to be dropped.
        guard let tls, state != .lingering else {
            let count = unsafe read(descriptor, buffers.input.baseAddress, buffers.input.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed(Self.closure("read", errno))
        }
        do {
            switch try unsafe tls.read(into: buffers.input) {
            case .bytes(let count): return .bytes(count)
            case .wantsRead: return .wouldBlock
            case .wantsWrite:
                readWantsWrite = true
                return .wouldBlock
            case .closed: return .end
            }
        } catch {
            return .failed(Self.closure(error))
        }
    }

    /// A connection that ended without TLS's goodbye is a peer that went away, as many do.
    private static func closure(_ error: CryptographyError) -> TransportClosure {
        error.code == .truncated || error.code == .connectionLost ? .peer : .tls(error)
    }

    private static func closure(_ operation: String, _ code: Int32) -> TransportClosure {
        code == ECONNRESET || code == EPIPE ? .peer : .system(SystemError(operation: operation, errno: code))
    }

    // MARK: Sending

    /// Queues bytes; long ones by reference.
    package func write(_ bytes: [UInt8]) { write(bytes, from: 0, to: bytes.count) }

    /// Queues a range of an array; a long one by reference.
    package func write(_ bytes: [UInt8], from start: Int, to end: Int) {
        guard isOpen else { return }
        queue.append(bytes, from: start, to: end)
        afterWriting()
    }

    /// Queues several pieces.
    package func write(_ chunks: [[UInt8]]) {
        guard isOpen else { return }
        for chunk in chunks { queue.append(chunk, from: 0, to: chunk.count) }
        afterWriting()
    }

    /// Queues a copy of borrowed bytes.
    package func write(copying bytes: UnsafeRawBufferPointer) {
        guard isOpen else { return }
        unsafe queue.append(copying: bytes)
        afterWriting()
    }

    /// Queues what `write` adds to the buffer that small pieces share: saves a buffer that is made only to be copied.
    func gather(_ write: (inout [UInt8]) -> Void) {
        guard isOpen else { return }
        queue.gather(write)
        afterWriting()
    }

    private func afterWriting() {
        if queue.count > settings.highWater { isAboveHighWaterOnce = true }
        // Inside a call the end of it sends; a blocked queue is sent when the kernel says so.
        if depth == 0, !isBlocked, !isFlushing { scheduleFlush() }
    }

    /// Sends at the end of the loop's turn, together with what others still write meanwhile.
    private func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        loop.execute { [self] in
            isFlushScheduled = false
            guard state != .closed else { return }
            flush()
            updateInterest()
        }
    }

    /// Sends as much as the kernel takes.
    package func flush() {
        guard !isFlushing, state == .open || state == .flushing else { return }
        isFlushing = true
        var budget = Self.bytesPerTurn
        while state != .closed {
            sendQueue(&budget)
            guard state == .open, isAboveHighWaterOnce, queue.count <= settings.lowWater else { break }
            isAboveHighWaterOnce = false
            delegate?.transportWritable()
            if queue.isEmpty || isBlocked { break }
        }
        isFlushing = false
        guard state != .closed else { return }
        if queue.isEmpty {
            // TLS's goodbye may still wait for room, in the time that the peer has had since it first did: what the peer says
            // meanwhile must not begin it anew.
            if state == .flushing { return finishFlushing() }
            // Time without anything to take does not count.
            if let stall = timer {
                stall.cancel()
                timer = nil
            }
        } else if isDismissed {
            end(.local)
        } else if isBlocked {
            armStallTimer()
        } else {
            // More than a turn's worth: others first.
            scheduleFlush()
        }
    }

    private func sendQueue(_ budget: inout Int) {
        while !queue.isEmpty, !isBlocked, budget > 0 {
            switch writeOnce() {
            case .bytes(let count):
                budget -= count
                acceptedBytes += count
            case .wouldBlock: isBlocked = true
            case .end: return end(.peer)
            case .failed(let reason): return end(reason)
            }
        }
        if isBlocked { updateInterest() }
    }

    private func writeOnce() -> Transfer {
        guard let tls else {
            let count = queue.write(to: descriptor)
            if count >= 0 { return .bytes(count) }
            let code = Int32(-count)
            if code == EINTR { return .bytes(0) }
            return code == EAGAIN ? .wouldBlock : .failed(Self.closure("write", code))
        }
        do {
            let transfer = try unsafe queue.withPrefix(limit: Self.recordBytes, scratch: buffers.record) { bytes in
                Result { () throws(CryptographyError) in try unsafe tls.write(bytes) }
            }
            switch transfer {
            case .bytes(let count):
                queue.consume(count)
                return .bytes(count)
            case .wantsRead:
                writeWantsRead = true
                return .wouldBlock
            case .wantsWrite: return .wouldBlock
            case .closed: return .end
            }
        } catch {
            return .failed(Self.closure(error))
        }
    }

    /// Sees to it that a peer that takes nothing, or next to nothing, does not hold its queue for ever. One timer, set only
    /// while stuck.
    func armStallTimer() {
        guard timer == nil else { return }
        let before = takenBytes
        timer = loop.schedule(at: loop.now + settings.writeTimeout) { [unowned self] in
            timer = nil
            guard !queue.isEmpty && state == .open || state == .flushing else { return }
            let least = settings.writeTimeout.inSeconds * Double(settings.minimumWriteRate)
            if Double(takenBytes - before) < max(1, least) {
                end(.writeStalled)
            } else {
                armStallTimer()
            }
        }
    }

    /// Bytes that the peer has acknowledged. What the kernel accepted says little: it takes a third of its buffer at once,
    /// which may be more than a slow link carries in a minute, and then nothing for as long.
    private var takenBytes: Int {
        var waiting: Int32 = 0
        let code = unsafe ioctl(descriptor, UInt(TIOCOUTQ), &waiting)
        return acceptedBytes - (code == 0 ? Int(waiting) : 0)
    }
}
