// SPDX-License-Identifier: Apache-2.0

/// Writes a response's head (RFC 9112 4): one buffer, ready to be sent in front of the body.
package enum HTTP1ResponseEncoder {
    /// The head of a response.
    ///
    /// Exactly one Content-Length, never on 1xx, 204 and 304 (RFC 9110 8.6), also in answer to HEAD; the framing fields of
    /// `fields` are not written. Field values cannot end a line: ``HTTPFields`` sees to it.
    /// - Parameters:
    ///   - bodyCount: the length of the content, sent or (HEAD) not.
    ///   - keepsAlive: whether another request may follow.
    ///   - version: the request's: HTTP/1.0 has to be told that the connection stays.
    ///   - date: the value of `Date`; empty leaves it out.
    ///   - requestIdentifier: the value of `Request-Id`; empty leaves it out.
    package static func head(
        _ status: HTTPStatus,
        _ fields: HTTPFields,
        bodyCount: Int,
        keepsAlive: Bool,
        version: HTTPVersion,
        date: String,
        requestIdentifier: String
    ) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(512)
        append(
            status,
            fields,
            bodyCount: bodyCount,
            keepsAlive: keepsAlive,
            version: version,
            date: date,
            requestIdentifier: requestIdentifier,
            to: &out
        )
        return out
    }

    /// Adds the head of a response to a buffer.
    static func append(
        _ status: HTTPStatus,
        _ fields: HTTPFields,
        bodyCount: Int,
        keepsAlive: Bool,
        version: HTTPVersion,
        date: String,
        requestIdentifier: String,
        to out: inout [UInt8]
    ) {
        if status.code == 200 {
            append("HTTP/1.1 200 OK\r\n", &out)
        } else {
            append("HTTP/1.1 ", &out)
            append(status.code, &out)
            out.append(0x20)
            append(status.reason, &out)
            append("\r\n", &out)
        }
        if !date.isEmpty { append("date", date, &out) }
        for field in fields where !isEngines(field.name) { append(field.name, field.value, &out) }
        if !status.forbidsBody {
            append("content-length: ", &out)
            append(bodyCount, &out)
            append("\r\n", &out)
        }
        if !requestIdentifier.isEmpty { append("request-id", requestIdentifier, &out) }
        if !keepsAlive {
            append("connection: close\r\n", &out)
        } else if version == .http10 {
            append("connection: keep-alive\r\n", &out)
        }
        append("\r\n", &out)
    }

    /// The answer before the answer to `Expect: 100-continue`.
    package static var `continue`: [UInt8] { Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) }

    /// Fields that the engine writes itself.
    private static func isEngines(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: name == "date"
        case 7: name == "trailer" || name == "upgrade"
        case 10: name == "connection" || name == "keep-alive" || name == "request-id"
        case 14: name == "content-length"
        case 17: name == "transfer-encoding"
        default: false
        }
    }

    private static func append(_ name: String, _ value: String, _ out: inout [UInt8]) {
        out.append(contentsOf: name.utf8)
        out.append(UInt8(ascii: ":"))
        out.append(0x20)
        out.append(contentsOf: value.utf8)
        out.append(HTTP1Bytes.carriageReturn)
        out.append(HTTP1Bytes.lineFeed)
    }

    private static func append(_ text: String, _ out: inout [UInt8]) { out.append(contentsOf: text.utf8) }

    private static func append(_ number: Int, _ out: inout [UInt8]) {
        guard number >= 10 else {
            out.append(UInt8(truncatingIfNeeded: number) + 0x30)
            return
        }
        append(number / 10, &out)
        out.append(UInt8(number % 10) + 0x30)
    }
}
