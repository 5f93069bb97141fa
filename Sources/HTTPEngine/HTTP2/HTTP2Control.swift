// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import ServiceRuntime
import Synchronization

/// Makes a server's HTTP/2 connections misbehave in the ways that real push services do. For simulators and tests.
///
/// Given to a server, it sees each request before its handler does and can act on all connections from any thread.
package final class HTTP2Control: Sendable {
    /// Where a request came in.
    package struct Place: Sendable, Hashable {
        /// Counts the connections that the control has seen, from 1.
        package let connection: Int
        /// The stream's number on it.
        package let stream: Int32
        /// Streams open on the connection, this one included.
        package let openStreams: Int
    }

    /// What is to happen to a request.
    package enum Verdict: Sendable {
        /// The handler answers.
        case serve
        /// Nobody answers; the stream stays open until the client gives up or the deadline passes.
        case withhold
        /// The stream is reset.
        case reset(HTTP2ErrorCode)
        /// GOAWAY is sent; streams up to `lastStream` (nil: up to this one) go on, later ones are dropped: no handler sees
        /// them any more, and the client may send them again.
        case goAway(HTTP2ErrorCode, debugData: [UInt8] = [], lastStream: Int32? = nil)
        /// The connection is cut without a word.
        case cut
    }

    private struct Entry: Sendable {
        weak var session: HTTP2ServerSession?
        let loop: EventLoop
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var decide: (@Sendable (HTTPRequest, Place) -> Verdict)?
        var maxConcurrentStreams: Int?
    }

    private let state = Locked(State())
    private let connections = Atomic<Int>(0)
    private let peak = Atomic<Int>(0)

    /// A control that changes nothing yet.
    /// - Parameter maxConcurrentStreams: announced to new connections; nil: the server's limit.
    package init(maxConcurrentStreams: Int? = nil) {
        if let maxConcurrentStreams { state.withLock { $0.maxConcurrentStreams = maxConcurrentStreams } }
    }

    /// Sets what decides about each request; nil serves all.
    package func decide(_ body: (@Sendable (HTTPRequest, Place) -> Verdict)?) {
        state.withLock { $0.decide = body }
    }

    /// Announces another limit on every connection, now and later.
    package func setMaxConcurrentStreams(_ count: Int) {
        state.withLock { $0.maxConcurrentStreams = count }
        each { session in session.announce(maxConcurrentStreams: count) }
    }

    /// Sends GOAWAY on every connection.
    /// - Parameter lastStream: streams above it are dropped; nil: those seen so far go on.
    package func goAway(_ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [], lastStream: Int32? = nil) {
        each { session in session.misbehave(.goAway(code, debugData: debugData, lastStream: lastStream)) }
    }

    /// Resets every open stream.
    package func resetAll(_ code: HTTP2ErrorCode) {
        each { session in
            for stream in session.streams { session.session.reset(stream.number, code) }
            session.pump()
        }
    }

    /// Cuts every connection without a word.
    package func cutAll() {
        each { session in session.misbehave(.cut) }
    }

    /// How many connections there were.
    package var connectionCount: Int { connections.load(ordering: .relaxed) }
    /// The most streams that were ever open on one connection.
    package var peakStreams: Int { peak.load(ordering: .relaxed) }

    // MARK: Sessions

    var maxConcurrentStreams: Int? { state.withLock { $0.maxConcurrentStreams } }

    func nextConnectionNumber() -> Int { connections.add(1, ordering: .relaxed).newValue }

    func register(_ session: HTTP2ServerSession) {
        state.withLock { state in
            state.entries.removeAll { $0.session == nil }
            state.entries.append(Entry(session: session, loop: session.loop))
        }
    }

    func verdict(_ request: HTTPRequest, _ place: Place) -> Verdict {
        if place.openStreams > peak.load(ordering: .relaxed) { peak.store(place.openStreams, ordering: .relaxed) }
        return state.withLock { $0.decide }?(request, place) ?? .serve
    }

    private func each(_ body: @escaping @Sendable (HTTP2ServerSession) -> Void) {
        for entry in state.withLock({ $0.entries }) {
            entry.loop.execute {
                if let session = entry.session, !session.isDead { body(session) }
            }
        }
    }
}

extension HTTP2ServerSession {
    /// Asks the control about a request.
    ///
    /// - Returns: whether the handler is to answer it.
    func obey(_ control: HTTP2Control, _ request: HTTPRequest, _ stream: HTTP2ServerStream) -> Bool {
        let place = HTTP2Control.Place(
            connection: connectionNumber,
            stream: stream.number,
            openStreams: streams.count
        )
        let verdict = control.verdict(request, place)
        switch verdict {
        case .serve: return true
        case .withhold: return false
        case .reset(let code):
            session.reset(stream.number, code)
            return false
        case .goAway(let code, let debugData, let lastStream):
            misbehave(.goAway(code, debugData: debugData, lastStream: lastStream ?? stream.number))
            return stream.number <= lastStream ?? stream.number
        case .cut:
            misbehave(.cut)
            return false
        }
    }

    func misbehave(_ verdict: HTTP2Control.Verdict) {
        switch verdict {
        case .goAway(let code, let debugData, let lastStream):
            goAway(lastStream: lastStream ?? session.lastProcessedStream, code: code, debugData: debugData)
            pump()
        case .cut: transport.abort()
        case .serve, .withhold, .reset: break
        }
    }

    func announce(maxConcurrentStreams: Int) {
        _ = session.submitSettings([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams)])
        pump()
    }
}
