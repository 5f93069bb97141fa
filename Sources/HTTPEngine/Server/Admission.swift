// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Counts open connections and the request bodies that they hold, in all and of each address, and says whether one more is
/// welcome.
final class Admission: Sendable {
    private struct State: Sendable {
        var total = 0
        var ofHolder: [[UInt8]: Int] = [:]
        var bodyBytes = 0
        var bodyBytesOfHolder: [[UInt8]: Int] = [:]
    }
    private let limits: HTTPLimits
    private let proxies: TrustedProxies
    private let state = Locked(State())

    init(limits: HTTPLimits, proxies: TrustedProxies = TrustedProxies()) {
        self.limits = limits
        self.proxies = proxies
    }

    /// Counts a connection in, unless there are too many. Proxies and Unix sockets carry many people's requests: only the
    /// listener's own limit holds for them.
    func admit(_ peer: PeerAddress) -> Bool {
        let holder = self.holder(of: peer)
        return self.state.withLock { state in
            guard state.total < self.limits.connections else { return false }
            if let holder {
                guard state.ofHolder[holder, default: 0] < self.limits.connectionsPerAddress else { return false }
                state.ofHolder[holder, default: 0] += 1
            }
            state.total += 1
            return true
        }
    }

    /// Counts a connection out.
    func leave(_ peer: PeerAddress) {
        let holder = self.holder(of: peer)
        self.state.withLock { state in
            state.total -= 1
            guard let holder, let count = state.ofHolder[holder] else { return }
            state.ofHolder[holder] = count > 1 ? count - 1 : nil
        }
    }

    /// Counts bytes of request bodies in, unless there are too many.
    func reserve(_ bytes: Int, for peer: PeerAddress) -> Bool {
        let holder = self.holder(of: peer)
        return self.state.withLock { state in
            guard state.bodyBytes + bytes <= self.limits.bodyBufferBytes else { return false }
            if let holder {
                let sum = state.bodyBytesOfHolder[holder, default: 0] + bytes
                guard sum <= self.limits.bodyBufferBytesPerAddress else { return false }
                state.bodyBytesOfHolder[holder] = sum
            }
            state.bodyBytes += bytes
            return true
        }
    }

    /// Counts them out.
    func release(_ bytes: Int, for peer: PeerAddress) {
        let holder = self.holder(of: peer)
        self.state.withLock { state in
            state.bodyBytes -= bytes
            guard let holder, let sum = state.bodyBytesOfHolder[holder] else { return }
            state.bodyBytesOfHolder[holder] = sum > bytes ? sum - bytes : nil
        }
    }

    /// Bytes of request bodies that are counted now.
    var bodyBytes: Int { self.state.withLock { $0.bodyBytes } }

    private func holder(of peer: PeerAddress) -> [UInt8]? { self.proxies.contains(peer) ? nil : peer.holder }

    /// Open connections.
    var count: Int { self.state.withLock { $0.total } }
}
