// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// Accepts connections and hands each to a script that answers frame by frame.
final class RawHTTP2Server: Sendable {
    let loop: EventLoop
    let port: Int
    private let listener: PlainListener
    private let accepted = Locked<[RawHTTP2Peer]>([])

    /// - Parameters:
    ///   - settings: sent at once; nil sends none.
    ///   - onFrame: called on the loop with each frame of a client, with the number of its connection, from 0.
    init(
        settings: [(UInt16, UInt32)]? = [],
        _ onFrame: @escaping @Sendable (RawHTTP2Peer, RawFrame, Int) -> Void
    ) throws {
        let loop = try EventLoop(name: "raw-h2")
        self.loop = loop
        listener = try PlainListener()
        port = listener.port
        listener.accept(on: loop) { [accepted] descriptor in
            let transport = SocketTransport(takingOwnership: descriptor, loop: loop)
            let peer = RawHTTP2Peer(transport, isServer: true)
            let number = accepted.withLock { accepted in
                accepted.append(peer)
                return accepted.count - 1
            }
            peer.onFrame = { [unowned peer] frame in
                if settings != nil, frame.type == 4, frame.flags & 1 == 0 {
                    peer.transport.write(RawFrame.settingsAcknowledgement.bytes)
                }
                onFrame(peer, frame, number)
            }
            transport.start(peer)
            if let settings { transport.write(RawFrame.settings(settings).bytes) }
        }
    }

    var peers: [RawHTTP2Peer] { accepted.withLock { $0 } }

    func connect(limits: HTTP2ClientConnection.Limits = .init()) async throws -> HTTP2ClientConnection {
        try await HTTP2ClientConnection.connect(
            host: "127.0.0.1",
            port: port,
            tls: nil,
            loop: loop,
            deadline: Patience.long,
            limits: limits
        )
    }

    func stop() async {
        listener.stop()
        for peer in peers {
            loop.execute { peer.transport.abort() }
            try? await peer.closed.wait()
        }
        await loop.shutdown()
    }
}

/// Counts how requests ended.
final class Tally: Sendable {
    private let counts = Locked<[HTTPClientError.Code: Int]>([:])
    private let successes = Locked(0)

    func add(_ code: HTTPClientError.Code?) {
        guard let code else { return successes.withLock { $0 += 1 } }
        counts.withLock { $0[code, default: 0] += 1 }
    }
    var succeeded: Int { successes.withLock { $0 } }
    subscript(_ code: HTTPClientError.Code) -> Int { counts.withLock { $0[code] ?? 0 } }
    var total: Int { succeeded + counts.withLock { $0.values.reduce(0, +) } }
    var failures: [HTTPClientError.Code: Int] { counts.withLock { $0 } }
}

extension HTTP2ClientConnection {
    /// A push-like request, its outcome counted.
    func push(_ number: Int, _ tally: Tally, deadline: Duration = Patience.long) async {
        do throws(HTTPClientError) {
            let response = try await send(.push(number), deadline: deadline)
            tally.add(response.status == .ok ? nil : .protocolError)
        } catch {
            tally.add(error.code)
        }
    }
}

extension HTTP2Request {
    static func push(_ number: Int) -> HTTP2Request {
        HTTP2Request(
            method: .post,
            scheme: "http",
            authority: "example.com",
            path: "/3/device/\(number)",
            neverIndexPath: true,
            headers: [.init("apns-topic", "order.com.example"), .init("apns-id", "\(number)", neverIndex: true)],
            body: Array("{}".utf8)
        )
    }
}
