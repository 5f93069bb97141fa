// SPDX-License-Identifier: Apache-2.0
import Cryptography
import ServiceRuntime
import Testing

@testable import HTTPEngine

/// Hands each HTTP/1.1 request to a script that answers in raw bytes.
final class RawHTTP1Server: Sendable {
    struct Request: Sendable {
        let method: String
        let path: String
    }

    let loop: EventLoop
    let port: Int
    private let listener: PlainListener
    private let accepted = Locked<[Peer]>([])

    init(_ onRequest: @escaping @Sendable (Peer, Request, Int) -> Void) throws {
        let loop = try EventLoop(name: "raw-h1")
        self.loop = loop
        listener = try PlainListener()
        port = listener.port
        listener.accept(on: loop) { [unowned self] descriptor in
            let transport = SocketTransport(takingOwnership: descriptor, loop: loop)
            let number = accepted.withLock { $0.count }
            let peer = Peer(transport, self) { peer, request in onRequest(peer, request, number) }
            accepted.withLock { $0.append(peer) }
            transport.start(peer)
        }
    }

    var peers: [Peer] { accepted.withLock { $0 } }
    var connectionCount: Int { peers.count }

    /// Requests that the script keeps waiting. On the loop.
    func heldCount() -> Int { peers.reduce(0) { $0 + $1.held } }

    /// Answers all that wait. On the loop.
    func release(_ bytes: [UInt8]) {
        for peer in peers where peer.held > 0 {
            peer.held = 0
            peer.transport.write(bytes)
        }
    }

    func stop() async {
        listener.stop()
        for peer in peers {
            loop.execute { peer.transport.abort() }
            try? await peer.closed.wait()
        }
        await loop.shutdown()
    }

    final class Peer: SocketTransportDelegate, @unchecked Sendable {
        // Sendable by rule: touched on the loop only.
        let transport: SocketTransport
        unowned let server: RawHTTP1Server
        let closed = Signal()
        var requests: [Request] = []
        var held = 0
        private let onRequest: (Peer, Request) -> Void
        private var input = ""
        private var bodyLeft = 0

        init(_ transport: SocketTransport, _ server: RawHTTP1Server, _ onRequest: @escaping (Peer, Request) -> Void) {
            self.transport = transport
            self.server = server
            self.onRequest = onRequest
        }

        func transportReady() {}
        func transportWritable() {}
        func transportReceivedEnd() { transport.close() }
        func transportClosed(_ reason: TransportClosure) { closed.fire() }

        func transportReceived(_ bytes: RawSpan) {
            unsafe bytes.withUnsafeBytes { input += unsafe String(decoding: $0, as: UTF8.self) }
            while true {
                let skipped = min(bodyLeft, input.utf8.count)
                input = String(input.dropFirst(skipped))
                bodyLeft -= skipped
                guard let end = input.firstRange(of: "\r\n\r\n") else { return }
                let head = input[..<end.lowerBound]
                input = String(input[end.upperBound...])
                if let length = head.firstRange(of: "content-length: ") {
                    bodyLeft = Int(head[length.upperBound...].prefix { $0.isNumber }) ?? 0
                }
                let words = head.split(separator: " ")
                let request = Request(method: String(words[0]), path: String(words[1]))
                requests.append(request)
                onRequest(self, request)
            }
        }
    }
}
