// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import ServiceRuntime

/// One request and its answer on a server's HTTP/2 connection. Loop-confined; owned by its session.
///
/// nghttp2 carries a reference to it, so that a frame finds its stream without a look-up.
@safe
final class HTTP2ServerStream {
    enum Phase {
        /// The header block is coming in.
        case head
        /// The body is coming in.
        case body
        /// The whole request waits for its handler to be started: too much is queued for this peer.
        case deferred
        /// The handler has it.
        case handling
        /// The answer is on its way; what still comes in is dropped.
        case answering
        /// The whole answer is out and the request still comes in. It is dropped for a while before the stream is reset:
        /// clients that are busy sending (curl 7.88) take a reset for the end and forget the answer.
        case lingering
    }

    let number: Int32
    /// Where it stands in the session's list.
    var index: Int
    var phase = Phase.head
    let startedAt: MonotonicTime

    var method = ""
    var target = ""
    var authority: String?
    var fields = HTTPFields()
    /// What the answer says in `Request-Id`; known when the request is whole or refused.
    var requestIdentifier = ""
    var headerBytes = 0
    /// Set when the request is refused whatever its route says.
    var refusal: Problem?
    var match: RouteMatch?

    var body: [UInt8] = []
    /// Bytes of the body that the handler has.
    var handedOver = 0
    var bodyStartedAt = MonotonicTime(nanoseconds: 0)
    enum Gate { case closed, asked, open }
    /// Whether the rest of the body may come.
    var gate = Gate.open
    /// Bytes of the stream's window that are held back while the connection buffers too much.
    var heldWindow = 0
    /// Whether the peer waits for us before it may send on.
    var isHeldUp: Bool { gate == .asked || heldWindow > 0 }
    var hasEnded = false

    private var chunks: [[UInt8]] = []
    private var chunkIndex = 0
    private var chunkOffset = 0
    /// Body bytes not yet framed.
    private(set) var remaining = 0
    private(set) var sent = 0
    var answeredAt = MonotonicTime(nanoseconds: 0)
    var lastProgress = MonotonicTime(nanoseconds: 0)

    init(number: Int32, index: Int, startedAt: MonotonicTime) {
        self.number = number
        self.index = index
        self.startedAt = startedAt
    }

    /// Sets what the data provider will give.
    func setResponseBody(_ body: HTTPBody) {
        switch body {
        case .empty: break
        case .bytes(let bytes): chunks = [bytes]
        case .chunks(let pieces): chunks = pieces
        }
        remaining = body.count
    }

    /// Writes the next bytes of the body to the transport, by reference.
    func sendBody(_ length: Int, to transport: SocketTransport) {
        var left = min(length, remaining)
        remaining -= left
        sent += left
        while left > 0 {
            let available = chunks[chunkIndex].count - chunkOffset
            let taken = min(left, available)
            transport.write(chunks[chunkIndex], from: chunkOffset, to: chunkOffset + taken)
            left -= taken
            chunkOffset += taken
            if taken == available {
                // Let go of each piece as soon as it is queued.
                chunks[chunkIndex] = []
                chunkIndex += 1
                chunkOffset = 0
            }
        }
    }
}
