// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// The number that a session gives to an exchange: the stream in HTTP/2.
typealias HTTPStreamNumber = Int32

/// One protocol spoken on one accepted connection: turns bytes into whole requests and responses into bytes.
///
/// Everything runs on the connection's loop. The session writes to the transport by itself; the host owns the transport,
/// passes on what comes in, runs the handlers and keeps the deadlines.
protocol HTTPServerSession: AnyObject {
    /// Says the first words, if the protocol has any.
    func start()
    /// Bytes came in. They may not be kept.
    func received(_ bytes: RawSpan)
    /// The peer will send no more.
    func receivedEnd()
    /// The transport's queue is below low water again: go on writing, reading and starting requests.
    func writable()
    /// The answer to a request that the session gave to its host. Ignored for a stream that is gone.
    func respond(_ response: HTTPResponse, to stream: HTTPStreamNumber)
    /// A gate's answer: the problem that the body is refused with, or nil. Ignored when the request is gone.
    func gateAnswered(_ problem: Problem?, for stream: HTTPStreamNumber)
    /// Takes no more requests, tells the peer so, and closes the transport once the last answer is sent.
    func shutdown()
    /// Checks what has a deadline: a header or body that is too slow, a connection that is idle. Ends what is overdue.
    ///
    /// Called by the host's timer, which is not re-armed for each request: it fires when the earliest deadline that a session
    /// once told of has come, and asks for the next.
    /// - Returns: when to ask again.
    func checkDeadlines(_ now: MonotonicTime) -> MonotonicTime
}

/// What a session finds around it: the server's connection.
protocol HTTPServerSessionHost: AnyObject {
    /// What a request's head leads to; the body is read within its limit only.
    func match(_ method: HTTPMethod, _ path: String) -> RouteMatch
    /// Runs a whole request. The answer comes back through ``HTTPServerSession/respond(_:to:)``, later or before this returns.
    ///
    /// `remoteAddress`, `isSecure`, `clientCertificate` are filled in by the host; `identifier` comes from the head.
    func perform(_ request: consuming HTTPRequest, _ match: consuming RouteMatch, stream: HTTPStreamNumber)
    /// Asks a gate; its answer comes through ``HTTPServerSession/gateAnswered(_:for:)``, after this has returned.
    func ask(_ gate: @escaping HTTPGate, _ fields: HTTPFields, stream: HTTPStreamNumber)
    /// Counts bytes of a request body in.
    /// - Returns: false when there is no room for them; nothing is counted then.
    func holdBody(_ count: Int) -> Bool
    /// Counts them out: the body is dropped. One that is handed over with its request is the host's to count out, once the
    /// handler is done with it.
    func releaseBody(_ count: Int)
    /// Counts an answer that no handler gave.
    func note(_ refusal: Problem)
    /// Nobody waits for this answer any more: its handler is cancelled.
    func abandon(stream: HTTPStreamNumber)
    /// Brings the next ``HTTPServerSession/checkDeadlines(_:)`` forward, when a deadline begins that is earlier than any so far.
    func expectDeadline(at time: MonotonicTime)
}
