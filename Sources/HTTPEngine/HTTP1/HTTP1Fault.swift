// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not an HTTP/1.1 message, and what a server answers. The connection ends after it: where the next message
/// would begin is no longer known for sure.
package struct HTTP1Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The answer's status: 400, 413, 417, 431, 501 or 505.
    package let status: HTTPStatus
    /// The problem's code: that of the same fault over HTTP/2, where there is one.
    package let code: String
    /// What is wrong, without a byte of what was sent.
    package let reason: String

    init(_ status: HTTPStatus, code: String, _ reason: String) {
        self.status = status
        self.code = code
        self.reason = reason
    }

    /// 400.
    init(_ reason: String, code: String = "malformed-request") { self.init(.badRequest, code: code, reason) }

    /// The reason.
    package var description: String { reason }
}

extension HTTP1Fault {
    static var headerTooLarge: Self { tooLarge("The request line and header fields are too long.") }
    static var tooManyFields: Self { tooLarge("There are too many header fields.") }
    static var trailerTooLarge: Self { tooLarge("The trailer fields are too long.") }
    private static func tooLarge(_ reason: String) -> Self {
        Self(.headerFieldsTooLarge, code: "header-fields-too-large", reason)
    }
    static var headerNotText: Self { Self("A header field is not UTF-8.", code: "malformed-header") }
    static func target(_ reason: String) -> Self { Self(reason, code: "malformed-target") }
    static var bareLineFeed: Self { Self("A line ends in LF without CR.") }
    static func bodyTooLarge(limit: Int) -> Self {
        Self(.contentTooLarge, code: "content-too-large", "The body may have at most \(limit) bytes here.")
    }
    static var truncated: Self { Self("The message ended early.") }
}
