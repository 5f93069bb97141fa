// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not an HTTP/1.1 message, and what a server answers. The connection ends after it: where the next message
/// would begin is no longer known for sure.
package struct HTTP1Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The answer's status: 400, 413, 417, 431, 501 or 505.
    package let status: HTTPStatus
    /// What is wrong, without a byte of what was sent.
    package let reason: String

    init(_ status: HTTPStatus, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// 400.
    init(_ reason: String) { self.init(.badRequest, reason) }

    /// The reason.
    package var description: String { reason }
}

extension HTTP1Fault {
    static var headerTooLarge: Self { Self(.headerFieldsTooLarge, "The request line and header fields are too long.") }
    static var tooManyFields: Self { Self(.headerFieldsTooLarge, "There are too many header fields.") }
    static var bareLineFeed: Self { Self("A line ends in LF without CR.") }
    static func bodyTooLarge(limit: Int) -> Self {
        Self(.contentTooLarge, "The body may have at most \(limit) bytes here.")
    }
    static var truncated: Self { Self("The message ended early.") }
}
