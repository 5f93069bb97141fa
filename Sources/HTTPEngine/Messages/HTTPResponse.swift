// SPDX-License-Identifier: Apache-2.0
package import ExactJSON

/// The answer to a request. Framing fields (`Content-Length`, `Transfer-Encoding`, `Connection`) and `Date` are the engine's:
/// whatever a handler sets for them is not sent.
package struct HTTPResponse: Sendable {
    /// The status.
    package var status: HTTPStatus
    /// The header fields.
    package var headers: HTTPFields
    /// The content; not sent on `HEAD`, 1xx, 204 and 304.
    package var body: HTTPBody

    /// Makes a response.
    package init(_ status: HTTPStatus, headers: HTTPFields = .init(), body: HTTPBody = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON document as `application/json`.
    package static func json(_ value: JSONValue, status: HTTPStatus = .ok) -> Self {
        Self(status, headers: ["content-type": "application/json"], body: .bytes(value.serialized()))
    }

    /// Plain text in UTF-8.
    package static func text(_ text: String, status: HTTPStatus = .ok) -> Self {
        Self(status, headers: ["content-type": "text/plain; charset=utf-8"], body: .bytes(Array(text.utf8)))
    }
}
