// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestPatience
import Testing

/// What clients on the network can do to a whole process, seen from outside.
@Suite("Hostile and late clients")
struct HostileClientTests {
    /// Goes one beyond each bound, thousands of times, and tells the process's memory before and after, in KiB.
    private static let violations = """
        import socket, struct, sys
        address, pid = sys.argv[1], sys.argv[3]
        host, port = address.rsplit(":", 1)
        def resident():
            for line in open("/proc/%s/status" % pid):
                if line.startswith("VmRSS"): return int(line.split()[1])
        def text(s): return bytes([127, len(s) - 127 & 127 | 128, len(s) - 127 >> 7]) + s if len(s) > 127 else bytes([len(s)]) + s
        def frame(type, flags, stream, payload):
            return struct.pack(">I", len(payload))[1:] + bytes([type, flags]) + struct.pack(">I", stream) + payload
        def request(*more):
            fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/api/v1/orders"), (b":authority", b"a")]
            return b"".join(b"\\0" + text(n) + text(v) for n, v in fields + list(more))
        head = b"POST /api/v1/orders HTTP/1.1\\r\\nHost: a\\r\\n"
        http2 = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, 0, b"")
        long = [(b"x", b"y" * 1000)] * 15
        cases = [
            (b"431", b"GET / HTTP/1.1\\r\\nHost: a\\r\\nX: " + b"y" * 17000 + b"\\r\\n\\r\\n"),
            (b"431", b"GET / HTTP/1.1\\r\\nHost: a\\r\\n" + b"x: y\\r\\n" * 101 + b"\\r\\n"),
            (b"413", head + b"Content-Length: 99999999\\r\\n\\r\\n"),
            (b"400", head + b"Content-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\n"),
            (b"400", b"GET / HTTP/1.1\\nHost: a\\n\\n"),
            (b"", http2 + frame(1, 5, 1, request(*[(b"x%d" % i, b"y") for i in range(101)]))),
            (b"", http2 + frame(1, 1, 1, request(*long)) + frame(9, 4, 1, b"".join(b"\\0" + text(n) + text(v) for n, v in long))),
            (b"", http2 + frame(6, 0, 0, b"12345678") * 100),
        ]
        def said(data):
            # Whether HTTP/2 has answered: by a header, a reset or its end.
            while len(data) >= 9:
                if data[3] in (1, 3, 7): return True
                data = data[9 + int.from_bytes(data[:3], "big"):]
            return False
        def violate(number):
            status, sent = cases[number % len(cases)]
            s = socket.create_connection((host, int(port)), timeout=60)
            data = b""
            try:
                s.sendall(sent)
                while not (data.startswith(b"HTTP/1.1 ") if status else said(data)):
                    more = s.recv(65536)
                    if not more: break
                    data += more
                if status and not data.startswith(b"HTTP/1.1 " + status): sys.exit("%r: %r" % (sent[:60], data[:60]))
            except ConnectionError: pass
            s.close()
        for number in range(800): violate(number)
        before = resident()
        for number in range(4000): violate(number)
        print(before, resident())
        """

    @Test func `going beyond the bounds thousands of times leaves memory as it was`() async throws {
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let told = try await installation.python(Self.violations, merchant, ["\(program.pid)"])
            #expect(told.status == 0, "\(told.errorText)")
            let sizes = told.text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            try #require(sizes.count == 2, "\(told.text)")
            print("resident before 4,000 violations: \(sizes[0]) KiB, after: \(sizes[1]) KiB")
            #expect(sizes[1] - sizes[0] < 4_096 * Patience.factor)
            #expect(try await program.end(SIGTERM) == 0)
        }
    }

    /// Holds half a request at the merchant listener, says so, and asks on new connections whether the process is ready, until
    /// it says no; then sends the other half.
    private static let halfRequest = """
        import socket, sys, time
        def connect(address):
            host, port = address.rsplit(":", 1)
            return socket.create_connection((host, int(port)), timeout=60)
        slow = connect(sys.argv[1])
        slow.sendall(b"GET /api/v1/orders HTTP/1.1\\r\\n")
        time.sleep(0.2)
        print("half", flush=True)
        end = time.time() + 8
        said = ""
        while time.time() < end and not said.startswith("503"):
            try:
                s = connect(sys.argv[3])
                s.sendall(b"GET /readyz HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
                said = s.recv(4096).split(b" ", 1)[1].decode()
            except ConnectionError as error:
                said = repr(error)
                break
            time.sleep(0.02)
        slow.sendall(b"Host: a\\r\\n\\r\\n")
        print(said[:3], slow.recv(4096).split(b" ")[1].decode())
        """

    @Test func `while it drains, whoever asks anew hears that it is not ready`() async throws {
        try await TestInstallation.use { installation in
            let program = try await installation.start()
            let merchant = try program.value(after: "merchants  http://", upTo: "/")
            let admin = try program.value(after: "admin      http://", upTo: "/")
            let client = try installation.launch(
                "/usr/bin/python3",
                ["-c", Self.halfRequest, merchant, "-", admin]
            )
            try await client.says("half\n")
            program.send(SIGTERM)
            try await client.says("503 401\n")
            #expect(try await client.end() == 0)
            #expect(try await program.end() == 0)
        }
    }
}
