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
