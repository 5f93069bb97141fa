// SPDX-License-Identifier: Apache-2.0

/// Finds the frames in the bytes that a client sends, without looking into them.
///
/// nghttp2 tells of most frames but not of those that it ignores: unknown types, and what comes for streams that are gone.
/// They cost work all the same, so they are counted here, before nghttp2 sees them.
struct HTTP2FrameScanner {
    private var header: [9 of UInt8] = .init(repeating: 0)
    private var filled = 0
    /// What comes before the next header: at first the preface (RFC 9113 3.4).
    private var skip = 24

    /// Calls `body` with each frame whose header ends in `bytes`, until it says stop.
    ///
    /// - Returns: whether it did.
    mutating func scan(_ bytes: RawSpan, _ body: (_ type: UInt8, _ flags: UInt8) -> Bool) -> Bool {
        let count = bytes.byteCount
        var offset = 0
        while offset < count {
            if skip > 0 {
                let skipped = min(skip, count - offset)
                skip -= skipped
                offset += skipped
                continue
            }
            header[filled] = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            filled += 1
            offset += 1
            guard filled == HTTP2RawFrame.headerBytes else { continue }
            filled = 0
            skip = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            if body(header[3], header[4]) { return true }
        }
        return false
    }
}
