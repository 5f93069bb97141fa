// SPDX-License-Identifier: Apache-2.0
package import ExactJSON

/// An error that a caller is told about: thrown by handlers, sent as a problem document (RFC 9457).
///
/// `detail` and `extensions` go to the caller as they are, so they hold nothing that the caller may not know.
package struct Problem: Error, Sendable {
    /// The response's status.
    package var status: HTTPStatus
    /// What a program switches on: kebab-case, stable.
    package var code: String
    /// One line for people, the same for every occurrence of the code.
    package var title: String
    /// What was wrong this time, where, and what to do instead.
    package var detail: String?
    /// Further members of the document, e.g. `errors`.
    package var extensions: JSONObject
    /// Further header fields of the response, e.g. `Retry-After`, `Allow`, `WWW-Authenticate`.
    package var headers: HTTPFields

    /// - Parameters:
    ///   - code: kebab-case.
    ///   - title: the status' own phrase when left out.
    package init(
        _ status: HTTPStatus,
        code: String,
        title: String? = nil,
        detail: String? = nil,
        extensions: JSONObject = .init(),
        headers: HTTPFields = .init()
    ) {
        self.status = status
        self.code = code
        self.title = title ?? status.reason
        self.detail = detail
        self.extensions = extensions
        self.headers = headers
    }

    /// The document as a response. The standard members win over extensions of the same name.
    ///
    /// There is no `type` member: without one it is "about:blank", and `code` tells the kinds apart.
    /// - Parameter requestIdentifier: what to quote when asking for help; empty leaves it out.
    package func response(requestIdentifier: String) -> HTTPResponse {
        var document = JSONObject()
        document["title"] = .string(title)
        document["status"] = .number(JSONNumber(Int64(status.code)))
        document["code"] = .string(code)
        if let detail { document["detail"] = .string(detail) }
        if !requestIdentifier.isEmpty { document["requestId"] = .string(requestIdentifier) }
        for (name, value) in extensions where document[name] == nil { document[name] = value }
        var response = HTTPResponse(status, headers: headers, body: .bytes(JSONValue.object(document).serialized()))
        response.headers["content-type"] = "application/problem+json"
        if !response.headers.contains("cache-control") { response.headers["cache-control"] = "no-store" }
        return response
    }
}

extension Problem {
    /// 400 with what is wrong with the request itself.
    package static func badRequest(_ detail: String, code: String = "bad-request") -> Self {
        Self(.badRequest, code: code, detail: detail)
    }

    /// 404: no such resource.
    package static func notFound(_ detail: String = "There is nothing at this path.", code: String = "not-found")
        -> Self
    {
        Self(.notFound, code: code, detail: detail)
    }

    /// 405 with the methods that the path does answer.
    package static func methodNotAllowed(_ method: HTTPMethod, allow: String) -> Self {
        Self(
            .methodNotAllowed,
            code: "method-not-allowed",
            detail: "This path answers \(allow).",
            headers: ["allow": allow]
        )
    }

    /// 400 for a body that is no JSON, or that goes on beyond what the parser takes.
    package static func unreadableJSON(_ error: JSONSyntaxError) -> Self {
        if error.code == .limit {
            return Self(.badRequest, code: "json-too-large", detail: "Not all of the body is read: \(error)")
        }
        return Self(.badRequest, code: "json-syntax", detail: "The body is not JSON: \(error)")
    }

    /// 413 with the route's limit.
    package static func contentTooLarge(limit: Int) -> Self {
        Self(.contentTooLarge, code: "content-too-large", detail: "The body may have at most \(limit) bytes here.")
    }

    /// 503 with the seconds after which another try makes sense.
    package static func serviceUnavailable(_ detail: String, code: String = "unavailable", retryAfter: Int = 1) -> Self
    {
        Self(.serviceUnavailable, code: code, detail: detail, headers: ["retry-after": "\(retryAfter)"])
    }

    /// 503: the server holds as many bytes of unfinished requests as it may, in all or of the caller's address.
    static var bodiesTooLarge: Self {
        .serviceUnavailable(
            "There are too many large requests at once. Try again in a few seconds.",
            code: "too-many-bodies",
            retryAfter: 5
        )
    }

    /// 500 without a word about the cause: that is in the log under the request's identifier.
    package static var internalError: Self {
        Self(
            .internalServerError,
            code: "internal-error",
            detail: "The server failed to answer. The request identifier names the entry in its log."
        )
    }
}
