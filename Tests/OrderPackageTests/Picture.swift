// SPDX-License-Identifier: Apache-2.0

import ZipFiles

/// Makes images for tests: right headers around bytes that are no picture, since nobody here looks inside.
enum Picture {
    static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A PNG with these chunks between header and end.
    static func png(
        _ width: UInt32,
        _ height: UInt32,
        colour: UInt8 = 2,
        depth: UInt8 = 8,
        chunks: [(String, [UInt8])] = [("IDAT", [0])]
    ) -> [UInt8] {
        let header = number(width) + number(height) + [depth, colour, 0, 0, 0]
        var bytes = pngSignature + chunk("IHDR", header)
        for (name, data) in chunks { bytes += chunk(name, data) }
        return bytes + chunk("IEND", [])
    }

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return number(UInt32(data.count)) + body + number(CRC32.checksum(body))
    }

    /// A baseline JPEG with a JFIF header in front.
    static func jpeg(_ width: UInt16, _ height: UInt16, frame: UInt8 = 0xC0) -> [UInt8] {
        let size = [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
        return [0xFF, 0xD8] + segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
            + segment(0xC4, [UInt8](repeating: 0, count: 20))
            + segment(frame, [8] + size + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
            + segment(0xDA, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 0x3F, 0]) + [1, 2, 3, 0xFF, 0xD9]
    }

    static func segment(_ marker: UInt8, _ data: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((data.count + 2) >> 8), UInt8((data.count + 2) & 255)] + data
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }
}
