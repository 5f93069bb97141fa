// SPDX-License-Identifier: Apache-2.0

/// A request as HTTP/2 carries it.
package struct HTTP2Request: Sendable {
    /// A header field.
    package struct Field: Sendable {
        /// Lower-case token.
        package var name: String
        /// Without control characters.
        package var value: String
        /// Keeps it out of the compression table: a secret, or a value that never comes again.
        package var neverIndex: Bool

        /// Makes a field.
        package init(_ name: String, _ value: String, neverIndex: Bool = false) {
            self.name = name
            self.value = value
            self.neverIndex = neverIndex
        }
    }

    /// The method.
    package var method: HTTPMethod
    /// "https" or "http".
    package var scheme: String
    /// Host and port as in a URL.
    package var authority: String
    /// Path and query, percent-encoded.
    package var path: String
    /// Whether the path stays out of the compression table: paths that hold a device token never repeat.
    package var neverIndexPath: Bool
    /// The fields, in order.
    package var headers: [Field]
    /// The body; `content-length` is added.
    package var body: [UInt8]
    /// The largest answer's body in bytes; larger is `.tooLarge`.
    package var responseLimit: Int

    /// Makes a request.
    package init(
        method: HTTPMethod,
        scheme: String = "https",
        authority: String,
        path: String,
        neverIndexPath: Bool = false,
        headers: [Field] = [],
        body: [UInt8] = [],
        responseLimit: Int = 1024 * 1024
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.neverIndexPath = neverIndexPath
        self.headers = headers
        self.body = body
        self.responseLimit = responseLimit
    }
}
