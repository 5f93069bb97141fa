// SPDX-License-Identifier: Apache-2.0

/// Why a request has no answer.
package struct HTTPClientError: Error, Sendable, CustomStringConvertible {
    /// What a caller can decide on.
    package enum Code: Sendable, Hashable {
        /// Nobody listens there.
        case refused
        /// The name has no address, or no address can be reached.
        case connect
        /// The handshake failed: an untrusted or wrong certificate, no common version or protocol.
        case tls
        /// The deadline passed. The request may have been processed.
        case timeout
        /// The connection ended after the request was sent. It may have been processed.
        case closed
        /// The peer said, or it is certain, that the request was not processed: safe to send again on another connection.
        case notProcessed
        /// The peer gave the stream up. It may have been processed.
        case reset
        /// The peer broke the protocol's rules, or the request itself cannot be sent.
        case protocolError
        /// The answer is larger than the caller allows.
        case tooLarge
        /// The caller's task was cancelled.
        case cancelled
    }

    /// What happened.
    package let code: Code
    /// What, where, what to do instead; names no header values and no bodies.
    package let message: String
    /// The HTTP/2 error code of a RST_STREAM or GOAWAY, if one came.
    package let http2ErrorCode: HTTP2ErrorCode?
    /// The debug data of the GOAWAY that the peer had sent, if one came: push services put a JSON reason there.
    package let goAwayReason: [UInt8]?

    /// Makes an error.
    package init(
        _ code: Code,
        _ message: String,
        http2ErrorCode: HTTP2ErrorCode? = nil,
        goAwayReason: [UInt8]? = nil
    ) {
        self.code = code
        self.message = message
        self.http2ErrorCode = http2ErrorCode
        self.goAwayReason = goAwayReason
    }

    /// The error of a transport that ended before or during its handshake.
    init(_ closure: TransportClosure, endpoint: Endpoint) {
        switch closure {
        case .tls: self.init(.tls, "TLS with \(endpoint) failed: \(closure)")
        case .handshakeTimeout: self.init(.timeout, "\(endpoint): \(closure)")
        case .local: self.init(.cancelled, "connecting to \(endpoint) was cancelled")
        default: self.init(.connect, "\(endpoint): \(closure)")
        }
    }

    /// The message, with its code.
    package var description: String { "\(code): \(message)" }
}
