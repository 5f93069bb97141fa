// SPDX-License-Identifier: Apache-2.0

/// A response status (RFC 9110 15).
package struct HTTPStatus: Hashable, Sendable, CustomStringConvertible {
    /// The three-digit code.
    package let code: Int

    /// - Parameter code: 100 to 999. Anything else becomes 500, so that a status line is always well-formed.
    package init(_ code: Int) { self.code = (100...999).contains(code) ? code : 500 }

    /// Code and reason, for logs.
    package var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }

    /// 1xx: an answer before the answer.
    package var isInformational: Bool { code < 200 }
    /// 2xx.
    package var isSuccess: Bool { (200..<300).contains(code) }
    /// The message has no content whatever its fields say (RFC 9110 6.4.1).
    package var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

    /// 100
    package static var `continue`: Self { Self(100) }
    /// 200
    package static var ok: Self { Self(200) }
    /// 201
    package static var created: Self { Self(201) }
    /// 202
    package static var accepted: Self { Self(202) }
    /// 204
    package static var noContent: Self { Self(204) }
    /// 302
    package static var found: Self { Self(302) }
    /// 303
    package static var seeOther: Self { Self(303) }
    /// 304
    package static var notModified: Self { Self(304) }
    /// 400
    package static var badRequest: Self { Self(400) }
    /// 401
    package static var unauthorized: Self { Self(401) }
    /// 403
    package static var forbidden: Self { Self(403) }
    /// 404
    package static var notFound: Self { Self(404) }
    /// 405
    package static var methodNotAllowed: Self { Self(405) }
    /// 406
    package static var notAcceptable: Self { Self(406) }
    /// 408
    package static var requestTimeout: Self { Self(408) }
    /// 409
    package static var conflict: Self { Self(409) }
    /// 410
    package static var gone: Self { Self(410) }
    /// 411
    package static var lengthRequired: Self { Self(411) }
    /// 412
    package static var preconditionFailed: Self { Self(412) }
    /// 413
    package static var contentTooLarge: Self { Self(413) }
    /// 415
    package static var unsupportedMediaType: Self { Self(415) }
    /// 417
    package static var expectationFailed: Self { Self(417) }
    /// 421
    package static var misdirectedRequest: Self { Self(421) }
    /// 422
    package static var unprocessableContent: Self { Self(422) }
    /// 428
    package static var preconditionRequired: Self { Self(428) }
    /// 429
    package static var tooManyRequests: Self { Self(429) }
    /// 431
    package static var headerFieldsTooLarge: Self { Self(431) }
    /// 500
    package static var internalServerError: Self { Self(500) }
    /// 501
    package static var notImplemented: Self { Self(501) }
    /// 502
    package static var badGateway: Self { Self(502) }
    /// 503
    package static var serviceUnavailable: Self { Self(503) }
    /// 504
    package static var gatewayTimeout: Self { Self(504) }
    /// 505
    package static var versionNotSupported: Self { Self(505) }
    /// 507
    package static var insufficientStorage: Self { Self(507) }

    /// The phrase of RFC 9110; empty for a code that has none here.
    package var reason: String {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 207: "Multi-Status"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: ""
        }
    }
}
