// SPDX-License-Identifier: Apache-2.0
package import HTTPEngine
package import ServiceRuntime

/// What the answer with a package says of it, and whether a caller has it already.
package struct PackageHeaders: Sendable {
    /// The media type that Apple's reference prints for the answer.
    package static let mediaType = "application/vnd.apple.finance.order"

    private let entityTag: String
    private let modifiedAt: WallTime
    private let now: WallTime

    /// Makes the headers of a revision.
    ///
    /// - Parameters:
    ///   - entityTag: the strong tag, quoted.
    ///   - modifiedAt: the revision's own second, which may run ahead of the clock in a burst of changes.
    package init(entityTag: String, modifiedAt: WallTime, now: WallTime = .now()) {
        self.entityTag = entityTag
        self.modifiedAt = modifiedAt
        self.now = now
    }

    /// The fields of a 200 and of a 304 alike (RFC 9110 15.4.5).
    ///
    /// Last-Modified is never later than Date (RFC 9110 8.8.2.1). A device that sends the earlier time back gets a full
    /// answer once more, never a wrong 304.
    package var fields: HTTPFields {
        [
            "etag": self.entityTag, "last-modified": min(self.modifiedAt, self.now).httpDate,
            "cache-control": "private, no-cache", "vary": "authorization",
        ]
    }

    /// Whether the caller's copy is this one: If-None-Match decides alone where it is sent, else If-Modified-Since
    /// (RFC 9110 13.2.2). A date in none of the three forms is ignored.
    package func isCurrent(for request: HTTPFields) -> Bool {
        if request.contains("if-none-match") { return request.ifNoneMatch(holds: self.entityTag) }
        guard let text = request["if-modified-since"], let since = WallTime(httpDate: text) else { return false }
        return self.modifiedAt <= since
    }

    /// Whether a byte may stand in a file name inside quotes without further ado.
    internal static func isFileNameByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            || [0x2d, 0x2e, 0x5f].contains(byte)
    }
}
