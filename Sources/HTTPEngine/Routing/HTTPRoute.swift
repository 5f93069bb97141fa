// SPDX-License-Identifier: Apache-2.0

/// Answers one kind of request. Runs on the connection's loop. A thrown ``Problem`` becomes its document; anything else a 500
/// problem without detail.
package typealias HTTPHandler = @Sendable (HTTPRequest, RouteParameters) async throws -> HTTPResponse

/// Says from a request's header and the client's address (``HTTPRequest/remoteAddress``) why it is refused, nil when it may
/// come: asked before a body that did not come with its header is read on, so that who may not send one takes no memory.
/// Handlers ask again: a small body is there first.
package typealias HTTPGate = @Sendable (HTTPFields, String) async -> Problem?

/// One method on one path pattern.
package final class HTTPRoute: Sendable {
    /// The method it answers.
    package let method: HTTPMethod
    /// The pattern it was made from.
    package let pattern: String
    /// What metrics and logs call it: never the path, which may hold identifiers.
    package let name: String
    /// The largest body in bytes; known before the first body byte is read.
    package let bodyLimit: Int
    /// Who may send a body; nil: anyone.
    let gate: HTTPGate?
    /// What answers.
    let handler: HTTPHandler
    /// The pattern's parameter names in order.
    let parameterNames: [String]

    init(
        method: HTTPMethod,
        pattern: String,
        name: String,
        bodyLimit: Int,
        parameterNames: [String],
        gate: HTTPGate? = nil,
        handler: @escaping HTTPHandler
    ) {
        self.method = method
        self.pattern = pattern
        self.name = name
        self.bodyLimit = bodyLimit
        self.parameterNames = parameterNames
        self.gate = gate
        self.handler = handler
    }
}
