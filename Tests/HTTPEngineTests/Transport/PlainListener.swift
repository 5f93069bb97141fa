// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime
import Testing

/// A listening socket on 127.0.0.1 and a free port, accepting on a loop.
final class PlainListener: ReadinessHandler, @unchecked Sendable {
    // Sendable by rule: changed on the loop only.
    let port: Int
    private let descriptor: Int32
    private var loop: EventLoop?
    private var watch: Watch?
    private var onAccept: (Int32) -> Void = { _ = close($0) }

    /// - Parameters:
    ///   - port: 0 lets the kernel choose.
    ///   - isListening: false only takes the port.
    init(port wanted: UInt16 = 0, isListening: Bool = true) throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let pointer = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return Int32(-1)
            }
            guard unsafe bind(descriptor, pointer, length) == 0 else { return Int32(-1) }
            return unsafe getsockname(descriptor, pointer, &length)
        }
        if code != 0 || isListening && listen(descriptor, 128) != 0 {
            let error = SystemError.last("listen")
            close(descriptor)
            throw error
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Accepts on the loop until `stop`.
    func accept(on loop: EventLoop, _ onAccept: @escaping @Sendable (Int32) -> Void) {
        loop.execute { [self] in
            self.loop = loop
            self.onAccept = onAccept
            do { watch = try loop.watch(descriptor, .readable, self) } catch { Issue.record(error) }
        }
    }

    func ready(_ readiness: Readiness) {
        while true {
            let accepted = accept4(
                descriptor,
                nil,
                nil,
                Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            )
            guard accepted >= 0 else { return }
            onAccept(accepted)
        }
    }

    /// A port that was free a moment ago, and that the kernel gives to nobody who lets it choose: the tests beside.
    static func freePort() throws -> Int {
        for _ in 0..<100 {
            guard let probe = try? PlainListener(port: .random(in: 10_000..<20_000)) else { continue }
            probe.stop()
            return probe.port
        }
        throw SystemError(operation: "find a free port", errno: EADDRINUSE)
    }

    func stop() {
        guard let loop else {
            close(descriptor)
            return
        }
        loop.execute { [self] in
            if let watch { loop.unwatch(watch) }
            watch = nil
            close(descriptor)
        }
    }
}
