// SPDX-License-Identifier: Apache-2.0

/// The segments of a JPEG (ITU-T T.81) up to its first scan, looked at from outside.
enum JPEGHeader {
    /// Looks for the frame header, which has the size, and for the scan behind it.
    static func read(_ bytes: [UInt8]) throws(ImageProperties.Fault) -> ImageProperties {
        var offset = 2
        var found: ImageProperties?
        // Each turn moves on by at least one byte, so the loop ends.
        while offset + 1 < bytes.count {
            guard bytes[offset] == 0xFF else {
                throw ImageProperties.Fault(message: "the JPEG has no marker where one must stand", offset: offset)
            }
            let marker = bytes[offset + 1]
            switch marker {
            // Fill bytes, and markers without a segment.
            case 0xFF: offset += 1
            case 0x01, 0xD0...0xD8: offset += 2
            case 0xD9:
                throw ImageProperties.Fault(message: "the JPEG ends before its picture", offset: offset)
            default:
                guard let length = bytes.bigEndian16(at: offset + 2), length >= 2, offset + 2 + length <= bytes.count
                else {
                    throw ImageProperties.Fault(message: "the JPEG is cut short within a segment", offset: offset)
                }
                if marker == 0xDA {
                    guard let found else {
                        throw ImageProperties.Fault(
                            message: "the JPEG has no size in front of its picture",
                            offset: offset
                        )
                    }
                    return found
                }
                if isFrame(marker) { found = try frame(bytes, offset, length) }
                offset += 2 + length
            }
        }
        throw ImageProperties.Fault(message: "the JPEG is cut short in front of its picture", offset: offset)
    }

    /// Start of frame; C4, C8 and CC mean other things.
    private static func isFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
    }

    private static func frame(
        _ bytes: [UInt8],
        _ offset: Int,
        _ length: Int
    ) throws(ImageProperties.Fault) -> ImageProperties {
        guard length >= 8, let height = bytes.bigEndian16(at: offset + 5), let width = bytes.bigEndian16(at: offset + 7)
        else { throw ImageProperties.Fault(message: "the JPEG's frame header is too short", offset: offset) }
        return try ImageProperties(width: width, height: height, isOpaque: true, offset: offset + 5)
    }
}
