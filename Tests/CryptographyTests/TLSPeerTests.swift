// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import Testing

@Suite("TLS with openssl on the other side")
struct TLSPeerTests {
    /// What our side saw of one connection.
    private struct Seen {
        var applicationProtocol: String?
        var version = ""
        var certificate: Certificate?
        var isVerified = false
        var failed = false
        var output = ""
    }

    /// Serves one connection of `openssl s_client`, until it says goodbye.
    private func serve(_ context: TLSContext, _ options: [String], in directory: TemporaryDirectory) throws -> Seen {
        let root = try directory.write("root.pem", try TestPKI.shared().root.pem())
        let listener = try Listener()
        let output = unsafe open(directory.path("output"), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(output) }
        let pid = try Command.start(
            [
                "openssl", "s_client", "-connect", "127.0.0.1:\(listener.port)", "-CAfile", root, "-alpn", "http/1.1",
                "-verify_return_error", "-verify_ip", "127.0.0.1", "-servername", "localhost",
            ] + options,
            output: output
        )
        var seen = Seen()
        let descriptor = listener.accept()
        do {
            let session = try TLSSession(context, descriptor: descriptor, serverName: nil)
            while true {
                let progress = try session.handshake()
                if progress == .done { break }
                wait(descriptor, progress == .wantsRead ? POLLIN : POLLOUT)
            }
            seen.applicationProtocol = session.applicationProtocol
            seen.version = session.protocolVersion
            seen.certificate = session.peerCertificate
            seen.isVerified = session.peerVerified
            // s_client's input is empty, so it ends by itself.
            while try session.receive().0 == .wantsRead { wait(descriptor, POLLIN) }
            session.close()
        } catch let error as CryptographyError {
            seen.failed = error.code == .tls
        }
        close(descriptor)
        var status: Int32 = 0
        unsafe waitpid(pid, &status, 0)
        seen.output = String(decoding: try directory.read("output"), as: UTF8.self)
        return seen
    }

    private func context(_ clients: ClientCertificatePolicy = .none) throws -> TLSContext {
        let pki = try TestPKI.shared()
        return try TLSContext.server(
            certificate: pki.server,
            chain: [pki.intermediate],
            key: pki.serverKey,
            alpn: ["h2", "http/1.1"],
            clientCertificates: clients
        )
    }

    @Test(
        "It talks to our server in TLS 1.2 and 1.3, and not below",
        arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3"), ("-tls1_1", "")]
    )
    func versions(option: String, version: String) throws {
        let seen = try serve(try context(), [option], in: try TemporaryDirectory())
        #expect(seen.failed == version.isEmpty)
        #expect(seen.version == version)
        #expect(seen.applicationProtocol == (version.isEmpty ? nil : "http/1.1"))
        #expect(version.isEmpty || seen.output.contains("Verify return code: 0 (ok)"), "\(seen.output)")
    }

    @Test("A session with a client certificate is resumed by its ticket, and the certificate is still known")
    func resumption() throws {
        let pki = try TestPKI.shared()
        let directory = try TemporaryDirectory()
        let options = [
            "-cert", try directory.write("leaf.pem", pki.leaf.pem()), "-key",
            try directory.write("key.pem", pki.leafKey.pem()), "-cert_chain",
            try directory.write("chain.pem", pki.intermediate.pem()), "-tls1_2",
        ]
        let server = try context(.optional(roots: [pki.root]))
        let first = try serve(server, options + ["-sess_out", directory.path("session")], in: directory)
        #expect(first.output.contains("New, TLSv1.2"), "\(first.output)")
        #expect(first.certificate == pki.leaf)
        let second = try serve(server, options + ["-sess_in", directory.path("session")], in: directory)
        #expect(second.output.contains("Reused, TLSv1.2"), "\(second.output)")
        #expect(second.certificate == pki.leaf)
        #expect(second.isVerified)
    }

    private func wait(_ descriptor: Int32, _ events: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        unsafe poll(&entry, 1, 10_000)
    }
}

/// A socket on 127.0.0.1 that waits for one connection.
private final class Listener {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0 && listen(descriptor, 4) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard bound else { throw Command.Failed(text: "no port") }
    }

    deinit {
        close(descriptor)
    }

    func accept() -> Int32 {
        let accepted = Glibc.accept(descriptor, nil, nil)
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        return accepted
    }
}
