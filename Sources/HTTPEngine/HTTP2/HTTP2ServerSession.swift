// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import ServiceRuntime

/// HTTP/2 on one accepted connection (RFC 9113): requests in, responses out, over nghttp2.
///
/// nghttp2 parses frames and HPACK, checks pseudo headers, header characters and the order of frames, and keeps the windows.
/// Ours are the limits: header list, bodies and what they buffer together, floods, and every deadline.
@safe
final class HTTP2ServerSession: HTTPServerSession, @unchecked Sendable {
    // Sendable by rule: touched on the transport's loop only.

    let transport: SocketTransport
    let limits: HTTPLimits
    let control: HTTP2Control?
    weak var host: (any HTTPServerSessionHost)?
    let session: NGHTTP2Session
    let loop: EventLoop
    let connectionNumber: Int

    var streams: [HTTP2ServerStream] = []
    var flood = HTTP2FloodGuard()
    /// Request bytes of all streams, with those that handlers have.
    var bufferedBytes = 0
    /// Response bytes not yet framed over all streams.
    var pendingBytes = 0
    /// Whole requests that wait until less is pending.
    var deferredStreams = 0
    /// Nothing more goes into or comes out of nghttp2.
    var isDead = false
    /// Why the session has to end, found inside a callback.
    var verdict: (code: HTTP2ErrorCode, message: String)?
    var idleSince: MonotonicTime
    var hasHadRequest = false
    var nextCheck = MonotonicTime.distantFuture
    var lastDataSent = MonotonicTime(nanoseconds: 0)
    var shutdownStartedAt: MonotonicTime?
    var hasSentFinalGoAway = false
    /// The last stream of the GOAWAY that names the lowest: the peer may send later ones again elsewhere.
    private(set) var lastServedStream = Int32.max

    /// - Parameters:
    ///   - control: lets a simulator misbehave on purpose.
    ///   - began: when the connection did: the first request's time runs from there. Nil: now.
    init(
        transport: SocketTransport,
        limits: HTTPLimits,
        host: any HTTPServerSessionHost,
        control: HTTP2Control? = nil,
        began: MonotonicTime? = nil
    ) {
        self.transport = transport
        self.limits = limits
        self.host = host
        self.control = control
        loop = transport.loop
        session = NGHTTP2Session(server: Self.template)
        idleSince = began ?? loop.now
        connectionNumber = control?.nextConnectionNumber() ?? 0
        session.attach(self)
    }

    // MARK: HTTPServerSession

    func start() {
        var settings: [(id: nghttp2_settings_id, value: Int)] = [
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, control?.maxConcurrentStreams ?? limits.streams),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.headerBytes),
            // The tree of RFC 7540 is deprecated and costs work for every stream.
            (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
        ]
        if control == nil { settings.append((NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 0)) }
        guard session.submitSettings(settings) == 0 else { return die(.internalError, "settings refused") }
        control?.register(self)
        expectDeadline(idleSince + limits.headerTimeout)
        pump()
    }

    func received(_ bytes: RawSpan) {
        // In pieces: what a peer provokes is counted when our answer goes out, and one read may hold a thousand streams.
        var start = 0
        while !isDead, start < bytes.byteCount {
            let end = min(start + 8 * 1024, bytes.byteCount)
            let piece = bytes.extracting(start..<end)
            if flood.scan(piece, loop.now) { return dieOfFlood() }
            let code = session.receive(piece)
            if let verdict { return die(verdict.code, verdict.message) }
            guard code == 0 else { return die(Self.errorCode(code), "") }
            if flood.isExceeded { return dieOfFlood() }
            pump()
            start = end
        }
    }

    func receivedEnd() {
        // A client that shuts its side down still gets its answers.
        if streams.isEmpty { transport.close() } else { shutdown() }
    }

    func writable() {
        startDeferred()
        pump()
    }

    func respond(_ response: HTTPResponse, to number: HTTPStreamNumber) {
        guard !isDead, let stream = stream(number), stream.phase == .handling else { return }
        send(response, on: stream)
        pump()
    }

    func shutdown() {
        guard !isDead, shutdownStartedAt == nil else { return }
        shutdownStartedAt = loop.now
        // A notice first: requests that are under way to us are still served (RFC 9113 6.8). The real GOAWAY follows when
        // the PING's answer shows that the notice was read, or after a second.
        unsafe nghttp2_submit_shutdown_notice(session.pointer)
        session.ping(Self.shutdownPing)
        expectDeadline(loop.now + .seconds(1))
        pump()
    }

    // MARK: Output

    /// Moves frames to the transport, and closes it when the session has come to its end.
    func pump() {
        guard !isDead, !session.isInside else { return }
        let code = session.produce(into: transport)
        if let verdict { return die(verdict.code, verdict.message) }
        guard code == 0 else { return die(.internalError, "") }
        if session.isOver {
            isDead = true
            abandonAll()
            transport.close()
        }
    }

    /// Says which stream is the last that is served. Later ones are not, even if nghttp2 still hands them over before the
    /// frame goes out: those that came in the same read.
    func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8] = []) {
        lastServedStream = min(lastServedStream, lastStream)
        session.goAway(lastStream: lastStream, code: code, debugData: debugData)
        for stream in streams where stream.number > lastServedStream && stream.phase == .handling {
            host?.abandon(stream: stream.number)
        }
    }

    /// Ends the connection with a GOAWAY written by hand: nghttp2 accepts nothing more after a fatal error.
    func die(_ code: HTTP2ErrorCode, _ message: String) {
        guard !isDead else { return }
        isDead = true
        transport.write(
            HTTP2RawFrame.goAway(lastStream: session.lastProcessedStream, code: code, debugData: Array(message.utf8))
        )
        // A flood is neither waited for nor read on.
        if code == .enhanceYourCalm { transport.dismiss() } else { transport.close() }
        abandonAll()
    }

    private func dieOfFlood() { die(.enhanceYourCalm, "too many frames that do nothing") }

    private func abandonAll() {
        for stream in streams where stream.phase == .handling { host?.abandon(stream: stream.number) }
        streams = []
    }

    private static func errorCode(_ code: Int32) -> HTTP2ErrorCode {
        switch code {
        case NGHTTP2_ERR_FLOODED.rawValue, NGHTTP2_ERR_TOO_MANY_SETTINGS.rawValue,
            NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue:
            .enhanceYourCalm
        case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: .protocolError
        default: .internalError
        }
    }

    // MARK: Streams

    /// The stream of a number, while it is open.
    func stream(_ number: Int32) -> HTTP2ServerStream? {
        guard let pointer = unsafe nghttp2_session_get_stream_user_data(session.pointer, number) else { return nil }
        return unsafe Unmanaged<HTTP2ServerStream>.fromOpaque(pointer).takeUnretainedValue()
    }

    func add(_ number: Int32) -> HTTP2ServerStream {
        let stream = HTTP2ServerStream(number: number, index: streams.count, startedAt: loop.now)
        streams.append(stream)
        hasHadRequest = true
        flood.forgive(.headers)
        flood.allowWindowUpdates(for: 64)
        expectDeadline(loop.now + limits.headerTimeout)
        return stream
    }

    func remove(_ stream: HTTP2ServerStream) {
        let last = streams.removeLast()
        if last !== stream {
            streams[stream.index] = last
            last.index = stream.index
        }
        dropBody(of: stream)
        forgetHandedOver(stream)
        pendingBytes -= stream.remaining
        if stream.phase == .deferred { deferredStreams -= 1 }
        guard streams.isEmpty else { return }
        idleSince = loop.now
        expectDeadline(idleSince + limits.idleTimeout)
    }

    func expectDeadline(_ time: MonotonicTime) {
        guard time < nextCheck else { return }
        nextCheck = time
        host?.expectDeadline(at: time)
    }

    static let shutdownPing: UInt64 = 0x7368_7574_646f_776e
}
