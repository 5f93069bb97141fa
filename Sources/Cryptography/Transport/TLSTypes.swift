// SPDX-License-Identifier: Apache-2.0

/// Whether a server asks its clients for a certificate.
package enum ClientCertificatePolicy: Sendable {
    /// Doesn't ask.
    case none
    /// Asks, and takes a connection without one, or with one that doesn't chain to `roots`: the caller reads
    /// `peerCertificate` and `peerVerified` and decides what such a client may do, as APNs does.
    case optional(roots: [Certificate])
}

/// Whom a client trusts.
package enum TLSTrust: Sendable {
    /// The roots that the operating system keeps.
    case system
    /// These alone. Each is an anchor, whether it signed itself or not.
    case certificates([Certificate])
}

/// How far a handshake came.
package enum TLSProgress: Hashable, Sendable {
    case done
    /// Call again when the descriptor is readable.
    case wantsRead
    /// Call again when the descriptor is writable.
    case wantsWrite
}

/// What a read or write moved.
package enum TLSTransfer: Hashable, Sendable {
    /// This many bytes, at least one (none only for an empty buffer).
    case bytes(Int)
    /// Call again when the descriptor is readable.
    case wantsRead
    /// Call again when the descriptor is writable.
    case wantsWrite
    /// The other side said goodbye: everything that it sent has been read.
    case closed
}
