// SPDX-License-Identifier: Apache-2.0

/// A request's first part: all that decides what is done with the rest.
package struct HTTP1RequestHead: Hashable, Sendable {
    /// The method.
    package var method: HTTPMethod
    /// The target in origin form, or "*" for OPTIONS. An absolute-form target is brought into it.
    package var target: String
    /// 1.0 or 1.1.
    package var version: HTTPVersion
    /// The header fields. After an absolute-form target, `host` is the target's (RFC 9112 3.2.2).
    package var fields: HTTPFields
    /// How its body ends.
    package var framing: HTTP1Framing
    /// Whether the connection may serve another request.
    package var keepsAlive: Bool
    /// Whether the client waits for 100 before it sends the body.
    package var expectsContinue: Bool
}

/// What a request parser found next.
package enum HTTP1RequestEvent: Hashable, Sendable {
    /// The header is complete. Set `bodyLimit` before asking on.
    case head(HTTP1RequestHead)
    /// A part of the body, as it came; never empty.
    case body([UInt8])
    /// The request is complete. Ask on only when its answer is sent.
    case end
    /// Not a request that can be answered otherwise than with the fault's status. Nothing follows.
    case failed(HTTP1Fault)
}
