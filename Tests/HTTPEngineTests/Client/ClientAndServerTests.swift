// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// The client against the server, each way that they can meet.
@Suite(.timeLimit(.minutes(5)))
struct ClientAndServerTests {
    enum Way: CaseIterable, Sendable { case http1, http2, http1TLS, http2TLS, unix }

    @Test("Requests and answers come through whole, whatever the protocol", arguments: Way.allCases)
    func meet(way: Way) async throws {
        let loops = try EventLoopGroup(count: 2)
        let isSecure = way == .http1TLS || way == .http2TLS
        let path = "/tmp/walletorders-client-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        let server = HTTPServer(
            name: "test",
            address: way == .unix ? .unix(path: path) : .ip(host: "127.0.0.1", port: 0),
            tls: isSecure ? try TestIdentity.server() : nil,
            router: .forTests(),
            limits: .untimed,
            loops: loops,
            logger: Logger(label: "test")
        )
        let bound = try server.bind()
        let port = if case .ip(_, let port) = bound { port } else { 80 }
        let shutdown = Signal()
        async let served: Void = server.run(shutdown: shutdown)

        let alpn = way == .http1TLS ? ["http/1.1"] : ["h2", "http/1.1"]
        let client = HTTPClient(
            loops: loops,
            tls: isSecure ? try TestIdentity.client(alpn: alpn) : nil,
            versions: way == .http2 ? [.http2] : [.http2, .http11]
        )
        let upload = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let isHTTP2 = way == .http2 || way == .http2TLS
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    var request = HTTPClientRequest(.post, isSecure: isSecure, host: "localhost", port: port)
                    if way == .unix { request.unixSocket = path }
                    request.target = "/echo"
                    request.body = upload
                    let response = try await client.send(request, deadline: Patience.long)
                    #expect(response.status == .ok)
                    #expect(response.body == upload)
                    #expect(response.version == (isHTTP2 ? .http2 : .http11))
                }
            }
            try await group.waitForAll()
        }
        await client.close()
        shutdown.fire()
        try await served
        await loops.shutdown()
    }

    @Test("A server that shuts down under load fails no request", arguments: [false, true])
    func shutdownUnderLoad(isHTTP2: Bool) async throws {
        let loops = try EventLoopGroup(count: 2)
        let server = HTTPServer(
            name: "test",
            address: .ip(host: "127.0.0.1", port: 0),
            tls: nil,
            router: .forTests(),
            limits: .untimed,
            loops: loops,
            logger: Logger(label: "test")
        )
        guard case .ip(_, let port) = try server.bind() else { throw RawPeer.Failure(description: "no port") }
        let shutdown = Signal()
        async let served: Void = server.run(shutdown: shutdown)
        let client = HTTPClient(loops: loops, versions: isHTTP2 ? [.http2] : [.http11])
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while true {
                        do throws(HTTPClientError) {
                            let request = HTTPClientRequest(
                                isSecure: false,
                                host: "127.0.0.1",
                                port: port,
                                target: "/body"
                            )
                            let response = try await client.send(request, deadline: Patience.long)
                            tally.add(response.body.count == 20_480 ? nil : .protocolError)
                        } catch {
                            // The listener is gone: the right end.
                            tally.add(error.code)
                            return
                        }
                        // Several may count between one's own counting and its look.
                        if tally.succeeded >= 400 { shutdown.fire() }
                    }
                }
            }
        }
        #expect(tally.succeeded >= 400)
        #expect(tally.failures.keys.allSatisfy { $0 == .refused }, "\(tally.failures)")
        await client.close()
        try await served
        await loops.shutdown()
    }
}
