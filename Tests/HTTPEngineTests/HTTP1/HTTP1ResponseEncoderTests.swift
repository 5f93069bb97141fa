// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

@Suite("HTTP/1.1 response heads")
struct HTTP1ResponseEncoderTests {
    private func head(
        _ status: HTTPStatus,
        _ fields: HTTPFields = [:],
        count: Int = 0,
        keepsAlive: Bool = true,
        version: HTTPVersion = .http11
    ) -> String {
        String(
            decoding: HTTP1ResponseEncoder.head(
                status,
                fields,
                bodyCount: count,
                keepsAlive: keepsAlive,
                version: version,
                date: "Sun, 06 Nov 1994 08:49:37 GMT",
                requestIdentifier: "r1"
            ),
            as: UTF8.self
        )
    }

    @Test("a head is exactly its fields")
    func exact() {
        #expect(
            head(.ok, ["content-type": "text/plain"], count: 20480)
                == "HTTP/1.1 200 OK\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-type: text/plain\r\ncontent-length: 20480\r\nrequest-id: r1\r\n\r\n"
        )
    }

    @Test("no length where there can be no content", arguments: [204, 304, 100])
    func noLength(code: Int) { #expect(!head(HTTPStatus(code)).contains("content-length")) }

    @Test("an empty body has its length all the same", arguments: [200, 201, 404, 500])
    func zero(code: Int) { #expect(head(HTTPStatus(code)).contains("content-length: 0\r\n")) }

    @Test("the framing fields are the engine's")
    func framing() {
        let text = head(
            .ok,
            [
                "Content-Length": "7", "transfer-encoding": "chunked", "connection": "upgrade", "date": "x",
                "keep-alive": "1",
                "request-id": "other", "upgrade": "h2c", "trailer": "x",
            ],
            count: 3
        )
        #expect(text.contains("content-length: 3\r\n"))
        #expect(text.split(separator: "\r\n").count == 4)
    }

    @Test("the end of the connection is announced")
    func connection() {
        #expect(head(.ok, keepsAlive: false).contains("connection: close\r\n"))
        #expect(head(.ok, version: .http10).contains("connection: keep-alive\r\n"))
        #expect(!head(.ok).contains("connection"))
    }

    @Test("a value with line breaks stays in its line")
    func injection() {
        let text = head(.found, ["location": "/a\r\nset-cookie: evil=1\r\n\r\n<html>"])
        #expect(text.contains("location: /a  set-cookie: evil=1    <html>\r\n"))
        #expect(text.split(separator: "\r\n").count == 5)
    }

    @Test("what is written can be read", arguments: [200, 204, 304, 404, 500, 799])
    func roundTrip(code: Int) {
        var parser = HTTP1ResponseParser()
        parser.feed(Array(head(HTTPStatus(code), ["x": "a b", "etag": "\"1\""]).utf8))
        guard case .head(let read)? = parser.next() else { return #expect(Bool(false)) }
        #expect(read.status.code == code)
        #expect(read.fields["etag"] == "\"1\"")
        #expect(parser.next() == .end)
    }
}
