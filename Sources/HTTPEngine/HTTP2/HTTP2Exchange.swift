// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// One request and its answer on a client's HTTP/2 connection. Loop-confined once it is handed to the connection.
@safe
final class HTTP2Exchange: @unchecked Sendable {
    // Sendable by rule: made by the sender, then touched on the connection's loop only.

    typealias Outcome = Result<HTTPClientResponse, HTTPClientError>

    enum State {
        /// Not on the connection's loop yet.
        case new
        /// Waits for a free stream.
        case queued
        /// Has a stream.
        case open
        /// Has no stream, or none any more.
        case detached
    }

    let request: HTTP2Request
    let deadline: MonotonicTime
    var state = State.new
    /// The sender's task was cancelled before the exchange came to the loop.
    var isCancelledEarly = false
    var stream: Int32 = 0
    /// Where it stands in the connection's list of open exchanges.
    var index = 0
    /// Whether its HEADERS frame went out: only then can the peer have processed it.
    var wasSent = false
    var bodyOffset = 0

    var status = 0
    var headers = HTTPFields()
    var headerBytes = 0
    var isHeadComplete = false
    var hasEnded = false
    var body: [UInt8] = []
    /// Why we gave the stream up ourselves.
    var failure: HTTPClientError?

    private var continuation: UnsafeContinuation<Outcome, Never>?
    /// Whether the sender has its answer.
    private(set) var isFinished = false

    init(_ request: HTTP2Request, deadline: MonotonicTime) {
        self.request = request
        self.deadline = deadline
    }

    func await(_ continuation: UnsafeContinuation<Outcome, Never>) {
        unsafe self.continuation = continuation
    }

    /// Gives the sender its answer; the first one counts.
    func finish(_ outcome: Outcome) {
        guard !isFinished else { return }
        isFinished = true
        let continuation = unsafe continuation
        unsafe self.continuation = nil
        unsafe continuation?.resume(returning: outcome)
    }

    deinit {
        // An exchange that is dropped without an answer would leave its sender waiting for ever.
        assert(isFinished, "an exchange was lost")
        unsafe continuation?.resume(
            returning: .failure(HTTPClientError(.closed, "the connection lost track of the request"))
        )
    }
}
