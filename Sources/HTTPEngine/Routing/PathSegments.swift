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
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/") else { throw Self.malformed("The path does not start with \"/\".") }
        guard bytes.allSatisfy(HTTP1Bytes.isTarget) else {
            throw Self.malformed("The path has bytes that must be percent-encoded.")
        }
        var segments: [String] = []
        segments.reserveCapacity(8)
        for raw in bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: mergesSlashes) {
            guard segments.count < Self.most else {
                throw Self.malformed("The path has more than \(Self.most) segments.")
            }
            guard let segment = PercentEncoding.decode(raw) else {
                throw Self.malformed(
                    "A \"%\" in the path is not followed by two hex digits, or the bytes are not UTF-8."
                )
            }
            guard segment != ".", segment != ".." else { throw Self.malformed("The path has a dot segment.") }
            guard segment.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw Self.malformed("The path has control characters.")
            }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// More than any pattern has; bounds the work that a path of slashes makes.
    private static let most = 32

    static func malformed(_ detail: String) -> Problem { .badRequest(detail, code: "malformed-path") }
}
