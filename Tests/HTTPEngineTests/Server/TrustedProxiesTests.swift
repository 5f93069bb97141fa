// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

@Suite("Trusted proxies")
struct TrustedProxiesTests {
    /// A peer as `accept` gives it: the bytes of its `sockaddr`.
    static func peer(_ text: String) throws -> PeerAddress {
        if text == "unix" { return PeerAddress([1, 0]) }
        let address = try #require(NetworkAddress(text))
        let isOld = address.bytes.count == 4
        return PeerAddress(isOld ? [2, 0, 0, 80] + address.bytes : [10, 0, 0, 80, 0, 0, 0, 0] + address.bytes)
    }

    @Test(
        "the client is the last address that no trusted proxy has",
        arguments: [
            ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
            ("10.0.0.1", "203.0.113.9, 10.1.2.3", "203.0.113.9"),
            // What the client itself put in front proves nothing.
            ("10.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
            ("10.0.0.1", "203.0.113.9:4711", "203.0.113.9"),
            ("10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"),
            ("10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"),
            ("10.0.0.1", "garbage", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.9, garbage", "10.0.0.1"),
            ("10.0.0.1", "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("2001:db8:1::5", "203.0.113.9", "203.0.113.9"),
            ("unix", "203.0.113.9", "203.0.113.9"),
            ("unix", "", "unix"),
            // No proxy of ours: its word does not count.
            ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
            ("2001:db8:2::5", "203.0.113.9", "2001:db8:2::5"),
            ("11.0.0.1", "203.0.113.9", "11.0.0.1"),
        ]
    )
    func client(peer: String, forwarded: String, expected: String) throws {
        let proxies = try TrustedProxies(parsing: "10.0.0.0/8, 2001:db8:1::/48,unix")
        var headers: HTTPFields = [:]
        if !forwarded.isEmpty { headers.append("X-Forwarded-For", forwarded) }
        #expect(proxies.client(of: headers, from: try Self.peer(peer)) == expected)
        #expect(TrustedProxies().client(of: headers, from: try Self.peer(peer)) == peer)
    }

    @Test("a field on several lines is one list")
    func lines() throws {
        var headers: HTTPFields = [:]
        headers.append("X-Forwarded-For", "198.51.100.1")
        headers.append("X-Forwarded-For", "203.0.113.9")
        let proxies = try TrustedProxies(parsing: "10.0.0.1")
        #expect(proxies.client(of: headers, from: try Self.peer("10.0.0.1")) == "203.0.113.9")
    }

    @Test(
        "a list that can't be read names what is wrong in it",
        arguments: [
            "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0", "proxy.example.com", "10.0.0.1 10.0.0.2", "::1/129",
            "[::1]", "10.0.0.1,,x", "10.0.0.0/+8", "10.0.0.0/8/8", " , ",
        ]
    )
    func unreadable(text: String) {
        let error = #expect(throws: ProxyListError.self) { try TrustedProxies(parsing: text) }
        #expect(error?.description.contains("192.0.2.0/24") == true)
    }

    @Test("networks hold the addresses with their first bits, and no others")
    func networks() throws {
        let proxies = try TrustedProxies(parsing: "172.16.0.0/12,0.0.0.0/32,::1")
        for (text, isIn) in [
            ("172.16.0.0", true), ("172.31.255.255", true), ("172.32.0.0", false), ("172.15.255.255", false),
            ("0.0.0.0", true), ("0.0.0.1", false), ("::1", true), ("::2", false),
        ] {
            #expect(proxies.contains(try Self.peer(text)) == isIn, "\(text)")
        }
        let all = try TrustedProxies(parsing: "0.0.0.0/0")
        #expect(all.contains(try Self.peer("8.8.8.8")))
        #expect(!all.contains(try Self.peer("2001:db8::1")))
    }

    @Test("an address, or an IPv6 /64, has its share of connections; a proxy has all there are")
    func admission() throws {
        var limits = RunningServer.limits
        limits.connections = 10
        limits.connectionsPerAddress = 2
        let admission = Admission(limits: limits, proxies: try TrustedProxies(parsing: "10.0.0.1"))
        #expect(admission.admit(try Self.peer("2001:db8::1")))
        #expect(admission.admit(try Self.peer("2001:db8::2")))
        #expect(!admission.admit(try Self.peer("2001:db8::3")))
        #expect(admission.admit(try Self.peer("2001:db8:0:1::3")))
        #expect(admission.admit(try Self.peer("192.0.2.1")))
        #expect(admission.admit(try Self.peer("192.0.2.1")))
        #expect(!admission.admit(try Self.peer("192.0.2.1")))
        #expect(admission.admit(try Self.peer("192.0.2.2")))
        for _ in 0..<4 { #expect(admission.admit(try Self.peer("10.0.0.1"))) }
        #expect(admission.count == 10)
        #expect(!admission.admit(try Self.peer("10.0.0.1")))
        #expect(!admission.admit(try Self.peer("unix")))
        admission.leave(try Self.peer("2001:db8::2"))
        #expect(admission.admit(try Self.peer("2001:db8::9")))
    }

    @Test("a server behind a proxy sees the client, and takes more connections from it than from anyone else")
    func served() async throws {
        var limits = RunningServer.limits
        limits.connectionsPerAddress = 1
        let proxies = try TrustedProxies(parsing: "127.0.0.1")
        try await RunningServer.with(limits, proxies: proxies) { server in
            try await server.talk { peer in
                let second = try RawPeer(server.port)
                for connection in [peer, second] {
                    connection.send("GET /who HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n")
                    try #expect(connection.answer().body.hasPrefix("203.0.113.9 "))
                }
            }
        }
    }
}
