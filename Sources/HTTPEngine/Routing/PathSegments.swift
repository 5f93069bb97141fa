// SPDX-License-Identifier: Apache-2.0

/// A request path split at "/" and then percent-decoded, each segment once: an encoded "/" stays data within its segment.
struct PathSegments {
    /// The decoded segments.
    let segments: [String]

    /// - Parameter mergesSlashes: leaves empty segments out; else they stay, and match no parameter.
    /// - Throws: ``Problem`` 400 for a path that does not start with "/", bytes outside visible ASCII, a bad percent-encoding,
    ///   a decoding that is not UTF-8 or holds control characters, and dot segments in whatever spelling: no client sends
    ///   them (they are resolved before), and a proxy in front may have matched its rules against the other reading.
    init(_ path: String, mergesSlashes: Bool) throws(Problem) {
        let bytes = path.utf8Span.span
        guard !bytes.isEmpty, bytes[0] == UInt8(ascii: "/") else {
            throw Self.malformed("The path does not start with \"/\".")
        }
        var segments: [String] = []
        segments.reserveCapacity(4)
        var start = 1
        while start <= bytes.count {
            var end = start
            var isEncoded = false
            while end < bytes.count, bytes[end] != UInt8(ascii: "/") {
                guard HTTP1Bytes.isTarget(bytes[end]) else {
                    throw Self.malformed("The path has bytes that must be percent-encoded.")
                }
                if bytes[end] == UInt8(ascii: "%") { isEncoded = true }
                end += 1
            }
            let raw = bytes.extracting(start..<end)
            start = end + 1
            if mergesSlashes, raw.isEmpty { continue }
            guard segments.count < Self.most else {
                throw Self.malformed("The path has more than \(Self.most) segments.")
            }
            let segment = isEncoded ? try Self.decoded(raw) : Self.text(raw)
            guard segment.utf8.count > 2 || segment != "." && segment != ".." else {
                throw Self.malformed("The path has a dot segment.")
            }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// Bytes that are known to be ASCII.
    private static func text(_ bytes: Span<UInt8>) -> String {
        unsafe String(copying: UTF8Span(unchecked: bytes, isKnownASCII: true))
    }

    private static func decoded(_ bytes: Span<UInt8>) throws(Problem) -> String {
        let text = Self.text(bytes)
        guard let segment = PercentEncoding.decode(text.utf8) else {
            if text.contains("%00") { throw malformed("The path has control characters.") }
            throw malformed("A \"%\" in the path is not followed by two hex digits, or the bytes are not UTF-8.")
        }
        guard segment.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw malformed("The path has control characters.")
        }
        return segment
    }

    /// More than any pattern has; bounds the work that a path of slashes makes.
    private static let most = 32

    static func malformed(_ detail: String) -> Problem { .badRequest(detail, code: "malformed-path") }
}
