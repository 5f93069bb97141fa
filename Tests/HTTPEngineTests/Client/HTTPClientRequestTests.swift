// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

struct HTTPClientRequestTests {
    @Test(
        "URLs are taken apart",
        arguments: [
            ("https://example.com", "example.com", 443, "/", "example.com"),
            ("http://example.com:8080/a?b=c#d", "example.com", 8080, "/a?b=c", "example.com:8080"),
            ("HTTPS://example.com:443?x", "example.com", 443, "/?x", "example.com"),
            ("http://[::1]:81/v1", "::1", 81, "/v1", "[::1]:81"),
        ]
    )
    func parses(url: String, host: String, port: Int, target: String, authority: String) throws {
        let request = try HTTPClientRequest(.get, url)
        #expect(request.host == host)
        #expect(request.port == port)
        #expect(request.target == target)
        #expect(request.authority == authority)
    }

    @Test(
        "What is no absolute URL is refused",
        arguments: [
            "", "example.com", "ftp://example.com", "http://", "http://user@example.com/", "http://a:b@example.com",
            "http://example.com:0", "http://example.com:99999", "http://example.com:x", "http://exa mple.com",
            "http://[::1", "http://[::1]x", "http://example.com:+80",
            "http://[::1]:+80", "http://[::1]:-1", "http://[::1]:0", "http://[::1]:x", "http://example.com:-1",
        ]
    )
    func refuses(url: String) {
        #expect(throws: HTTPClientError.self) { _ = try HTTPClientRequest(.get, url) }
    }

    @Test("Nothing in a request can begin a line of its own")
    func noInjection() throws {
        var request = try HTTPClientRequest(
            .post,
            "http://example.com/",
            headers: ["x": "a\r\nb: c", "content-length": "7", "host": "other"],
            body: [1, 2]
        )
        let head = String(decoding: try #require(request.http1Head), as: UTF8.self)
        #expect(head == "POST / HTTP/1.1\r\nhost: other\r\nx: a  b: c\r\ncontent-length: 2\r\n\r\n")
        request.target = "/a b"
        #expect(request.http1Head == nil)
        request.target = "/\r\n"
        #expect(request.http1Head == nil)
    }
}
