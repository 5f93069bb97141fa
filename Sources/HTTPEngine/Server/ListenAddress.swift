// SPDX-License-Identifier: Apache-2.0

/// Where a server is to listen.
package enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An address literal (`127.0.0.1`, `::1`, `0.0.0.0`) or `localhost`, and a port; 0 lets the kernel choose one.
    case ip(host: String, port: Int)
    /// The path of a Unix socket, at most 107 bytes. What a dead server left there is replaced.
    case unix(path: String)

    /// The address for people.
    package var description: String {
        switch self {
        case .ip(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// What is wrong with its form, in words; nil when nothing is. Whether it can be had shows when it is taken.
    package var fault: String? {
        switch self {
        case .unix(let path):
            return SocketAddress(unixPath: path) == nil ? "a Unix socket's path has 1 to 107 bytes: \(path)" : nil
        case .ip(let host, let port):
            if host == "localhost" { return nil }
            if case .success = SocketAddress.resolve(host: host, port: port, literalsOnly: true) { return nil }
            return "\(host) is no address to listen on: give an address such as 127.0.0.1"
        }
    }
}

/// Where a server listens: as asked for, with the port that the kernel chose.
package typealias BoundAddress = ListenAddress

/// Why a server can't listen.
package struct HTTPServerError: Error, Sendable, CustomStringConvertible {
    /// The kinds of reason.
    package enum Code: Sendable {
        /// Another program listens there.
        case addressInUse
        /// The address is none of this machine's, or is not well-formed.
        case badAddress
        /// This user may not: a port below 1024, or a folder that is not writable.
        case notPermitted
        /// Something else.
        case system
    }
    /// The kind of reason.
    package let code: Code
    /// What is wrong, and where.
    package let description: String
}
