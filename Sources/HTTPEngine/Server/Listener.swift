// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import ServiceRuntime

/// A listening socket.
final class Listener: Sendable {
    /// The socket; closed by `close`.
    let descriptor: Int32
    /// Where it listens.
    let address: BoundAddress
    /// How many connections the kernel lets wait.
    let backlog: Int32

    /// Binds and listens.
    init(_ address: ListenAddress, backlog: Int32) throws(HTTPServerError) {
        let socketAddress = try Self.resolve(address)
        if case .unix(let path) = address { Self.removeLeftover(path, socketAddress) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(CLINUX_SOCK_NONBLOCK) | Int32(CLINUX_SOCK_CLOEXEC)
        let descriptor = socket(socketAddress.family, type, 0)
        guard descriptor >= 0 else { throw Self.error("socket for", address) }
        var one: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        let bound = unsafe socketAddress.bytes.withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe bind(
                descriptor,
                start.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        guard bound == 0, listen(descriptor, backlog) == 0 else {
            let error = Self.error("listen on", address)
            _ = Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.backlog = backlog
        if case .ip(let host, 0) = address {
            self.address = .ip(host: host, port: Self.port(of: descriptor))
        } else {
            self.address = address
        }
    }

    /// Closes the socket, and takes a Unix socket's name away.
    func close() {
        _ = Glibc.close(self.descriptor)
        if case .unix(let path) = self.address { _ = unsafe unlink(path) }
    }

    private static func resolve(_ address: ListenAddress) throws(HTTPServerError) -> SocketAddress {
        switch address {
        case .unix(let path):
            if let found = SocketAddress(unixPath: path) { return found }
            throw HTTPServerError(
                code: .badAddress,
                description: "a Unix socket's path has 1 to 107 bytes: \(path)"
            )
        case .ip(let host, let port):
            // "localhost" stands in /etc/hosts: no look-up leaves the machine, at start only.
            let isLocal = host == "localhost"
            if case .success(let found) = SocketAddress.resolve(host: host, port: port, literalsOnly: !isLocal),
                let first = found.first
            {
                return first
            }
            throw HTTPServerError(
                code: .badAddress,
                description: "\(host) is no address to listen on: give an address such as 127.0.0.1"
            )
        }
    }

    /// A Unix socket whose server is dead keeps its name. One that answers is another server's, and stays.
    private static func removeLeftover(_ path: String, _ address: SocketAddress) {
        // `connect` refuses on an ordinary file as on a dead socket, and a file is nobody's leftover.
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        // Not blocking: a live server may have no room in its queue just now.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(CLINUX_SOCK_NONBLOCK) | Int32(CLINUX_SOCK_CLOEXEC)
        let probe = socket(address.family, type, 0)
        guard probe >= 0 else { return }
        defer { _ = Glibc.close(probe) }
        let code = unsafe address.bytes.withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe connect(probe, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        if code != 0, errno == ECONNREFUSED { _ = unsafe unlink(path) }
    }

    private static func error(_ operation: String, _ address: ListenAddress) -> HTTPServerError {
        let error = SystemError.last(operation)
        switch error.errno {
        case EADDRINUSE:
            let what: String
            switch address {
            case .ip(let host, let port): what = "port \(port) on \(host)"
            case .unix(let path): what = "the socket \(path)"
            }
            return HTTPServerError(code: .addressInUse, description: "\(what) is taken by another program")
        case EADDRNOTAVAIL:
            return HTTPServerError(code: .badAddress, description: "\(address) is not an address of this machine")
        case EACCES, EPERM:
            return HTTPServerError(code: .notPermitted, description: "this user may not listen on \(address)")
        default: return HTTPServerError(code: .system, description: "can't \(operation) \(address): \(error)")
        }
    }

    private static func port(of descriptor: Int32) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getsockname(descriptor, address, &length) == 0 else { return 0 }
                // The port stands at the same place, in network order, for both families.
                return unsafe UnsafeRawPointer(address).withMemoryRebound(to: UInt8.self, capacity: 4) { bytes in
                    unsafe Int(bytes[2]) << 8 | Int(bytes[3])
                }
            }
        }
    }
}
