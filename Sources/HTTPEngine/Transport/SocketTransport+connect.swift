// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import ServiceRuntime

extension SocketTransport {
    /// Connects to an endpoint and does the TLS handshake.
    ///
    /// The transport comes back open, with reading paused and no delegate: whoever takes it over calls `adopt`.
    ///
    /// - Parameters:
    ///   - tls: nil for clear text.
    ///   - serverName: who the server's certificate has to name; nil: the endpoint's host.
    /// - Throws: `.refused`, `.connect`, `.tls`, `.timeout`, `.cancelled`.
    package static func connect(
        to endpoint: Endpoint,
        tls: TLSContext?,
        serverName: String? = nil,
        loop: EventLoop,
        deadline: MonotonicTime,
        settings: Settings = .init()
    ) async throws(HTTPClientError) -> SocketTransport {
        let descriptor = try await ConnectRace.connect(to: endpoint, loop: loop, deadline: deadline)
        let session: TLSSession?
        do {
            session = try tls.map { context in
                try TLSSession(context, descriptor: descriptor, serverName: serverName ?? endpoint.tlsServerName)
            }
        } catch {
            let transport = SocketTransport(takingOwnership: descriptor, loop: loop)
            _ = transport
            throw HTTPClientError(.tls, "no TLS session for \(endpoint): \(error)")
        }
        var settings = settings
        settings.handshakeTimeout = deadline - MonotonicTime.now()
        let transport = SocketTransport(takingOwnership: descriptor, loop: loop, tls: session, settings: settings)
        let outcome = OneShot<Result<Void, HTTPClientError>>()
        let waiter = HandshakeWaiter(transport, endpoint, outcome)
        loop.execute { transport.start(waiter) }
        try await outcome.value {
            loop.execute { transport.abort() }
        }.get()
        return transport
    }

    /// Takes over a transport that `connect` returned. On the loop.
    ///
    /// When it has ended meanwhile, the delegate hears of that and of nothing else.
    package func adopt(_ delegate: any SocketTransportDelegate) {
        loop.preconditionOnLoop()
        self.delegate = delegate
        guard state != .closed else {
            loop.execute { [self] in
                self.delegate = nil
                delegate.transportClosed(.peer)
            }
            return
        }
        resumeReading()
    }
}

extension Endpoint {
    /// The name that a server's certificate has to bear.
    var tlsServerName: String? {
        switch self {
        case .tcp(let host, _): host
        case .unix: nil
        }
    }
}

/// Stands in for the delegate until the handshake is done.
private final class HandshakeWaiter: SocketTransportDelegate, @unchecked Sendable {
    // Sendable by rule: touched on the loop only.
    private let transport: SocketTransport
    private let endpoint: Endpoint
    private let outcome: OneShot<Result<Void, HTTPClientError>>

    init(_ transport: SocketTransport, _ endpoint: Endpoint, _ outcome: OneShot<Result<Void, HTTPClientError>>) {
        self.transport = transport
        self.endpoint = endpoint
        self.outcome = outcome
    }

    func transportReady() {
        transport.pauseReading()
        outcome.finish(.success(()))
    }

    func transportReceived(_ bytes: RawSpan) {}
    func transportReceivedEnd() { transport.abort() }
    func transportWritable() {}

    func transportClosed(_ reason: TransportClosure) {
        outcome.finish(.failure(HTTPClientError(reason, endpoint: endpoint)))
    }
}
