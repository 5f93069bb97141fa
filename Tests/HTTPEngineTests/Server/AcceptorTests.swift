// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP server: accepting", .timeLimit(.minutes(1)))
struct AcceptorTests {
    @Test("a connection beyond the caps hears 503 with Retry-After, whether its request came first or not")
    func refusal() async throws {
        var limits = RunningServer.limits
        limits.connectionsPerAddress = 2
        try await RunningServer.with(limits) { server in
            let port = server.port
            try await runBlocking {
                let peers = try (0..<2).map { _ in try RawPeer(port) }
                for peer in peers {
                    peer.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                    try #expect(peer.answer().status == 200)
                }
                for sendsFirst in [false, true, false, true] {
                    let late = try RawPeer(port)
                    if sendsFirst { late.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n") }
                    let answer = try late.answer()
                    #expect(answer.status == 503)
                    #expect(answer.has("retry-after: 5") && answer.has("connection: close"))
                    #expect(answer.body.contains(#""code":"too-many-connections""#))
                    #expect(late.readToEnd().end != .stillOpen)
                }
                #expect(server.server.connectionCount == 2)
            }
        }
    }

    @Test("over TLS a connection beyond the caps is closed without a word")
    func refusalOverTLS() async throws {
        var limits = RunningServer.limits
        limits.connections = 0
        try await RunningServer.with(limits, tls: TestIdentity.server()) { server in
            let heard = try await server.talk { $0.readToEnd() }
            #expect(heard.text.isEmpty && heard.end == .closed)
        }
    }

    /// What the kernel is made to say, and how often it was asked.
    private final class Kernel: Sendable {
        let asked = Locked(0)
        let failure = Locked<Int32?>(nil)

        func accept(_ listener: Listener) -> Acceptor.Outcome {
            asked.withLock { $0 += 1 }
            if let code = failure.withLock({ $0 }) { return .failed(SystemError(operation: "accept", errno: code)) }
            return Acceptor.acceptNext(listener)
        }
    }

    @Test(
        "while the kernel has no descriptor or memory for who waits, it is asked a few times a second; then all are taken",
        arguments: [EMFILE, ENFILE, ENOMEM]
    )
    func exhausted(code: Int32) async throws {
        let loop = try EventLoop(name: "accepting")
        let listener = try Listener(.ip(host: "127.0.0.1", port: 0), backlog: 10)
        guard case .ip(_, let port) = listener.address else { throw RawPeer.Failure(description: "no port") }
        let kernel = Kernel()
        kernel.failure.withLock { $0 = code }
        let taken = Locked<[Int32]>([])
        let all = Signal()
        let acceptor = await Confined.acceptor(listener, loop, kernel.accept) { descriptor in
            let count = taken.withLock { taken in
                taken.append(descriptor)
                return taken.count
            }
            if count == 3 { all.fire() }
        }
        try await loop.run { try acceptor.value.start() }
        let peers = try await runBlocking { try (0..<3).map { _ in try RawPeer(port) } }
        let before = kernel.asked.withLock { $0 }
        let start = MonotonicTime.now()
        var asked = 0
        repeat {
            try await Task.sleep(for: .milliseconds(600))
            asked = kernel.asked.withLock { $0 } - before
        } while asked == 0 && MonotonicTime.now() - start < Patience.long
        let tenths = Int((MonotonicTime.now() - start).inSeconds * 10)
        // Twice a try: the second time with the reserve given up. A loop that spins asks a hundred thousand times.
        #expect(asked >= 1 && asked <= 2 * (tenths + 2), "asked \(asked) times in \(tenths) tenths of a second")
        kernel.failure.withLock { $0 = nil }
        try await all.wait()
        #expect(taken.withLock { $0.count } == peers.count)
        await loop.run { acceptor.value.stop() }
        for descriptor in taken.withLock({ $0 }) { _ = Glibc.close(descriptor) }
        await loop.shutdown()
    }

    @Test("whoever waits for a connection when the listener stops gets it, however many they are")
    func stop() async throws {
        let loop = try EventLoop(name: "accepting")
        let listener = try Listener(.ip(host: "127.0.0.1", port: 0), backlog: 1_024)
        let waiting = Locked(200)
        let taken = Locked(0)
        let accept: Confined.Accept = { _ in
            waiting.withLock { waiting in
                if waiting == 0 { return .none }
                waiting -= 1
                return .connection(-1, PeerAddress([]))
            }
        }
        let acceptor = await Confined.acceptor(listener, loop, accept) { _ in taken.withLock { $0 += 1 } }
        try await loop.run { try acceptor.value.start() }
        await loop.run { acceptor.value.stop() }
        #expect(taken.withLock { $0 } == 200)
        await loop.shutdown()
    }

    /// The acceptor, which is its loop's.
    private final class Confined: @unchecked Sendable {
        // Sendable by rule: the value is used on the loop only.
        let value: Acceptor
        private init(_ value: Acceptor) { self.value = value }

        typealias Accept = @Sendable (Listener) -> Acceptor.Outcome

        static func acceptor(
            _ listener: Listener,
            _ loop: EventLoop,
            _ accept: @escaping Accept,
            _ take: @escaping @Sendable (Int32) -> Void
        ) async -> Confined {
            await loop.run {
                Confined(
                    Acceptor(
                        listener: listener,
                        loop: loop,
                        admission: Admission(limits: HTTPLimits()),
                        logger: Logger(label: "test", sink: LogSink(form: .text) { _ in }),
                        accept: accept
                    ) { descriptor, _ in take(descriptor) }
                )
            }
        }
    }
}
