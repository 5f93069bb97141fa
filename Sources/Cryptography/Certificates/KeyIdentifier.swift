// SPDX-License-Identifier: Apache-2.0

/// Key identifiers as people compare them.
package enum KeyIdentifier {
    /// Upper-case hexadecimal digits with colons: `5B:D9:FA:1D…`.
    package static func text(_ bytes: [UInt8]) -> String {
        bytes.map { Hex.encode([$0]).uppercased() }.joined(separator: ":")
    }
}
