// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(5)))
struct HTTPClientTests {
    /// An answer of HTTP/1.1.
    private static func answer(_ body: String, _ fields: String = "") -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\n\(fields)\r\n\(body)".utf8)
    }

    private static func get(_ port: Int, _ path: String = "/") -> HTTPClientRequest {
        HTTPClientRequest(isSecure: false, host: "127.0.0.1", port: port, target: path)
    }

    @Test("One connection serves one request after the other; several at once have several, up to the bound")
    func pool() async throws {
        let server = try RawHTTP1Server { peer, request, _ in
            if request.path == "/hold" {
                peer.held += 1
                // All are let go when three wait.
                if peer.server.heldCount() == 3 { peer.server.release(Self.answer("held")) }
            } else {
                peer.transport.write(Self.answer(request.path))
            }
        }
        var limits = HTTPClient.Limits()
        limits.connectionsPerOrigin = 3
        let client = HTTPClient(loop: server.loop, limits: limits)
        for number in 0..<5 {
            let response = try await client.send(Self.get(server.port, "/\(number)"), deadline: Patience.long)
            #expect(response.body == Array("/\(number)".utf8))
            #expect(response.version == .http11)
        }
        #expect(server.connectionCount == 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let response = try await client.send(Self.get(server.port, "/hold"), deadline: Patience.long)
                    #expect(response.body == Array("held".utf8))
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connectionCount == 3)
        await client.close()
        await server.stop()
    }

    @Test("A waiter that is cancelled when its turn has come hands the turn on")
    func cancelledTurn() async throws {
        let loop = try EventLoop(name: "client")
        var limits = HTTPClient.Limits()
        limits.connectionsPerOrigin = 1
        let client = HTTPClient(loop: loop, limits: limits)
        let origin = ClientOrigin(.init(endpoint: .tcp(host: "127.0.0.1", port: 9), isSecure: true, host: "a"))
        // Its one connection is being made, so both wait; later there is none, and who looks again fails for want of TLS.
        await loop.run {
            origin.speaksHTTP1Only = true
            origin.connecting = 1
        }
        let codes = Locked<[HTTPClientError.Code?]>([nil, nil])
        let ended = [Signal(), Signal()]
        let tasks = (0..<2).map { index in
            loop.spawn {
                do throws(HTTPClientError) {
                    _ = try await client.lease(origin, MonotonicTime.now() + .seconds(5) * Patience.factor)
                } catch {
                    codes.withLock { $0[index] = error.code }
                }
                ended[index].fire()
            }
        }
        while await loop.run({ origin.waiters.count }) < 2 { try await sleep(for: .milliseconds(1)) }
        loop.execute {
            origin.connecting = 0
            origin.wakeOne()
            tasks[0].cancel()
        }
        for signal in ended { try await signal.wait() }
        #expect(codes.withLock { $0 } == [.cancelled, .tls])
        await loop.shutdown()
    }

    @Test("An HTTP/2 connection without a request is closed after its time, and the server is forgotten")
    func idleHTTP2() async throws {
        let server = try HTTP2TestServer(.forTests())
        var limits = HTTPClient.Limits()
        limits.idleTimeout = .milliseconds(300)
        let client = HTTPClient(loop: server.loop, versions: [.http2], limits: limits)
        for _ in 0..<2 {
            let response = try await client.send(Self.get(server.port, "/hello"), deadline: Patience.long)
            #expect(response.status == .ok)
            try await withDeadline(Patience.long) {
                while await server.loop.run({ !client.origins.isEmpty }) { try await sleep(for: .milliseconds(5)) }
            }
        }
        await client.close()
        await server.stop()
    }

    @Test("A kept connection that the server closed costs a second try for idempotent methods, an error for others")
    func staleConnection() async throws {
        let server = try RawHTTP1Server { peer, request, number in
            // Each connection answers once and is cut when the second request comes.
            if peer.requests.count == 1 {
                peer.transport.write(Self.answer("\(number)"))
            } else {
                peer.transport.abort()
            }
        }
        let client = HTTPClient(loop: server.loop)
        for number in 0..<3 {
            let response = try await client.send(Self.get(server.port), deadline: Patience.long)
            #expect(response.body == Array("\(number)".utf8))
        }
        var post = Self.get(server.port)
        post.method = .post
        post.body = [1]
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await client.send(post, deadline: Patience.long)
        }
        #expect(error?.code == .closed)
        await client.close()
        await server.stop()
    }

    @Test("A connection that the server ends while idle is not used again, not even for a POST")
    func endedWhileIdle() async throws {
        let server = try RawHTTP1Server { peer, _, number in peer.transport.write(Self.answer("\(number)")) }
        let client = HTTPClient(loop: server.loop)
        _ = try await client.send(Self.get(server.port), deadline: Patience.long)
        await server.loop.run { server.peers[0].transport.abort() }
        try await server.peers[0].closed.wait()
        var post = Self.get(server.port)
        post.method = .post
        #expect(try await client.send(post, deadline: Patience.long).body == Array("1".utf8))
        await client.close()
        await server.stop()
    }

    @Test(
        "An answer that is wrong, too large, cut, or never comes is an error with its code",
        arguments: [
            ("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n", HTTPClientError.Code.tooLarge),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n" + String(repeating: "a", count: 4095),
                .tooLarge
            ),
            ("HTTP/1.1 200 OK\r\nx: " + String(repeating: "a", count: 20_000), .tooLarge),
            ("SSH-2.0-OpenSSH\r\n", .protocolError),
            ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc<cut>", .closed),
            ("", .timeout),
            ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab", .timeout),
        ]
    )
    func badAnswers(text: String, code: HTTPClientError.Code) async throws {
        let server = try RawHTTP1Server { peer, _, _ in
            let isCut = text.hasSuffix("<cut>")
            peer.transport.write(Array((isCut ? String(text.dropLast(5)) : text).utf8))
            if isCut { peer.transport.close() }
        }
        let client = HTTPClient(loop: server.loop)
        var request = Self.get(server.port)
        request.responseLimit = 1000
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await client.send(request, deadline: code == .timeout ? .milliseconds(200) : Patience.long)
        }
        #expect(error?.code == code, "\(error?.message ?? "")")
        await client.close()
        await server.stop()
    }

    @Test("Bodies come chunked, by length, or up to the end; interim answers and HEAD are understood")
    func framings() async throws {
        let server = try RawHTTP1Server { peer, request, _ in
            switch request.path {
            case "/chunked":
                peer.transport.write(
                    Array("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n".utf8)
                )
            case "/end":
                peer.transport.write(Array("HTTP/1.1 200 OK\r\n\r\nabcde".utf8))
                peer.transport.close()
            case "/interim":
                peer.transport.write(Array("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".utf8) + Self.answer("abcde"))
            default:
                peer.transport.write(Array("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n".utf8))
            }
        }
        let client = HTTPClient(loop: server.loop)
        for path in ["/chunked", "/end", "/interim"] {
            let response = try await client.send(Self.get(server.port, path), deadline: Patience.long)
            #expect(response.body == Array("abcde".utf8), "\(path)")
        }
        var head = Self.get(server.port, "/head")
        head.method = .head
        let response = try await client.send(head, deadline: Patience.long)
        #expect(response.body.isEmpty)
        #expect(response.headers["content-length"] == "5")
        await client.close()
        await server.stop()
    }

    @Test("Cancelling ends a request and its connection, and harms no later one")
    func cancels() async throws {
        let began = Signal()
        let server = try RawHTTP1Server { peer, request, _ in
            if request.path == "/never" { began.fire() } else { peer.transport.write(Self.answer("ok")) }
        }
        let client = HTTPClient(loop: server.loop)
        let code = await withTaskGroup(of: HTTPClientError.Code?.self) { group in
            group.addTask {
                do throws(HTTPClientError) {
                    _ = try await client.send(Self.get(server.port, "/never"), deadline: Patience.long)
                    return nil
                } catch { return error.code }
            }
            try? await began.wait()
            group.cancelAll()
            return await group.next() ?? nil
        }
        #expect(code == .cancelled)
        #expect(try await client.send(Self.get(server.port), deadline: Patience.long).body == Array("ok".utf8))
        await client.close()
        await server.stop()
    }

    @Test("Over TLS one HTTP/2 connection carries all; requests that begin together share its making")
    func http2() async throws {
        let control = HTTP2Control()
        let server = try HTTP2TestServer(.forTests(), tls: TestIdentity.server(), control: control)
        let client = HTTPClient(loop: server.loop, tls: try TestIdentity.client())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    let request = try HTTPClientRequest(.get, "https://localhost:\(server.port)/body")
                    let response = try await client.send(request, deadline: Patience.long)
                    #expect(response.body.count == 20_480)
                    #expect(response.version == .http2)
                }
            }
            try await group.waitForAll()
        }
        #expect(control.connectionCount == 1)
        // A GOAWAY that left a request unprocessed: it goes out again on a new connection.
        control.decide { _, place in
            place.connection == 1 ? .goAway(.noError, debugData: [], lastStream: place.stream - 2) : .serve
        }
        let request = try HTTPClientRequest(.get, "https://localhost:\(server.port)/hello")
        #expect(try await client.send(request, deadline: Patience.long).body == Array("hello".utf8))
        #expect(control.connectionCount == 2)
        await client.close()
        await server.stop()
    }

    @Test("What waited for a stream until its time was over is not tried again after it")
    func waitedForStream() async throws {
        let sent = Locked(0)
        let server = try RawHTTP2Server(settings: [(3, 1)]) { _, frame, _ in
            if frame.type == 1 { sent.withLock { $0 += 1 } }
        }
        let client = HTTPClient(loop: server.loop, versions: [.http2])
        let request = try HTTPClientRequest(.get, "http://127.0.0.1:\(server.port)/silent")
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        _ = try await client.send(request, deadline: .milliseconds(300) * Patience.factor)
                        tally.add(nil)
                    } catch let error as HTTPClientError {
                        tally.add(error.code)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(tally[.timeout] == 4, "\(tally.failures)")
        await client.close()
        // One had the stream; the others' time was over before it was free.
        #expect(server.peers.count == 1)
        #expect(sent.withLock { $0 } == 1)
        await server.stop()
    }

    @Test("A server whose certificate is not trusted, or bears another name, gets no request")
    func untrusted() async throws {
        let server = try HTTP2TestServer(.forTests(), tls: TestIdentity.server())
        let stranger = HTTPClient(loop: server.loop, tls: try TestIdentity.strangersClient())
        let request = try HTTPClientRequest(.get, "https://localhost:\(server.port)/hello")
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await stranger.send(request, deadline: Patience.long)
        }
        #expect(error?.code == .tls)
        let none = HTTPClient(loop: server.loop)
        let missing = await #expect(throws: HTTPClientError.self) {
            _ = try await none.send(request, deadline: Patience.long)
        }
        #expect(missing?.code == .tls)
        await stranger.close()
        await server.stop()
    }

    @Test("A closed client refuses, and what was under way fails")
    func closing() async throws {
        let began = Signal()
        let server = try RawHTTP1Server { _, _, _ in began.fire() }
        let client = HTTPClient(loop: server.loop)
        async let outcome = Result { try await client.send(Self.get(server.port), deadline: Patience.long) }
        try await began.wait()
        await client.close()
        let failure = await outcome
        #expect(throws: HTTPClientError.self) { try failure.get() }
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await client.send(Self.get(server.port), deadline: Patience.long)
        }
        #expect(error?.code == .notProcessed)
        await server.stop()
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
