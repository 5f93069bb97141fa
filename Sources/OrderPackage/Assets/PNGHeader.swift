// SPDX-License-Identifier: Apache-2.0

/// The chunks of a PNG (W3C PNG, ISO/IEC 15948) up to its end, looked at from outside.
enum PNGHeader {
    private static let signatureLength = 8
    /// Length, type and checksum around a chunk's data.
    private static let frameLength = 12

    /// Reads the first chunk, and looks through the others for transparency and for the end.
    static func read(_ bytes: [UInt8]) throws(ImageProperties.Fault) -> ImageProperties {
        var offset = signatureLength
        // Xcode writes PNGs for iOS in a form of its own, with this chunk in front.
        let isForAppleOnly = type(bytes, offset) == "CgBI"
        if isForAppleOnly, let length = bytes.bigEndian32(at: offset), offset + frameLength + length <= bytes.count {
            offset += frameLength + length
        }
        guard bytes.bigEndian32(at: offset) == 13, type(bytes, offset) == "IHDR",
            offset + frameLength + 13 <= bytes.count
        else {
            throw ImageProperties.Fault(message: "the PNG does not begin with a whole IHDR chunk", offset: offset)
        }
        let data = offset + 8
        let depth = Int(bytes[data + 8])
        let colour = Int(bytes[data + 9])
        guard depths(ofColour: colour).contains(depth), bytes[data + 10] == 0, bytes[data + 11] == 0,
            bytes[data + 12] <= 1
        else {
            throw ImageProperties.Fault(
                message: "the PNG's header names a colour type, depth or method that there is not",
                offset: data + 8
            )
        }
        var isOpaque = colour != 4 && colour != 6
        let width = bytes.bigEndian32(at: data) ?? 0
        let height = bytes.bigEndian32(at: data + 4) ?? 0
        var hasPicture = false
        offset += frameLength + 13
        // Each turn moves on by at least twelve bytes, so the loop ends.
        while let length = bytes.bigEndian32(at: offset), offset + frameLength + length <= bytes.count {
            switch type(bytes, offset) {
            case "tRNS": isOpaque = false
            case "IDAT": hasPicture = true
            case "IEND":
                guard hasPicture else {
                    throw ImageProperties.Fault(message: "the PNG has no picture (no IDAT chunk)", offset: offset)
                }
                var image = try ImageProperties(width: width, height: height, isOpaque: isOpaque, offset: data)
                image.isForAppleOnly = isForAppleOnly
                return image
            default: break
            }
            offset += frameLength + length
        }
        throw ImageProperties.Fault(message: "the PNG is cut short: it ends within a chunk", offset: offset)
    }

    private static func type(_ bytes: [UInt8], _ offset: Int) -> String? {
        guard offset + 8 <= bytes.count else { return nil }
        return String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
    }

    /// The bit depths that go with a colour type; none for a type that there is not.
    private static func depths(ofColour type: Int) -> [Int] {
        switch type {
        case 0: [1, 2, 4, 8, 16]
        case 2, 4, 6: [8, 16]
        case 3: [1, 2, 4, 8]
        default: []
        }
    }
}
