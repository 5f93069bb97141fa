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
            dateLine: date.isEmpty ? [] : dateLine(date),
            requestIdentifier: requestIdentifier,
            to: &out
        )
        return out
    }

    /// The line of the `Date` field, which many responses share.
    static func dateLine(_ date: String) -> [UInt8] {
        Array("date: \(date)\r\n".utf8)
    }

    /// Adds the head of a response to a buffer.
    /// - Parameter dateLine: what ``dateLine(_:)`` made; empty leaves `Date` out.
    static func append(
        _ status: HTTPStatus,
        _ fields: HTTPFields,
        bodyCount: Int,
        keepsAlive: Bool,
        version: HTTPVersion,
        dateLine: [UInt8],
        requestIdentifier: String,
        to out: inout [UInt8]
    ) {
        let lines = fields.fields.span
        // What stands in each head, with room to spare; the texts come on top.
        var capacity = 160 + status.reason.utf8.count + dateLine.count + requestIdentifier.utf8.count
        for index in lines.indices { capacity += lines[index].name.utf8.count + lines[index].value.utf8.count + 4 }
        out.append(addingCapacity: capacity) { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer, count in
                var head = unsafe HTTP1HeadWriter(buffer)
                // Most answers.
                if status.code == 200 {
                    head.write("HTTP/1.1 200 OK\r\n")
                } else {
                    head.write("HTTP/1.1 ")
                    head.write(status.code)
                    head.write(" ")
                    head.write(status.reason)
                    head.write("\r\n")
                }
                head.write(dateLine)
                for index in lines.indices where !isEngines(lines[index].name) {
                    head.write(lines[index].name, lines[index].value)
                }
                if !status.forbidsBody {
                    head.write("content-length: ")
                    head.write(bodyCount)
                    head.write("\r\n")
                }
                if !requestIdentifier.isEmpty {
                    head.write("request-id: ")
                    head.write(requestIdentifier)
                    head.write("\r\n")
                }
                if !keepsAlive {
                    head.write("connection: close\r\n")
                } else if version == .http10 {
                    head.write("connection: keep-alive\r\n")
                }
                head.write("\r\n")
                count = head.count
            }
        }
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
}
