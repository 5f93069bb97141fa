// SPDX-License-Identifier: Apache-2.0

/// The protocol version that a message came in.
package enum HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// HTTP/1.0: no chunked coding, closed after the answer unless asked otherwise.
    case http10
    /// HTTP/1.1 (RFC 9112).
    case http11
    /// HTTP/2 (RFC 9113).
    case http2

    /// The version as people write it.
    package var description: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }
}
