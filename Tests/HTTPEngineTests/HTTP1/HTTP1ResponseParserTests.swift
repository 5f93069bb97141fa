// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

@Suite("HTTP/1.1 response parser")
struct HTTP1ResponseParserTests {
    private func read(
        _ text: String,
        method: HTTPMethod = .get,
        ends: Bool = false,
        step: Int = .max,
        limit: Int = .max
    ) -> [String] {
        var parser = HTTP1ResponseParser(bodyLimit: limit)
        parser.method = method
        var events: [HTTP1ResponseEvent] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            parser.feed(rest.prefix(step))
            rest = rest.dropFirst(step)
            while let event = parser.next() { events.append(event) }
        }
        if ends, let last = parser.endOfInput() { events.append(last) }
        var words: [String] = []
        for event in events {
            switch event {
            case .head(let head): words.append("\(head.status.code)\(head.keepsAlive ? "" : " close")")
            case .body(let bytes):
                let text = String(decoding: bytes, as: UTF8.self)
                if words.last?.hasPrefix("body:") == true {
                    words[words.count - 1] += text
                } else {
                    words.append("body:" + text)
                }
            case .end: words.append("end")
            case .failed: words.append("failed")
            }
        }
        return words
    }

    @Test(
        "well-formed responses are read",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", ["200", "body:hello", "end"]),
            ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", ["200", "end"]),
            ("HTTP/1.1 204 \r\n\r\n", ["204", "end"]),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", ["304", "end"]),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", ["200", "body:x", "end"]),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                ["200", "body:hello", "end"]
            ),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", ["200 close", "body:hello", "end"]),
            ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", ["200 close", "body:x", "end"]),
        ]
    )
    func wellFormed(text: String, events: [String]) {
        // Only a body without a length ends with the connection.
        let ends = text.contains("Connection: close")
        #expect(read(text, ends: ends) == events)
        #expect(read(text, ends: ends, step: 1) == events)
    }

    @Test("an answer to HEAD has no body")
    func head() {
        #expect(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", method: .head) == ["200", "end"])
    }

    @Test(
        "anything else is refused",
        arguments: [
            "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 099 X\r\n\r\n", "ICY 200 OK\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
            "HTTP/1.1 101 Switching\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 O\u{0}K\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            String(repeating: "HTTP/1.1 100 C\r\n\r\n", count: 17),
        ]
    )
    func refused(text: String) {
        #expect(read(text).last == "failed")
        #expect(read(text, step: 1).last == "failed")
    }

    @Test(
        "a cut is told from an end",
        arguments: ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"]
    )
    func cut(text: String) { #expect(read(text, ends: true).last == "failed") }

    @Test(
        "a body beyond the limit is refused",
        arguments: ["Content-Length: 6\r\n\r\n", "Connection: close\r\n\r\nhello!"]
    )
    func limit(text: String) { #expect(read("HTTP/1.1 200 OK\r\n" + text, limit: 5).last == "failed") }
}
