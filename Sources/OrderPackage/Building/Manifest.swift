// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// The list of a package's files with their digests: the bytes that are signed.
enum Manifest {
    static let path = "manifest.json"

    /// Compact JSON with the paths in byte order, so that equal files give equal bytes.
    ///
    /// - Parameter lines: what ``line(path:digestText:)`` gave for each file, in byte order of the paths.
    static func bytes(_ lines: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(2) { $0 + $1.count + 1 })
        bytes.append(0x7B)
        for index in lines.indices {
            if index > 0 { bytes.append(0x2C) }
            bytes.append(contentsOf: lines[index])
        }
        bytes.append(0x7D)
        return bytes
    }

    /// One file's member of the object.
    ///
    /// - Parameter digestText: SHA-256 in lower-case hexadecimal digits.
    static func line(path: String, digestText: String) -> [UInt8] {
        var writer = JSONWriter(style: .compact, capacity: path.utf8.count + 72)
        writer.write(path)
        writer.write(byte: 0x3A)
        writer.write(digestText)
        return writer.output
    }
}
