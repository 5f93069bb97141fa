// SPDX-License-Identifier: Apache-2.0

/// A request to a server by URL.
package struct HTTPClientRequest: Sendable {
    /// The method.
    package var method: HTTPMethod
    /// Where it goes.
    package let origin: Origin
    /// The path and query, percent-encoded.
    package let target: String
    /// The header fields; `Host` and the framing are the client's.
    package var headers: HTTPFields
    /// The whole body.
    package var body: [UInt8]
    /// The largest answer, in bytes.
    package var responseLimit: Int

    /// A scheme, host and port.
    package struct Origin: Hashable, Sendable {
        /// Whether TLS is spoken.
        package let isSecure: Bool
        /// The host's name or address, without brackets.
        package let host: String
        /// The port.
        package let port: Int

        /// The value of `Host` and `:authority`: the port only where it is not the scheme's own.
        package var authority: String {
            let name = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
            return self.port == (self.isSecure ? 443 : 80) ? name : "\(name):\(self.port)"
        }
    }

    /// Makes a request of a URL such as `https://example.com:8443/path?query`.
    ///
    /// - Throws: `HTTPClientError` (`.protocolError`) when the URL is none, holds user information or control characters.
    package init(
        _ method: HTTPMethod,
        _ url: String,
        headers: HTTPFields = .init(),
        body: [UInt8] = [],
        responseLimit: Int = 16 << 20
    ) throws(HTTPClientError) {
        guard let (origin, target) = Self.parse(url) else {
            throw HTTPClientError(.protocolError, "this is no http or https URL that can be called")
        }
        self.method = method
        self.origin = origin
        self.target = target
        self.headers = headers
        self.body = body
        self.responseLimit = responseLimit
    }

    private static func parse(_ url: String) -> (Origin, String)? {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else { return nil }
        let lowered = url.prefix(8).lowercased()
        let isSecure = lowered.hasPrefix("https://")
        guard isSecure || lowered.hasPrefix("http://") else { return nil }
        let rest = url.dropFirst(isSecure ? 8 : 7)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        var host = authority
        var port = isSecure ? 443 : 80
        let afterBracket = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: ":") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65_535).contains(number) else {
                return nil
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        let target = rest[end...]
        let path = target.isEmpty ? "/" : (target.hasPrefix("?") ? "/" + target : String(target))
        return (Origin(isSecure: isSecure, host: String(host), port: port), path)
    }
}
