// SPDX-License-Identifier: Apache-2.0

/// What the headers of a PNG or JPEG say about its picture. Nothing is decompressed.
public struct ImageProperties: Sendable, Hashable {
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int
    /// Whether the format leaves no pixel transparent: no alpha channel and no transparent colour.
    public let isOpaque: Bool

    /// Whether it is a PNG as Xcode writes it for iOS (with a CgBI chunk in front), which other systems can't show.
    public internal(set) var isForAppleOnly = false

    /// No side of a picture is longer: what a small file unpacks to must fit into a phone's memory.
    static let longestSide = 10_000

    /// Why the headers of a file can't be read.
    public struct Fault: Error, Sendable, Hashable {
        /// What is wrong, for people.
        public let message: String
        /// Where, in bytes from the start.
        public let offset: Int
    }

    /// Reads the headers, in time linear in the number of blocks.
    ///
    /// - Throws: ``Fault`` for a file that is neither PNG nor JPEG, is cut short, or names sizes that no picture has.
    public init(_ contents: [UInt8]) throws(Fault) {
        switch AssetFormat(contents) {
        case .png: self = try PNGHeader.read(contents)
        case .jpeg: self = try JPEGHeader.read(contents)
        case .pdf, nil: throw Fault(message: "the file is neither PNG nor JPEG", offset: 0)
        }
    }

    /// - Throws: ``Fault`` for sides of no pixels or of too many.
    init(width: Int, height: Int, isOpaque: Bool, offset: Int) throws(Fault) {
        guard width > 0, height > 0 else {
            throw Fault(message: "the picture has \(width) by \(height) pixels", offset: offset)
        }
        guard width <= Self.longestSide, height <= Self.longestSide else {
            throw Fault(
                message: "the picture has \(width) by \(height) pixels; no side may have more than \(Self.longestSide)",
                offset: offset
            )
        }
        self.width = width
        self.height = height
        self.isOpaque = isOpaque
    }
}

/// Big-endian numbers at places that may lie outside.
extension [UInt8] {
    /// Two bytes; nil beyond the end.
    func bigEndian16(at index: Int) -> Int? {
        guard index >= 0, index + 2 <= count else { return nil }
        return Int(self[index]) << 8 | Int(self[index + 1])
    }

    /// Four bytes; nil beyond the end.
    func bigEndian32(at index: Int) -> Int? {
        guard let high = bigEndian16(at: index), let low = bigEndian16(at: index + 2) else { return nil }
        return high << 16 | low
    }
}
