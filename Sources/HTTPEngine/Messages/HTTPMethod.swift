// SPDX-License-Identifier: Apache-2.0

/// A request method (RFC 9110 9). Methods are case-sensitive, so the text is kept as it came.
package struct HTTPMethod: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The method as it stands in the request line.
    package let rawValue: String

    /// Takes any token; whether a route answers it is the router's question.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The method's text.
    package var description: String { rawValue }

    /// Reads; nothing changes.
    package static var get: Self { Self(rawValue: "GET") }
    /// `GET` without the body.
    package static var head: Self { Self(rawValue: "HEAD") }
    /// Creates or runs something.
    package static var post: Self { Self(rawValue: "POST") }
    /// Replaces a resource.
    package static var put: Self { Self(rawValue: "PUT") }
    /// Changes a part of a resource (RFC 5789).
    package static var patch: Self { Self(rawValue: "PATCH") }
    /// Removes a resource.
    package static var delete: Self { Self(rawValue: "DELETE") }
    /// Asks what a resource answers to.
    package static var options: Self { Self(rawValue: "OPTIONS") }
    /// Asks for a tunnel. Always refused: what follows it is not HTTP.
    package static var connect: Self { Self(rawValue: "CONNECT") }
}
