// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Who is at the other end of a connection.
struct PeerAddress: Hashable, Sendable {
    /// nil for a Unix socket.
    let network: NetworkAddress?
    /// The address as text without its port; "unix" for a Unix socket.
    let text: String

    /// Reads a `sockaddr`'s bytes.
    init(_ bytes: [UInt8]) {
        let family = bytes.count >= 2 ? Int32(bytes[0]) | Int32(bytes[1]) << 8 : AF_UNIX
        if family == AF_INET, bytes.count >= 8 {
            self.network = NetworkAddress(bytes: Array(bytes[4..<8]))
        } else if family == AF_INET6, bytes.count >= 24 {
            self.network = NetworkAddress(bytes: Array(bytes[8..<24]))
        } else {
            self.network = nil
        }
        self.text = self.network?.text ?? "unix"
    }

    /// Whose connections are counted together: an IPv4 address, or the /64 that one IPv6 subscriber has at the least.
    var holder: [UInt8]? { self.network?.masked(to: 64) }
}
