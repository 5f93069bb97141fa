// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import ServiceRuntime

/// Calls servers by URL: HTTP/2 where TLS agrees on it, else HTTP/1.1 on kept connections. All on one loop.
package final class HTTPClient: @unchecked Sendable {
    // Sendable by rule: what changes is touched on the loop only.

    /// How many idle HTTP/1.1 connections are kept for one origin.
    private static let kept = 8
    /// How long one is kept; servers close theirs after about a minute.
    private static let idleTime: Duration = .seconds(45)

    private let loop: EventLoop
    private let tls: TLSContext?
    private let versions: [HTTPVersion]
    private var idle: [HTTPClientRequest.Origin: [HTTP1ClientConnection]] = [:]
    private var multiplexed: [HTTPClientRequest.Origin: HTTP2ClientConnection] = [:]
    private var opening: [HTTPClientRequest.Origin: Signal] = [:]

    private enum Connection {
        case http1(HTTP1ClientConnection, isNew: Bool)
        case http2(HTTP2ClientConnection)
    }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - tls: whom it trusts at https URLs; its ALPN list should offer what `versions` names.
    ///   - versions: `.http2` and `.http11`; the first is preferred.
    package init(loop: EventLoop, tls: TLSContext?, versions: [HTTPVersion]) {
        self.loop = loop
        self.tls = tls
        self.versions = versions
    }

    /// Sends a request and waits for the whole answer. Redirects are answers like others.
    ///
    /// A request that was certainly not processed goes out once more on a new connection: kept connections die unseen.
    ///
    /// - Throws: `HTTPClientError`.
    package func send(
        _ request: HTTPClientRequest,
        deadline: Duration
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let end = MonotonicTime.now() + deadline
        let result = await self.loop.run { () async -> Result<HTTPClientResponse, HTTPClientError> in
            do throws(HTTPClientError) {
                return .success(try await self.exchange(request, end))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Ends all connections.
    package func close() async {
        await self.loop.run {
            let connections = self.multiplexed.values
            self.multiplexed = [:]
            for connection in self.idle.values.joined() { connection.close() }
            self.idle = [:]
            for connection in connections { await connection.close() }
        }
    }

    private func exchange(
        _ request: HTTPClientRequest,
        _ end: MonotonicTime
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        var isRetry = false
        while true {
            let connection = try await self.connection(to: request.origin, end, mustBeNew: isRetry)
            do throws(HTTPClientError) {
                switch connection {
                case .http2(let connection): return try await self.send(request, on: connection, end)
                case .http1(let connection, _):
                    let response = try await connection.send(request, deadline: end)
                    if connection.isReusable { self.keep(connection, request.origin) }
                    return response
                }
            } catch {
                if case .http2(let connection) = connection, connection.isGoingAway,
                    self.multiplexed[request.origin] === connection
                {
                    self.multiplexed[request.origin] = nil
                }
                var wasKept = true
                if case .http1(_, let isNew) = connection { wasKept = !isNew }
                guard error.code == .notProcessed, wasKept, !isRetry, Self.mayRepeat(request.method) else {
                    throw error
                }
                isRetry = true
            }
        }
    }

    /// A closed HTTP/1.1 connection is no proof that the request was not processed, so only what may be done twice is sent
    /// again (RFC 9110 9.2.2).
    private static func mayRepeat(_ method: HTTPMethod) -> Bool {
        [.get, .head, .put, .delete, .options].contains(method)
    }

    private func send(
        _ request: HTTPClientRequest,
        on connection: HTTP2ClientConnection,
        _ end: MonotonicTime
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let headers = request.headers.filter { !["host", "connection", "transfer-encoding"].contains($0.name) }
        let inner = HTTP2Request(
            method: request.method,
            authority: request.origin.authority,
            path: request.target,
            headers: headers.map { HTTP2Request.Field($0.name, $0.value, neverIndex: $0.name == "authorization") },
            body: request.body,
            responseLimit: request.responseLimit
        )
        return try await connection.send(inner, deadline: end - MonotonicTime.now())
    }

    private func keep(_ connection: HTTP1ClientConnection, _ origin: HTTPClientRequest.Origin) {
        if self.idle[origin, default: []].count < Self.kept {
            self.idle[origin, default: []].append(connection)
        } else {
            connection.close()
        }
    }

    /// A kept connection to an origin, or a new one.
    private func connection(
        to origin: HTTPClientRequest.Origin,
        _ end: MonotonicTime,
        mustBeNew: Bool
    ) async throws(HTTPClientError) -> Connection {
        while true {
            if let connection = self.multiplexed[origin] {
                if !connection.isGoingAway { return .http2(connection) }
                self.multiplexed[origin] = nil
            }
            if !mustBeNew, let connection = self.takeIdle(origin) { return .http1(connection, isNew: false) }
            // Many requests at once to a server of HTTP/2 need one connection, not one each.
            guard let opening = self.opening[origin] else { break }
            do { try await opening.wait() } catch {
                throw HTTPClientError(.cancelled, "the request was cancelled")
            }
        }
        let mayBeHTTP2 = self.versions.contains(.http2) && (origin.isSecure || self.versions == [.http2])
        let opened = Signal()
        if mayBeHTTP2 { self.opening[origin] = opened }
        defer {
            if mayBeHTTP2 { self.opening[origin] = nil }
            opened.fire()
        }
        let endpoint = Endpoint.tcp(host: origin.host, port: origin.port)
        if !origin.isSecure, mayBeHTTP2 {
            let connection = try await HTTP2ClientConnection.connect(
                to: endpoint,
                tls: nil,
                loop: self.loop,
                deadline: end
            )
            self.multiplexed[origin] = connection
            return .http2(connection)
        }
        if origin.isSecure, self.tls == nil {
            throw HTTPClientError(.tls, "this client has no TLS settings, so it can't call https URLs")
        }
        let transport = try await SocketTransport.connect(
            to: endpoint,
            tls: origin.isSecure ? self.tls : nil,
            loop: self.loop,
            deadline: end,
            settings: HTTP2ClientConnection.transportSettings
        )
        if transport.applicationProtocol == "h2" {
            let connection = HTTP2ClientConnection(transport, peer: "\(endpoint)", limits: .init())
            try await connection.begin(deadline: end)
            self.multiplexed[origin] = connection
            return .http2(connection)
        }
        return .http1(HTTP1ClientConnection(transport, peer: "\(endpoint)"), isNew: true)
    }

    private func takeIdle(_ origin: HTTPClientRequest.Origin) -> HTTP1ClientConnection? {
        while let connection = self.idle[origin]?.popLast() {
            let isFresh = MonotonicTime.now() - connection.idleSince < Self.idleTime
            if connection.isReusable, isFresh { return connection }
            connection.close()
        }
        return nil
    }
}
