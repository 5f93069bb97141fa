// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The list of a package's files with their digests: the bytes that are signed.
enum Manifest {
    static let path = "manifest.json"

    /// Compact JSON with the paths in byte order, so that equal files give equal bytes.
    ///
    /// - Parameter files: paths with SHA-256 in lower-case hexadecimal digits, in byte order of the paths.
    static func bytes(_ files: [(path: String, digestText: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(files.count * 96 + 2)
        bytes.append(0x7B)
        for (index, file) in files.enumerated() {
            if index > 0 { bytes.append(0x2C) }
            append(file.path, to: &bytes)
            bytes.append(0x3A)
            append(file.digestText, to: &bytes)
        }
        bytes.append(0x7D)
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        // Nearly every path is plain; the writer knows how to escape the others.
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 < 0x7F }) else {
            bytes.append(contentsOf: JSONValue.string(text).serialized())
            return
        }
        bytes.append(0x22)
        bytes.append(contentsOf: text.utf8)
        bytes.append(0x22)
    }
}
