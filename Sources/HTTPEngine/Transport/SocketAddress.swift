// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Where a connection leads: a host and port, or a socket in the file system.
package enum Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// A host name or address literal and a TCP port.
    case tcp(host: String, port: Int)
    /// The path of a Unix socket, at most 107 bytes.
    case unix(path: String)

    /// The endpoint for people.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// One address of an endpoint, in the form that the kernel takes.
struct SocketAddress: Sendable, Hashable {
    /// `AF_INET`, `AF_INET6` or `AF_UNIX`.
    let family: Int32
    /// The bytes of the `sockaddr`.
    let bytes: [UInt8]

    /// The address of a Unix socket, or nil when the path is empty or longer than the kernel's field.
    init?(unixPath path: String) {
        var address = sockaddr_un()
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        let path = Array(path.utf8)
        guard !path.isEmpty, path.count < capacity, !path.contains(0) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in unsafe field.copyBytes(from: path) }
        family = AF_UNIX
        bytes = unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
    }

    private init(family: Int32, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    /// Looks a host up. Blocks unless `literalsOnly`: call it on a thread that may.
    ///
    /// - Returns: the addresses with the families taking turns, the resolver's favourite first (RFC 8305 4), or its complaint.
    static func resolve(host: String, port: Int, literalsOnly: Bool) -> Result<[SocketAddress], ResolutionFailure> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // Not AI_ADDRCONFIG: in a container that has loopback only it would hide ::1 and 127.0.0.1.
        unsafe hints.ai_flags = AI_NUMERICSERV | (literalsOnly ? AI_NUMERICHOST : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &list)
        defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
        guard code == 0 else {
            return .failure(
                ResolutionFailure(message: unsafe gai_strerror(code).map { unsafe String(cString: $0) } ?? "\(code)")
            )
        }
        var found: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe entry.pointee.ai_addr {
                let bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen)))
                let item = unsafe SocketAddress(family: entry.pointee.ai_family, bytes: bytes)
                if !found.contains(item) { found.append(item) }
            }
            unsafe next = entry.pointee.ai_next
        }
        return .success(interleaved(found))
    }

    private static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let favourites = addresses.filter { $0.family == first.family }
        let others = addresses.filter { $0.family != first.family }
        var mixed: [SocketAddress] = []
        for index in 0..<max(favourites.count, others.count) {
            if index < favourites.count { mixed.append(favourites[index]) }
            if index < others.count { mixed.append(others[index]) }
        }
        return mixed
    }

    /// Makes a non-blocking socket and begins to connect it.
    ///
    /// - Returns: the descriptor and whether it is connected already, or the `errno`.
    func beginConnecting() -> Result<(descriptor: Int32, isConnected: Bool), SocketFailure> {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { return .failure(SocketFailure(errno: errno)) }
        if family != AF_UNIX { SocketOptions.apply(to: descriptor) }
        let result = unsafe bytes.withUnsafeBytes { bytes in
            unsafe connect(
                descriptor,
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        if result == 0 { return .success((descriptor, true)) }
        let code = errno
        // EINTR on a non-blocking socket: the attempt goes on.
        if code == EINPROGRESS || code == EINTR { return .success((descriptor, false)) }
        close(descriptor)
        return .failure(SocketFailure(errno: code))
    }
}

/// Why a name has no address.
struct ResolutionFailure: Error {
    let message: String
}

/// Why a socket could not be connected.
struct SocketFailure: Error {
    let errno: Int32
}

/// What every TCP socket of this engine has set.
package enum SocketOptions {
    /// Small frames go out at once, where an answer in two writes would wait 40 ms for the peer's delayed acknowledgement; a
    /// peer that vanished is noticed though nothing is sent.
    package static func apply(to descriptor: Int32) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        // Sent bytes that nobody acknowledges, in milliseconds.
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 30_000)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
