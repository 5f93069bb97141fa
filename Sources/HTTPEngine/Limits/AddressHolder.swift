// SPDX-License-Identifier: Apache-2.0

/// Who is behind an address, as far as addresses tell.
package enum AddressHolder {
    /// Whose requests are counted together: those of one IPv4 address, or of the /64 that one IPv6 subscriber has at the least
    /// (RFC 6177), as connections are.
    ///
    /// - Parameter address: as ``HTTPRequest/remoteAddress`` has it.
    /// - Returns: nil for a Unix socket: behind it are all clients of a proxy, and it did not say which.
    package static func of(_ address: String) -> String? {
        if address == "unix" { return nil }
        guard address.utf8.contains(UInt8(ascii: ":")), let parsed = NetworkAddress(address) else { return address }
        return NetworkAddress(bytes: parsed.masked(to: 64))?.text ?? address
    }
}
