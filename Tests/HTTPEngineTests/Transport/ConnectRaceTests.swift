// SPDX-License-Identifier: Apache-2.0
import CLinux
import Cryptography
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(5)))
struct ConnectRaceTests {
    @Test("A port nobody listens on is refused at once")
    func refused() async throws {
        let loop = try EventLoop(name: "connect")
        // Taken, or another test might get it, but nobody listens.
        let socket = try PlainListener(isListening: false)
        let port = socket.port
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await ConnectRace.connect(
                to: .tcp(host: "127.0.0.1", port: port),
                loop: loop,
                deadline: .now() + Patience.long
            )
        }
        #expect(error?.code == .refused)
        socket.stop()
        await loop.shutdown()
    }

    @Test("A name without an address says so")
    func unknownName() async throws {
        let loop = try EventLoop(name: "connect")
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await ConnectRace.connect(
                to: .tcp(host: "nowhere.invalid", port: 1),
                loop: loop,
                deadline: .now() + Patience.long
            )
        }
        #expect(error?.code == .connect || error?.code == .timeout)
        await loop.shutdown()
    }

    @Test("An address that fails gives way to the next one")
    func fallsBack() async throws {
        // The listener has IPv4 only; where "localhost" also means ::1, that one is tried and refused.
        let listener = try PlainListener()
        let loop = try EventLoop(name: "connect")
        let descriptor = try await ConnectRace.connect(
            to: .tcp(host: "localhost", port: listener.port),
            loop: loop,
            deadline: .now() + Patience.long
        )
        #expect(descriptor >= 0)
        close(descriptor)
        listener.stop()
        await loop.shutdown()
    }

    @Test("A Unix socket whose backlog stays full ends at the deadline, and cancelling ends it before")
    func fullBacklog() async throws {
        let path = "/tmp/walletorders-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        let address = try #require(SocketAddress(unixPath: path))
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(descriptor)
            _ = unsafe unlink(path)
        }
        let bound = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe bind(
                descriptor,
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        try #require(bound == 0 && listen(descriptor, 0) == 0)
        let loop = try EventLoop(name: "connect")
        let first = try await ConnectRace.connect(to: .unix(path: path), loop: loop, deadline: .now() + Patience.long)
        defer { close(first) }

        let late = await #expect(throws: HTTPClientError.self) {
            _ = try await ConnectRace.connect(to: .unix(path: path), loop: loop, deadline: .now() + .milliseconds(80))
        }
        #expect(late?.code == .timeout)

        let cancelled = await withTaskGroup(of: HTTPClientError?.self) { group in
            group.addTask {
                do throws(HTTPClientError) {
                    _ = try await ConnectRace.connect(
                        to: .unix(path: path),
                        loop: loop,
                        deadline: .now() + Patience.long
                    )
                    return nil
                } catch { return error }
            }
            group.cancelAll()
            return await group.next() ?? nil
        }
        #expect(cancelled?.code == .cancelled)
        await loop.shutdown()
    }

    @Test("A path that a Unix socket cannot have is refused before any system call")
    func longPath() async throws {
        let loop = try EventLoop(name: "connect")
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await ConnectRace.connect(
                to: .unix(path: String(repeating: "a", count: 200)),
                loop: loop,
                deadline: .now() + Patience.long
            )
        }
        #expect(error?.code == .connect)
        await loop.shutdown()
    }

    @Test("A server with a certificate that nobody trusts is a TLS error, not a connection error")
    func untrusted() async throws {
        let listener = try PlainListener()
        let loop = try EventLoop(name: "connect")
        let side = RecordingDelegate()
        let context = try TestIdentity.server()
        listener.accept(on: loop) { descriptor in
            guard let session = try? TLSSession(context, descriptor: descriptor, serverName: nil) else { return }
            SocketTransport(takingOwnership: descriptor, loop: loop, tls: session).start(side)
        }
        let strangers = try TestIdentity.strangersClient()
        let error = await #expect(throws: HTTPClientError.self) {
            _ = try await SocketTransport.connect(
                to: .tcp(host: "127.0.0.1", port: listener.port),
                tls: strangers,
                loop: loop,
                deadline: .now() + Patience.long
            )
        }
        #expect(error?.code == .tls)
        try await side.closed.wait()
        listener.stop()
        await loop.shutdown()
    }
}
