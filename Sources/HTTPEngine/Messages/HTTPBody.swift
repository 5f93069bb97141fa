// SPDX-License-Identifier: Apache-2.0

/// The content of a response, whole in memory: its length is always known, so it is always announced.
package enum HTTPBody: Sendable, Hashable {
    /// No content.
    case empty
    /// One piece.
    case bytes([UInt8])
    /// Several pieces written one after the other without being copied together: a package whose images are shared.
    case chunks([[UInt8]])

    /// The length in bytes.
    package var count: Int {
        switch self {
        case .empty: 0
        case .bytes(let bytes): bytes.count
        case .chunks(let chunks): chunks.reduce(0) { $0 + $1.count }
        }
    }

    /// Whether there is nothing to send.
    package var isEmpty: Bool { count == 0 }

    /// All pieces as one. Copies when there are several: for tests and small bodies.
    package var joined: [UInt8] {
        switch self {
        case .empty: []
        case .bytes(let bytes): bytes
        case .chunks(let chunks): Array(chunks.joined())
        }
    }
}
