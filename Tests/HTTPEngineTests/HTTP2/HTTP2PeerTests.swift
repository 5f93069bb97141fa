// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// Against other people's HTTP/2: curl, nghttp, h2load and nghttpd. A peer that is not installed fails its test and is named.
@Suite(.timeLimit(.minutes(5)))
struct HTTP2PeerTests {
    @Test("curl gets and posts", arguments: [false, true])
    func curl(tls: Bool) async throws {
        let tool = try Tool("curl", package: "curl")
        let server = try HTTP2TestServer(.forTests(), tls: tls ? TestIdentity.server() : nil)
        let base = "\(tls ? "https" : "http")://localhost:\(server.port)"
        let mode = tls ? ["--http2", "-k"] : ["--http2-prior-knowledge"]
        let common = ["-sS", "-m", "20", "-w", " %{http_code} %{http_version}"] + mode
        #expect(try await tool.run(common + [base + "/hello"]) == "hello 200 2")
        #expect(try await tool.run(common + ["-d", "name=value", base + "/echo"]) == "name=value 200 2")
        #expect(try await tool.run(common + ["-I", base + "/body"]).contains("content-length: 20480"))
        // A body that curl announces with Expect: 100-continue, and one that is refused for its length.
        let large = String(repeating: "a", count: 1_200_000)
        let echoed = try await tool.run(
            common + ["-H", "expect: 100-continue", "--data-binary", "@-", base + "/echo"],
            input: Array(large.utf8)
        )
        #expect(echoed.hasSuffix(" 200 2") && echoed.utf8.count == large.utf8.count + 6)
        let refused = try await tool.run(common + ["--data-binary", "@-", base + "/small"], input: Array(large.utf8))
        #expect(refused.hasSuffix(" 413 2"))
        await server.stop()
    }

    @Test("nghttp multiplexes", arguments: [false, true])
    func nghttp(tls: Bool) async throws {
        let tool = try Tool("nghttp", package: "nghttp2-client")
        let server = try HTTP2TestServer(.forTests(), tls: tls ? TestIdentity.server() : nil)
        let base = "\(tls ? "https" : "http")://127.0.0.1:\(server.port)"
        let output = try await tool.run(
            ["-n", "-s", "-y", "-m", "20", base + "/body", base + "/large", base + "/hello"])
        #expect(output.split(separator: "\n").count { $0.contains(" 200 ") } == 60, "\(output)")
        await server.stop()
    }

    @Test("h2load's thousands of requests all succeed", arguments: [false, true])
    func h2load(tls: Bool) async throws {
        let tool = try Tool("h2load", package: "nghttp2-client")
        let server = try HTTP2TestServer(.forTests(), tls: tls ? TestIdentity.server() : nil)
        let output = try await tool.run([
            "-n", "4000", "-c", "8", "-m", "16", "\(tls ? "https" : "http")://127.0.0.1:\(server.port)/body",
        ])
        #expect(output.contains("4000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(output)")
        #expect(await server.openStreams() == 0)
        await server.stop()
    }

    @Test("The client pushes thousands of requests through nghttpd, on one connection", arguments: [false, true])
    func nghttpd(tls: Bool) async throws {
        let server = try await NGHTTPD(tls: tls)
        let loop = try EventLoop(name: "client")
        let connection = try await server.connect(loop: loop)
        let tally = Tally()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<100 {
                group.addTask {
                    await loop.run {
                        for number in 0..<40 {
                            do throws(HTTPClientError) {
                                var request = HTTP2Request.push(worker * 100 + number)
                                request.path = "/index.html"
                                request.scheme = tls ? "https" : "http"
                                let response = try await connection.send(request, deadline: Patience.long)
                                tally.add(
                                    response.status == .ok && response.body == Array("hello\n".utf8) ? nil : .reset
                                )
                            } catch {
                                tally.add(error.code)
                            }
                        }
                    }
                }
            }
        }
        #expect(tally.succeeded == 4000, "\(tally.failures)")
        await connection.close()
        await loop.shutdown()
        server.stop()
    }
}

/// An installed program.
struct Tool: Sendable {
    let path: String

    init(_ name: String, package: String) throws {
        let paths = ["/usr/bin/\(name)", "/usr/sbin/\(name)", "/usr/local/bin/\(name)", "/usr/local/sbin/\(name)"]
        path = try #require(
            paths.first { unsafe access($0, X_OK) == 0 },
            "\(name) is not installed: apt-get install \(package)"
        )
    }

    /// Runs it to its end and gives its output, errors included.
    func run(_ arguments: [String], input: [UInt8] = []) async throws -> String {
        let result = try await ChildProcess.run(path, arguments, input: input, limit: 8 << 20)
        return String(decoding: result.output + result.errorOutput, as: UTF8.self)
    }
}

/// nghttpd serving one small file on a free port.
final class NGHTTPD: Sendable {
    let port: Int
    private let process: ChildProcess
    private let folder: String
    private let isSecure: Bool

    init(tls: Bool, streams: Int = 100) async throws {
        let tool = try Tool("nghttpd", package: "nghttp2-server")
        isSecure = tls
        folder = "/tmp/walletorders-nghttpd-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try #require(unsafe mkdir(folder, 0o700) == 0)
        try Self.write(Array("hello\n".utf8), to: folder + "/index.html")
        let identity = try TestIdentity.shared.get()
        try Self.write(identity.certificate.pem(), to: folder + "/cert.pem")
        try Self.write(identity.key.pem(), to: folder + "/key.pem")
        // nghttpd can't pick a port itself.
        port = try PlainListener.freePort()
        var arguments = [tool.path, "-m", "\(streams)", "-a", "127.0.0.1", "-d", folder]
        if !tls { arguments.append("--no-tls") }
        arguments.append("\(port)")
        if tls { arguments += [folder + "/key.pem", folder + "/cert.pem"] }
        // It dies with the thread that starts it, and these only end with the process, however that goes.
        let words = ["--pdeathsig", "KILL", "--"] + arguments
        process = try await runBlocking { try ChildProcess("/usr/bin/setpriv", words) }
    }

    /// Connects as soon as it listens.
    func connect(loop: EventLoop) async throws -> HTTP2ClientConnection {
        let tls = isSecure ? try TestIdentity.client() : nil
        let deadline = MonotonicTime.now() + Patience.long
        while true {
            do throws(HTTPClientError) {
                return try await HTTP2ClientConnection.connect(
                    host: "localhost",
                    port: port,
                    tls: tls,
                    loop: loop,
                    deadline: Patience.long
                )
            } catch {
                guard error.code == .refused, MonotonicTime.now() < deadline else { throw error }
                try await sleep(for: .milliseconds(20))
            }
        }
    }

    func stop() {
        process.send(SIGKILL)
        var status: Int32 = 0
        _ = unsafe waitpid(process.pid, &status, 0)
        for name in ["index.html", "cert.pem", "key.pem"] { _ = unsafe unlink(folder + "/" + name) }
        _ = unsafe rmdir(folder)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let written = unsafe Glibc.write(descriptor, bytes, bytes.count)
        try #require(written == bytes.count)
    }
}
