// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPEngine
import ServiceRuntime
import Testing

@testable import walletorders

@Suite("Descriptors")
struct DescriptorTests {
    private static func configuration(loops: Int = 2) -> ServerConfiguration {
        ServerConfiguration(
            Configuration(settings: Settings.all, flags: ["loops": "\(loops)"], environment: [:], file: []),
            ConfigurationFile.Contents(),
            environment: ["HOME": "/tmp"]
        )
    }

    @Test func `with enough of them all listeners have the default limits, but for the admin listener's connections`()
        throws
    {
        let descriptors = Descriptors(Self.configuration(), limit: 1 << 20)
        #expect(descriptors.isEnough)
        #expect(descriptors.device == HTTPLimits())
        #expect(descriptors.merchant == HTTPLimits())
        var admin = HTTPLimits()
        admin.connections = 256
        #expect(descriptors.admin == admin)
    }

    @Test(arguments: [400, 1_024, 4_096, 10_000])
    func `with few of them all listeners together leave what the rest needs`(limit: Int) throws {
        let descriptors = Descriptors(Self.configuration(), limit: limit)
        #expect(descriptors.isEnough == (limit == 10_000))
        let shares = [descriptors.device, descriptors.merchant, descriptors.admin].map(\.connections)
        #expect(shares.allSatisfy { $0 >= 64 })
        #expect(shares.reduce(0, +) <= limit - 128 - 2 * 4)
        #expect(shares[0] == shares[1])
        let diagnosis = DoctorCommand.descriptors(descriptors)
        #expect(diagnosis.isGood == descriptors.isEnough)
        #expect(diagnosis.text.contains("LimitNOFILE=") != diagnosis.isGood)
        #expect(DoctorCommand.descriptors(Descriptors(Self.configuration(), limit: descriptors.wanted)).isGood)
    }

    /// Opens more connections to the first port than a small process can have, from a dozen addresses; then asks both others.
    private static let crowd = """
        import socket, sys
        device, merchant, admin = map(int, sys.argv[1:4])
        crowd = []
        for address in range(2, 14):
            for _ in range(95):
                s = socket.socket()
                s.bind(("127.0.0.%d" % address, 0))
                s.setblocking(False)
                try: s.connect(("127.0.0.1", device))
                except BlockingIOError: pass
                crowd.append(s)
        def ask(port, path):
            s = socket.create_connection(("127.0.0.1", port), timeout=60)
            s.sendall(b"GET %s HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n" % path)
            data = b""
            while True:
                more = s.recv(65536)
                if not more: return data.split(b" ")[1].decode()
                data += more
        for _ in range(5): print(ask(admin, b"/livez"), ask(admin, b"/readyz"), ask(merchant, b"/api/v1/orders"))
        """

    @Test func `a crowd at the public listener keeps nobody from the others where there are few`()
        async throws
    {
        try await TestInstallation.use { installation in
            let program = try installation.launch(
                "/bin/sh",
                [
                    "-c", "ulimit -n 600; exec \"$0\" \"$@\"", TestInstallation.program, "run", "--data-dir",
                    installation.data,
                ] + TestInstallation.freePorts
            )
            try await program.says("Create an order:")
            func port(_ label: String) throws -> String {
                let address = try program.value(after: label, upTo: "\n")
                return String(address.split(separator: ":").last?.prefix { $0.isNumber } ?? "")
            }
            let answer = try await ChildProcess.run(
                "/usr/bin/python3",
                ["-c", Self.crowd, try port("  devices "), try port("  merchants "), try port("  admin ")]
            )
            #expect(answer.status == 0, "\(answer.errorText)")
            #expect(answer.text == String(repeating: "200 200 401\n", count: 5), "\(answer.text)")
            #expect(program.text.contains("few descriptors"))
            #expect(try await program.end(SIGTERM) == 0)
        }
    }
}
