// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import ServiceRuntime

/// Sends requests: over one HTTP/2 connection a server, or over a pool of HTTP/1.1 connections, as ALPN decides.
///
/// Every call has a deadline, which covers the name's look-up, the wait for a connection and the whole answer. Answers are
/// bounded. Connections are kept, and a kept one that the server had closed meanwhile costs a second try and no failure.
@safe
package final class HTTPClient: @unchecked Sendable {
    // Sendable by rule: `origins` and `isClosed` are touched on the loop only.

    /// Bounds of a client.
    package struct Limits: Sendable {
        /// HTTP/1.1 connections to one server at a time; further requests wait.
        package var connectionsPerOrigin = 16
        /// How long a connection is kept without a request. Less than most servers' own patience.
        package var idleTimeout: Duration = .seconds(30)
        /// Bounds of HTTP/1.1 answers' headers.
        package var header = HTTPLimits()
        /// Bounds of HTTP/2 connections.
        package var http2 = HTTP2ClientConnection.Limits()

        /// The defaults.
        package init() {}
    }

    /// The loop that all connections live on.
    package let loop: EventLoop
    private let tls: TLSContext?
    private let versions: [HTTPVersion]
    private let limits: Limits
    private(set) var origins: [ClientOrigin.Key: ClientOrigin] = [:]
    private var isClosed = false

    /// - Parameters:
    ///   - tls: for https; its ALPN names say which versions are offered. Nil: https fails.
    ///   - versions: without TLS, `[.http2]` means HTTP/2 by prior knowledge; anything else HTTP/1.1.
    package init(
        loop: EventLoop,
        tls: TLSContext? = nil,
        versions: [HTTPVersion] = [.http2, .http11],
        limits: Limits = .init()
    ) {
        self.loop = loop
        self.tls = tls
        self.versions = versions
        self.limits = limits
    }

    /// Lives on the group's next loop.
    package convenience init(
        loops: EventLoopGroup,
        tls: TLSContext? = nil,
        versions: [HTTPVersion] = [.http2, .http11],
        limits: Limits = .init()
    ) {
        self.init(loop: loops.next(), tls: tls, versions: versions, limits: limits)
    }

    /// Sends a request and waits for the whole answer.
    ///
    /// It is sent a second time only when that is certain to be right: the server said that it did not process it, or a kept
    /// connection turned out dead before a byte of an answer, and the method is idempotent.
    /// - Throws: any code of ``HTTPClientError``; `.closed` and `.reset` leave open whether it was processed.
    package func send(
        _ request: HTTPClientRequest,
        deadline: Duration
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let deadline = MonotonicTime.now() + deadline
        return try await loop.run { [self] in await perform(request, deadline) }.get()
    }

    /// Closes all connections. Requests under way fail as `.closed` or `.notProcessed`, and so do later ones.
    package func close() async {
        await loop.run { [self] in
            isClosed = true
            let all = origins.values
            origins = [:]
            for origin in all {
                origin.dropIdle()
                for connection in origin.busy.values { connection.close() }
                origin.wakeAll()
                if let http2 = origin.http2 { await http2.close() }
            }
        }
    }

    // MARK: On the loop

    private func perform(
        _ request: HTTPClientRequest,
        _ deadline: MonotonicTime
    ) async -> Result<HTTPClientResponse, HTTPClientError> {
        let key = ClientOrigin.Key(endpoint: request.endpoint, isSecure: request.isSecure, host: request.host)
        let origin = origins[key] ?? ClientOrigin(key)
        if !isClosed { origins[key] = origin }
        origin.users += 1
        defer {
            origin.users -= 1
            forgetEmpty(origin)
        }
        var mayTryAgain = true
        while true {
            let lease: ClientOrigin.Lease
            do throws(HTTPClientError) {
                lease = try await self.lease(origin, deadline)
            } catch {
                return .failure(error)
            }
            switch lease {
            case .http2(let connection):
                do throws(HTTPClientError) {
                    return .success(
                        try await connection.send(request.http2, deadline: deadline - MonotonicTime.now())
                    )
                } catch {
                    if connection.isGoingAway, origin.http2 === connection { origin.http2 = nil }
                    if error.code == .timeout { retire(connection, of: origin) }
                    guard error.code == .notProcessed, mayTryAgain, !isClosed else { return .failure(error) }
                    // What waited until its time was over has none left for another try.
                    if MonotonicTime.now() >= deadline { return .failure(HTTPClientError(.timeout, error.message)) }
                }
            case .http1(let connection):
                let wasKept = connection.hasServed
                let result = await connection.send(request, deadline: deadline)
                origin.giveBack(connection, idleTimeout: limits.idleTimeout)
                switch result {
                case .success(let response): return .success(response)
                case .failure(let failure):
                    let isStale = wasKept && failure.isUnanswered && failure.error.code == .closed
                    guard isStale, mayTryAgain, request.isIdempotent, !isClosed else { return .failure(failure.error) }
                    origin.dropIdle()
                }
            }
            mayTryAgain = false
        }
    }

    /// A connection with room for one request: a kept one, or a new one.
    func lease(
        _ origin: ClientOrigin,
        _ deadline: MonotonicTime
    ) async throws(HTTPClientError) -> ClientOrigin.Lease {
        while true {
            guard !isClosed else { throw HTTPClientError(.notProcessed, "the client is closed") }
            if Task.isCancelled {
                // It may have been woken for a connection that is free now: the next one is to have it.
                origin.wakeOne()
                throw HTTPClientError(.cancelled, "the request was cancelled")
            }
            if let http2 = origin.http2 {
                if !http2.isGoingAway { return .http2(http2) }
                origin.http2 = nil
            }
            if let connection = origin.takeIdle() { return .http1(connection) }
            // While it is open whether the server speaks HTTP/2, one connection is made and the others wait for it.
            let mustWait =
                origin.connectionCount >= limits.connectionsPerOrigin
                || (origin.connecting > 0 && !origin.speaksHTTP1Only && mayBeHTTP2(origin))
            guard mustWait else { return try await connect(origin, deadline) }
            guard await origin.waitForChange(loop, deadline: deadline) else {
                if Task.isCancelled { throw HTTPClientError(.cancelled, "the request was cancelled") }
                throw HTTPClientError(.timeout, "no connection to \(origin.key.endpoint) became free in time")
            }
        }
    }

    private func mayBeHTTP2(_ origin: ClientOrigin) -> Bool {
        origin.key.isSecure ? versions.contains(.http2) : versions == [.http2]
    }

    private func connect(
        _ origin: ClientOrigin,
        _ deadline: MonotonicTime
    ) async throws(HTTPClientError) -> ClientOrigin.Lease {
        guard !origin.key.isSecure || tls != nil else {
            throw HTTPClientError(.tls, "the client has no TLS settings, which https needs")
        }
        origin.connecting += 1
        defer {
            origin.connecting -= 1
            // An error concerns this request; each of the others makes its own attempt. A success may serve them.
            origin.wakeAll()
        }
        var settings = SocketTransport.Settings()
        settings.lingerTimeout = .milliseconds(200)
        let transport = try await SocketTransport.connect(
            to: origin.key.endpoint,
            tls: origin.key.isSecure ? tls : nil,
            serverName: origin.key.host,
            loop: loop,
            deadline: deadline,
            settings: settings
        )
        let isHTTP2 = origin.key.isSecure ? transport.applicationProtocol == "h2" : versions == [.http2]
        if isHTTP2 {
            var bounds = limits.http2
            bounds.idleTimeout = bounds.idleTimeout ?? limits.idleTimeout
            let connection = HTTP2ClientConnection(transport, peer: "\(origin.key.endpoint)", limits: bounds)
            try await connection.begin(deadline: deadline)
            guard !isClosed else {
                await connection.close()
                throw HTTPClientError(.notProcessed, "the client is closed")
            }
            origin.http2 = connection
            connection.onEnd = { [weak self, weak origin, weak connection] in
                guard let origin, origin.http2 === connection else { return }
                origin.http2 = nil
                self?.forgetEmpty(origin)
            }
            return .http2(connection)
        }
        origin.speaksHTTP1Only = true
        let connection = HTTP1ClientConnection(transport, peer: "\(origin.key.endpoint)", limits: limits.header)
        transport.adopt(connection)
        guard !isClosed else {
            connection.close()
            throw HTTPClientError(.notProcessed, "the client is closed")
        }
        origin.busy[ObjectIdentifier(connection)] = connection
        return .http1(connection)
    }

    /// A connection on which a request got no answer may be dead: later requests use another, those it has may end.
    private func retire(_ connection: HTTP2ClientConnection, of origin: ClientOrigin) {
        guard origin.http2 === connection else { return }
        origin.http2 = nil
        loop.spawn { await connection.drain(deadline: .seconds(30)) }
    }

    /// Servers without a connection are not kept in mind.
    private func forgetEmpty(_ origin: ClientOrigin) {
        if origin.isEmpty, origins[origin.key] === origin { origins[origin.key] = nil }
        // Those whose kept connections ended by themselves are still there.
        if origins.count > 100 { origins = origins.filter { !$0.value.isEmpty } }
    }
}
