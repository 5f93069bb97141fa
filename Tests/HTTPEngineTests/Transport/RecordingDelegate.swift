// SPDX-License-Identifier: Apache-2.0
import CLinux
import Cryptography
import Glibc
import ServiceRuntime
import Testing

@testable import HTTPEngine

/// Keeps what a transport tells, and runs what a test asks for. Loop-confined.
final class RecordingDelegate: SocketTransportDelegate, @unchecked Sendable {
    // Sendable by rule: touched on the loop, or after `closed` fired.
    var received: [UInt8] = []
    var closures: [TransportClosure] = []
    var writables = 0
    var onReady: () -> Void = {}
    var onReceived: () -> Void = {}
    var onEnd: () -> Void = {}
    var onWritable: () -> Void = {}
    let ready = Signal()
    let ended = Signal()
    let closed = Signal()

    func transportReady() {
        ready.fire()
        onReady()
    }
    func transportReceived(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { bytes in unsafe received.append(contentsOf: bytes) }
        onReceived()
    }
    func transportReceivedEnd() {
        ended.fire()
        onEnd()
    }
    func transportWritable() {
        writables += 1
        onWritable()
    }
    func transportClosed(_ reason: TransportClosure) {
        closures.append(reason)
        // What a test hooked in holds the transport: a cycle.
        (onReady, onReceived, onEnd, onWritable) = ({}, {}, {}, {})
        closed.fire()
    }
}

/// Two ends of one connection on one loop.
struct TransportPair {
    let loop: EventLoop
    let near: SocketTransport
    let far: SocketTransport
    let nearSide = RecordingDelegate()
    let farSide = RecordingDelegate()

    init(
        tls: Bool,
        near nearSettings: SocketTransport.Settings = .init(),
        far farSettings: SocketTransport.Settings = .init()
    ) throws {
        var descriptors: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &descriptors) == 0)
        loop = try EventLoop(name: "pair")
        let client = tls ? try TestIdentity.client() : nil
        let server = tls ? try TestIdentity.server() : nil
        near = SocketTransport(
            takingOwnership: descriptors[0],
            loop: loop,
            tls: try client.map { try TLSSession($0, descriptor: descriptors[0], serverName: "localhost") },
            settings: nearSettings
        )
        far = SocketTransport(
            takingOwnership: descriptors[1],
            loop: loop,
            tls: try server.map { try TLSSession($0, descriptor: descriptors[1], serverName: nil) },
            settings: farSettings
        )
    }

    /// Starts both ends and waits until bytes can be exchanged.
    func start() async throws {
        begin()
        try await nearSide.ready.wait()
        try await farSide.ready.wait()
    }

    func begin() {
        loop.execute { [self] in
            near.start(nearSide)
            far.start(farSide)
        }
    }

    /// Ends both, so that the loop can be left.
    func finish() async throws {
        loop.execute { [self] in
            near.abort()
            far.abort()
        }
        try await nearSide.closed.wait()
        try await farSide.closed.wait()
        await loop.shutdown()
    }
}
