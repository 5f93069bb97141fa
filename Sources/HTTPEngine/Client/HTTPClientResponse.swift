// SPDX-License-Identifier: Apache-2.0

/// A whole answer.
package struct HTTPClientResponse: Sendable {
    /// The status.
    package var status: HTTPStatus
    /// The header fields.
    package var headers: HTTPFields
    /// The body, within the limit of the request.
    package var body: [UInt8]
    /// The protocol that it came by.
    package var version: HTTPVersion

    /// Makes a response; tests do.
    package init(
        _ status: HTTPStatus,
        headers: HTTPFields = .init(),
        body: [UInt8] = [],
        version: HTTPVersion = .http2
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.version = version
    }
}
