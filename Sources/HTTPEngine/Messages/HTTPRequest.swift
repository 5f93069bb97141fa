// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import ExactJSON

/// A complete request as handlers see it: the same for every protocol version.
package struct HTTPRequest: Sendable {
    /// The method.
    package var method: HTTPMethod
    /// The request target in origin form, percent-encoded as it came.
    package var target: String { didSet { path = Self.path(of: target) } }
    /// The target before "?", percent-encoded as it came. Routes take their parameters from it.
    package private(set) var path: String
    /// The header fields.
    package var headers: HTTPFields
    /// The whole body, within the limit of the route.
    package var body: [UInt8]
    /// The protocol version.
    package var version: HTTPVersion
    /// The client's address as text without the port, as a trusted proxy tells it; "unix" for a Unix socket.
    package var remoteAddress: String
    /// Whether the request came through TLS.
    package var isSecure: Bool
    /// The certificate that the client showed in the TLS handshake and that one of the configured roots signed.
    package var clientCertificate: Certificate?
    /// Joins logs, answers and problems: the caller's `Request-Id` if it is sane, else one of our own.
    package var identifier: String

    /// Makes a request; tests of a station need no more than method and target.
    package init(
        method: HTTPMethod,
        target: String,
        headers: HTTPFields = .init(),
        body: [UInt8] = [],
        version: HTTPVersion = .http11,
        remoteAddress: String = "",
        isSecure: Bool = false,
        clientCertificate: Certificate? = nil,
        identifier: String? = nil
    ) {
        self.method = method
        self.target = target
        path = Self.path(of: target)
        self.headers = headers
        self.body = body
        self.version = version
        self.remoteAddress = remoteAddress
        self.isSecure = isSecure
        self.clientCertificate = clientCertificate
        self.identifier = identifier ?? RequestIdentifier.of(headers)
    }

    /// Makes one whose path is known already.
    init(
        method: HTTPMethod,
        target: String,
        path: String,
        headers: HTTPFields,
        version: HTTPVersion,
        identifier: String
    ) {
        self.method = method
        self.target = target
        self.path = path
        self.headers = headers
        body = []
        self.version = version
        remoteAddress = ""
        isSecure = false
        self.identifier = identifier
    }

    /// The query's names and values, percent-decoded once, "+" read as a space as forms write it.
    ///
    /// The server refuses a query that cannot be decoded before a handler sees the request; here such a pair is left out.
    package var query: [(name: String, value: String)] {
        guard let text = rawQuery else { return [] }
        return text.utf8.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(parts[0], plusIsSpace: true) else { return nil }
            guard parts.count == 2 else { return (name, "") }
            guard let value = PercentEncoding.decode(parts[1], plusIsSpace: true) else { return nil }
            return (name, value)
        }
    }

    /// The first value of a query name, or nil.
    package func queryValue(_ name: String) -> String? { query.first { $0.name.isExactly(name) }?.value }

    /// Whether every "%" of the query begins two hex digits and the outcome is UTF-8.
    var hasDecodableQuery: Bool {
        guard let text = rawQuery, text.utf8.contains(UInt8(ascii: "%")) else { return true }
        return text.utf8.split(separator: UInt8(ascii: "&")).allSatisfy { pair in
            pair.split(separator: UInt8(ascii: "="), maxSplits: 1).allSatisfy { part in
                PercentEncoding.decode(part, plusIsSpace: true) != nil
            }
        }
    }

    private var rawQuery: Substring? {
        let start = path.utf8.count
        guard start < target.utf8.count else { return nil }
        return target[target.utf8.index(target.utf8.startIndex, offsetBy: start + 1)...]
    }

    /// A target's part before "?".
    static func path(of target: String) -> String {
        let hasMark = unsafe target.utf8.withContiguousStorageIfAvailable { unsafe HTTP1Bytes.contains(0x3F, $0) }
        guard hasMark != false, let mark = target.utf8.firstIndex(of: 0x3F) else { return target }
        return String(target[..<mark])
    }
}
