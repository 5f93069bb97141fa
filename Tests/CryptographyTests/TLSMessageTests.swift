// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc
import Testing

@testable import Cryptography

@Suite("TLS: messages that are no data")
struct TLSMessageTests {
    private static func pair(_ version: Int32 = TLS1_3_VERSION) throws -> TLSPair {
        let pki = try TestPKI.shared()
        let client = try TLSContext.client(trust: .certificates([pki.root]), alpn: [], identity: nil)
        unsafe SSL_CTX_ctrl(client.pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        let server = try TLSContext.server(
            certificate: pki.server,
            chain: [pki.intermediate],
            key: pki.serverKey,
            alpn: [],
            clientCertificates: .none
        )
        let pair = try TLSPair(server: server, client: client)
        try pair.shake()
        // The tickets, in TLS 1.3.
        _ = try pair.client.receive()
        return pair
    }

    /// Changes the keys that one side writes with, and tells the other so.
    private static func changeKeys(of session: TLSSession) -> Bool {
        unsafe SSL_key_update(session.pointer, SSL_KEY_UPDATE_NOT_REQUESTED) == 1
            && SSL_do_handshake(session.pointer) == 1
    }

    @Test("Keys that change now and then are followed, whoever changes them", arguments: [true, false])
    func honest(isServer: Bool) throws {
        let pair = try Self.pair()
        let (changer, follower) = isServer ? (pair.server, pair.client) : (pair.client, pair.server)
        for round in 0..<100 {
            try #require(Self.changeKeys(of: changer))
            let piece = [UInt8](repeating: UInt8(round), count: 1_024)
            #expect(try changer.send(piece) == .bytes(1_024))
            #expect(try follower.receive().1 == piece)
        }
        // A handful without any data, too.
        for _ in 0..<30 { try #require(Self.changeKeys(of: changer)) }
        #expect(try changer.send([1]) == .bytes(1))
        #expect(try follower.receive().1 == [1])
    }

    @Test("Keys that change without end and without data end the connection, whoever does", arguments: [true, false])
    func endless(isServer: Bool) throws {
        let pair = try Self.pair()
        let (changer, follower) = isServer ? (pair.server, pair.client) : (pair.client, pair.server)
        for _ in 0..<100 { try #require(Self.changeKeys(of: changer)) }
        // What comes after them is not reached any more.
        #expect(try changer.send([1]) == .bytes(1))
        #expect(throwsCode(.tls) { while try follower.receive().0 == .wantsRead {} })
        #expect(throwsCode(.tls) { try follower.receive() })
    }

    @Test("One call goes to the socket a bounded number of times, and the next goes on where it stopped")
    func oneCall() throws {
        let pair = try Self.pair()
        // As many as a connection may have before any data; each is read in two steps.
        for _ in 0..<32 { try #require(Self.changeKeys(of: pair.client)) }
        #expect(try pair.client.send([1, 2, 3]) == .bytes(3))
        #expect(try pair.server.receive().0 == .wantsRead)
        #expect(try pair.server.receive().1 == [1, 2, 3])
    }

    @Test("TLS 1.2: a new handshake on an open connection is refused, from either side", arguments: [true, false])
    func renegotiation(isServer: Bool) throws {
        let pair = try Self.pair(TLS1_2_VERSION)
        #expect(pair.server.protocolVersion == "TLSv1.2")
        let (asker, other) = isServer ? (pair.server, pair.client) : (pair.client, pair.server)
        // Ours doesn't even ask, until it is told to.
        unsafe #expect(SSL_renegotiate(asker.pointer) == 0)
        unsafe SSL_clear_options(asker.pointer, 1 << 30)
        unsafe #expect(SSL_renegotiate(asker.pointer) == 1)
        _ = unsafe SSL_do_handshake(asker.pointer)
        #expect(try other.receive().0 == .wantsRead)
        // The server only asks for a handshake, and goes on when the client doesn't heed it.
        if isServer { return }
        let result = unsafe SSL_do_handshake(asker.pointer)
        #expect(result <= 0)
        let reason = ERR_peek_last_error() & 0x7f_ffff
        #expect(reason == UInt(SSL_R_NO_RENEGOTIATION))
        ERR_clear_error()
        // It is no fault of the connection: what was agreed on still holds.
        #expect(try other.send([1, 2, 3]) == .bytes(3))
    }

    @Test("TLS 1.2: asking for new handshakes without end ends the connection")
    func endlessRenegotiation() throws {
        let pair = try Self.pair(TLS1_2_VERSION)
        // HelloRequest, the server's way to ask: in records of its own, sent as often as it likes.
        unsafe SSL_clear_options(pair.server.pointer, 1 << 30)
        var isEnded = false
        for _ in 0..<200 where !isEnded {
            guard unsafe SSL_renegotiate_abbreviated(pair.server.pointer) == 1 else { break }
            _ = unsafe SSL_do_handshake(pair.server.pointer)
            do { _ = try pair.client.receive() } catch { isEnded = true }
        }
        #expect(isEnded)
    }
}
