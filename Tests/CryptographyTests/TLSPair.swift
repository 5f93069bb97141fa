// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc

/// Two non-blocking descriptors joined to each other, and the two sessions on them.
final class TLSPair {
    let server: TLSSession
    let client: TLSSession
    private(set) var descriptors: [Int32]

    /// A write to a closed socket must be an error, not the end of the process.
    private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    init(server: TLSContext, client: TLSContext, name: String? = "localhost") throws {
        Self.ignoreBrokenPipes
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw Command.Failed(text: "no socket pair") }
        descriptors = pair
        self.server = try TLSSession(server, descriptor: pair[0], serverName: nil)
        self.client = try TLSSession(client, descriptor: pair[1], serverName: name)
    }

    deinit {
        closeServer()
        closeClient()
    }

    func closeServer() { close(0) }
    func closeClient() { close(1) }

    private func close(_ index: Int) {
        guard descriptors[index] >= 0 else { return }
        Glibc.close(descriptors[index])
        descriptors[index] = -1
    }

    /// Turns both handshakes until both are done.
    func shake() throws {
        for _ in 0..<20 {
            let first = try client.handshake()
            let second = try server.handshake()
            if first == .done, second == .done { return }
        }
        throw Command.Failed(text: "the handshake does not end")
    }
}

extension TLSSession {
    func send(_ bytes: [UInt8]) throws -> TLSTransfer {
        try unsafe bytes.withUnsafeBytes { try unsafe write($0) }
    }

    func receive(_ capacity: Int = 16_384) throws -> (TLSTransfer, [UInt8]) {
        var bytes = [UInt8](repeating: 0, count: capacity)
        let transfer = try unsafe bytes.withUnsafeMutableBytes { try unsafe read(into: $0) }
        if case .bytes(let count) = transfer { return (transfer, Array(bytes[..<count])) }
        return (transfer, [])
    }
}
