// SPDX-License-Identifier: Apache-2.0

/// Answers one kind of request. Runs on the connection's loop. A thrown ``Problem`` becomes its document; anything else a 500
/// problem without detail.
package typealias HTTPHandler = @Sendable (HTTPRequest, RouteParameters) async throws -> HTTPResponse

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
        handler: @escaping HTTPHandler
    ) {
        self.method = method
        self.pattern = pattern
        self.name = name
        self.bodyLimit = bodyLimit
        self.parameterNames = parameterNames
        self.handler = handler
    }
}
