// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import ServiceRuntime

/// Why a transport came to its end.
package enum TransportClosure: Error, Sendable, CustomStringConvertible {
    /// The owner asked for it.
    case local
    /// The peer closed the connection.
    case peer
    /// The TLS handshake did not end in time.
    case handshakeTimeout
    /// The peer took no byte for the write timeout.
    case writeStalled
    /// A system call failed.
    case system(SystemError)
    /// TLS failed: an untrusted or wrong certificate, a broken record, no common version.
    case tls(CryptographyError)

    /// The reason for people.
    package var description: String {
        switch self {
        case .local: "closed here"
        case .peer: "closed by the peer"
        case .handshakeTimeout: "the TLS handshake took too long"
        case .writeStalled: "the peer stopped reading"
        case .system(let error): "\(error)"
        case .tls(let error): "\(error)"
        }
    }
}
