// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import HTTPEngine
import ServiceRuntime

/// What `scripts/bench` measures: one part of the product, with nothing around it.
enum BenchProgram {
    /// Runs one benchmark's program; never returns.
    static func start() -> Never {
        ProcessSignals.prepare()
        let arguments = Array(Swift.CommandLine.arguments.dropFirst())
        do {
            let loop = try EventLoop(name: "main")
            loop.spawn {
                do {
                    try await self.run(arguments)
                    exit(0)
                } catch {
                    Files.writeStandardError("walletbench: \(error)\n")
                    exit(1)
                }
            }
        } catch {
            exit(1)
        }
        while true { pause() }
    }

    private static func run(_ arguments: [String]) async throws {
        if arguments == ["validate"] { return try ValidateBench.measure() }
        if arguments == ["verdicts"] { return try ValidateBench.verdicts() }
        if arguments.first == "sign", arguments.count == 4, let milliseconds = Int(arguments[3]) {
            return try await SignBench.run(arguments[1], arguments[2], milliseconds: milliseconds)
        }
        guard arguments.first == "http-server", arguments.count == 5, let port = Int(arguments[1]),
            let tlsPort = Int(arguments[2])
        else {
            throw UsageError(
                "usage: walletbench http-server PORT TLSPORT CERTIFICATE.pem KEY.pem | sign PART FOLDER MILLISECONDS"
            )
        }
        let body = [UInt8](repeating: 0x78, count: 20 * 1_024)
        var router = Router()
        router.on(.get, "/body", name: "body") { _, _ in
            HTTPResponse(.ok, headers: ["content-type": "application/octet-stream"], body: .bytes(body))
        }
        let logger = Logger(label: "walletbench")
        let loops = try EventLoopGroup(count: 2)
        let tls = try TLSContext.server(
            certificate: try Certificate(pem: try Files.read(arguments[3])),
            chain: [],
            key: try PrivateKey(pem: try Files.read(arguments[4]), passphrase: nil),
            alpn: ["h2", "http/1.1"],
            clientCertificates: .none
        )
        let servers = try [(port, nil), (tlsPort, tls)].map { port, tls in
            let server = HTTPServer(
                name: "bench",
                address: .ip(host: "127.0.0.1", port: port),
                tls: tls,
                router: router,
                loops: loops,
                logger: logger
            )
            _ = try server.bind()
            return server
        }
        let group = ServiceGroup(servers, logger: logger)
        ProcessSignals.watch(on: loops.loops[0]) { _ in group.stop() }
        try await group.run()
    }
}
