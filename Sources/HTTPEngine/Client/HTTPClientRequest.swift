// SPDX-License-Identifier: Apache-2.0

/// A request to be sent.
package struct HTTPClientRequest: Sendable {
    /// The method.
    package var method: HTTPMethod
    /// Whether it goes through TLS.
    package var isSecure: Bool
    /// The host: a name or an address literal, an IPv6 one without brackets.
    package var host: String
    /// The TCP port.
    package var port: Int
    /// A Unix socket to connect to instead of host and port; those still name the server in the request.
    package var unixSocket: String?
    /// Path and query, percent-encoded.
    package var target: String
    /// The header fields. `Host` and `Content-Length` are added.
    package var headers: HTTPFields
    /// The body.
    package var body: [UInt8]
    /// The largest answer's body in bytes; larger is `.tooLarge`.
    package var responseLimit: Int

    /// Makes a request from its parts.
    package init(
        _ method: HTTPMethod = .get,
        isSecure: Bool,
        host: String,
        port: Int? = nil,
        unixSocket: String? = nil,
        target: String = "/",
        headers: HTTPFields = .init(),
        body: [UInt8] = [],
        responseLimit: Int = 16 * 1024 * 1024
    ) {
        self.method = method
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        self.unixSocket = unixSocket
        self.target = target
        self.headers = headers
        self.body = body
        self.responseLimit = responseLimit
    }

    /// Makes a request from an absolute URL. A fragment is left out, as it never goes over the wire.
    ///
    /// - Throws: `.protocolError` when it is no http or https URL, or holds user information.
    package init(
        _ method: HTTPMethod,
        _ url: String,
        headers: HTTPFields = .init(),
        body: [UInt8] = [],
        responseLimit: Int = 16 * 1024 * 1024
    ) throws(HTTPClientError) {
        let fault = HTTPClientError(.protocolError, "not an absolute http or https URL without user information")
        guard let mark = url.firstRange(of: "://") else { throw fault }
        let scheme = url[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { throw fault }
        let rest = url[mark.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        var target = String(rest.dropFirst(authority.count))
        if target.first != "/" { target = "/" + target }
        var host = authority
        var port: Int?
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { throw fault }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.first == ":" else { throw fault }
            port = Self.port(after.dropFirst())
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = Self.port(authority[authority.index(after: colon)...])
        }
        let isLiteral = authority.first == "["
        guard !host.isEmpty, port.map({ (1...65_535).contains($0) }) ?? true,
            host.utf8.allSatisfy({ HTTP1Bytes.isHost($0) || isLiteral && $0 == UInt8(ascii: ":") })
        else { throw fault }
        self.init(
            method,
            isSecure: scheme == "https",
            host: String(host),
            port: port,
            target: target,
            headers: headers,
            body: body,
            responseLimit: responseLimit
        )
    }

    /// A port's number, nil for none and -1 for what is none (RFC 3986 3.2.3).
    private static func port(_ text: Substring) -> Int? {
        if text.isEmpty { return nil }
        return text.utf8.allSatisfy(HTTP1Bytes.isDigit) ? Int(text) ?? -1 : -1
    }

    /// Host and port as `Host` and `:authority` write them: the scheme's own port is left out.
    var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Where to connect.
    var endpoint: Endpoint {
        if let unixSocket { .unix(path: unixSocket) } else { .tcp(host: host, port: port) }
    }

    /// Whether doing it twice is the same as doing it once (RFC 9110 9.2.2).
    var isIdempotent: Bool {
        switch method {
        case .get, .head, .put, .delete, .options: true
        default: false
        }
    }

    /// The request as HTTP/2 carries it.
    var http2: HTTP2Request {
        var fields: [HTTP2Request.Field] = []
        for field in headers where !Self.isFraming(field.name) {
            let isSecret = field.name == "authorization" || field.name == "cookie"
            fields.append(.init(field.name, field.value, neverIndex: isSecret))
        }
        return HTTP2Request(
            method: method,
            scheme: isSecure ? "https" : "http",
            authority: headers["host"] ?? authority,
            path: target,
            headers: fields,
            body: body,
            responseLimit: responseLimit
        )
    }

    /// The request as HTTP/1.1 writes it, without the body; nil when method, target or host would break the line.
    var http1Head: [UInt8]? {
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(HTTP1Bytes.isToken), !target.isEmpty,
            target.utf8.allSatisfy(HTTP1Bytes.isTarget), authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return nil }
        var head: [UInt8] = []
        head.reserveCapacity(512)
        head += method.rawValue.utf8
        head.append(0x20)
        head += target.utf8
        head += " HTTP/1.1\r\nhost: ".utf8
        head += (headers["host"] ?? authority).utf8
        for field in headers where !Self.isFraming(field.name) {
            head += "\r\n".utf8
            head += field.name.utf8
            head += ": ".utf8
            head += field.value.utf8
        }
        if !body.isEmpty || method == .post || method == .put || method == .patch {
            head += "\r\ncontent-length: \(body.count)".utf8
        }
        head += "\r\n\r\n".utf8
        return head
    }

    private static func isFraming(_ name: String) -> Bool {
        switch name {
        case "host", "connection", "content-length", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
            "expect":
            true
        default: false
        }
    }
}
