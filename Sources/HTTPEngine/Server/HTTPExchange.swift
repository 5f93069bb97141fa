// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// A whole request on its way to its answer.
///
/// An object, so that the task that answers it holds one reference: a request has a dozen members with references of their
/// own, and each hand that a copy goes through would count them all.
final class HTTPExchange: LoopWork {
    /// What is asked.
    let request: HTTPRequest
    /// What answers it.
    let match: RouteMatch
    /// Where it came in.
    private let connection: ServerConnection
    /// The number that the session gave it.
    let stream: HTTPStreamNumber
    /// When it was whole.
    let began: MonotonicTime

    init(
        _ request: consuming HTTPRequest,
        _ match: consuming RouteMatch,
        on connection: ServerConnection,
        stream: HTTPStreamNumber,
        began: MonotonicTime
    ) {
        self.request = request
        self.match = match
        self.connection = connection
        self.stream = stream
        self.began = began
    }

    /// Has it answered, and passes the answer on.
    func run() async { self.connection.pass(await self.connection.response(to: self), to: self) }
}
