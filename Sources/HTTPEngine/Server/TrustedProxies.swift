// SPDX-License-Identifier: Apache-2.0

/// The proxies in front of a server: who may hold any number of connections, and whose `X-Forwarded-For` is believed.
///
/// The field is a custom without a standard: each proxy appends the address that it was called from. Whoever is not a trusted
/// proxy may have written anything in it, so it is read from its end, and only as far as the addresses are proxies'.
package struct TrustedProxies: Sendable {
    private struct Network: Sendable {
        let bytes: [UInt8]
        let length: Int

        func contains(_ address: NetworkAddress) -> Bool {
            address.bytes.count == self.bytes.count && address.masked(to: self.length) == self.bytes
        }
    }

    private var networks: [Network] = []
    private var hasUnix = false

    /// None.
    package init() {}

    /// Reads addresses (`192.0.2.7`), networks (`10.0.0.0/8`, `2001:db8::/32`) and `unix`, which means whoever can open the
    /// listener's Unix socket; commas between them.
    ///
    /// - Throws: ``ProxyListError``, which names the first element that is none of these.
    package init(parsing text: String) throws(ProxyListError) {
        // Empty elements are told of, not skipped: "a,,b" is more likely a slip than meant.
        for part in text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: " ")
            guard words.count == 1, let word = words.first else { throw ProxyListError(element: String(part)) }
            if word == "unix" {
                self.hasUnix = true
                continue
            }
            let halves = word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let address = NetworkAddress(halves[0]) else { throw ProxyListError(element: String(word)) }
            var length = address.bytes.count * 8
            if halves.count == 2 {
                guard halves[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let given = Int(halves[1]),
                    given <= length
                else { throw ProxyListError(element: String(word)) }
                length = given
            }
            self.networks.append(Network(bytes: address.masked(to: length), length: length))
        }
    }

    /// Whether there is none.
    var isEmpty: Bool { !self.hasUnix && self.networks.isEmpty }

    /// Whether the connection comes from a proxy.
    func contains(_ peer: PeerAddress) -> Bool {
        guard let address = peer.network else { return self.hasUnix }
        return self.contains(address)
    }

    private func contains(_ address: NetworkAddress) -> Bool {
        for network in self.networks where network.contains(address) { return true }
        return false
    }

    /// Who sent a request: the peer, or, when that is a proxy, the last address in `X-Forwarded-For` that is none.
    func client(of headers: HTTPFields, from peer: PeerAddress) -> String {
        guard !self.isEmpty, self.contains(peer) else { return peer.text }
        var client = peer.text
        for element in headers.tokens("x-forwarded-for").reversed() {
            guard let address = NetworkAddress(Self.withoutPort(element)) else { break }
            client = address.text
            guard self.contains(address) else { break }
        }
        return client
    }

    /// Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
    private static func withoutPort(_ element: String) -> Substring {
        let bytes = element.utf8
        if bytes.first == UInt8(ascii: "[") { return Substring(bytes.dropFirst().prefix { $0 != UInt8(ascii: "]") }) }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return parts.count == 2 ? Substring(parts[0]) : element[...]
    }
}

/// A list of proxies that can't be read.
package struct ProxyListError: Error, Sendable, CustomStringConvertible {
    /// What is neither an address nor a network.
    package let element: String

    /// What is wrong, for people.
    package var description: String {
        "\"\(self.element)\" is no address, network (192.0.2.0/24) or \"unix\"; put commas between several"
    }
}
