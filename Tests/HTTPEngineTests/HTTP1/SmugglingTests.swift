// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

/// Input that makes two HTTP parsers in a row disagree about where a request ends, with the one right answer.
struct SmugglingCase: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let status: Int

    init(_ name: String, _ text: String, _ status: Int = 400) {
        self.name = name
        self.text = text
        self.status = status
    }

    var testDescription: String { name }

    private static func post(_ name: String, _ fields: String, _ body: String, _ status: Int = 400) -> Self {
        Self(name, "POST / HTTP/1.1\r\nHost: example.com\r\n\(fields)\r\n\(body)", status)
    }

    private static func get(_ name: String, _ fields: String, _ status: Int = 400) -> Self {
        Self(name, "GET / HTTP/1.1\r\nHost: example.com\r\n\(fields)\r\n", status)
    }

    private static func line(_ name: String, _ line: String, _ status: Int = 400) -> Self {
        Self(name, "\(line)\r\nHost: example.com\r\n\r\n", status)
    }

    private static func chunked(_ name: String, _ body: String, _ status: Int = 400) -> Self {
        post(name, "Transfer-Encoding: chunked\r\n", body, status)
    }

    private static let hidden = "GET /hidden HTTP/1.1\r\nHost: example.com\r\n\r\n"

    static let lengths: [Self] = [
        post("length and coding", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden),
        post("coding and length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + hidden),
        post("two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n", "01234" + hidden),
        post("two equal lengths", "Content-Length: 5\r\nContent-Length: 5\r\n", "01234"),
        post("lengths in a list", "Content-Length: 5, 5\r\n", "01234"),
        post("different lengths in a list", "Content-Length: 5, 6\r\n", "01234"),
        post("length with plus", "Content-Length: +5\r\n", "01234"),
        post("length with minus", "Content-Length: -5\r\n", "01234"),
        post("length minus zero", "Content-Length: -0\r\n", ""),
        post("length in hex", "Content-Length: 0x5\r\n", "01234"),
        post("length with letters", "Content-Length: 5abc\r\n", "01234"),
        post("length with a point", "Content-Length: 5.0\r\n", "01234"),
        post("length with an underscore", "Content-Length: 1_0\r\n", "0123456789"),
        post("length with inner space", "Content-Length: 1 0\r\n", "0123456789"),
        post("empty length", "Content-Length:\r\n", ""),
        post("blank length", "Content-Length: \t \r\n", ""),
        post("length with a vertical tab", "Content-Length: \u{0B}5\r\n", "01234"),
        post("length in other digits", "Content-Length: \u{FF15}\r\n", "01234"),
        post("length in quotes", "Content-Length: \"5\"\r\n", "01234"),
        post("length beyond 64 bits", "Content-Length: 18446744073709551621\r\n", "01234", 413),
        post("length beyond 63 bits", "Content-Length: 9223372036854775808\r\n", "01234", 413),
        post("length far beyond", "Content-Length: \(String(repeating: "9", count: 400))\r\n", "", 413),
    ]

    static let codings: [Self] = [
        post("chunked twice in a list", "Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"),
        post("chunked in two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        post(
            "chunked and identity fields",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            "0\r\n\r\n"
        ),
        post("identity", "Transfer-Encoding: identity\r\n", "0\r\n\r\n"),
        post("chunked not last", "Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"),
        post("gzip alone", "Transfer-Encoding: gzip\r\n", "0\r\n\r\n"),
        post("gzip then chunked", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", 501),
        post("xchunked", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
        post("chunked with a letter more", "Transfer-Encoding: chunkedx\r\n", "0\r\n\r\n"),
        post("chunked in quotes", "Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"),
        post("chunked with a parameter", "Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n"),
        post("chunked after a comma", "Transfer-Encoding: ,chunked\r\n", "0\r\n\r\n"),
        post("chunked before a comma", "Transfer-Encoding: chunked,\r\n", "0\r\n\r\n"),
        post("empty coding", "Transfer-Encoding:\r\n", "0\r\n\r\n"),
        post("space before the colon of the coding", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
        post("tab before the colon of the coding", "Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n"),
        post("coding folded", "Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
        post("coding after a vertical tab", "Transfer-Encoding: \u{0B}chunked\r\n", "0\r\n\r\n"),
        post("coding ends in NUL", "Transfer-Encoding: chunked\u{0}\r\n", "0\r\n\r\n"),
        post("coding after a bare CR", "X: y\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        post("coding after a bare LF", "X: y\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        Self("coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ]

    static let fields: [Self] = [
        get("line without a colon", "NoColon\r\n"),
        get("line without a colon hides the next", "NoColon\r\nContent-Length: 5\r\n"),
        get("folded value", "X: a\r\n b\r\n"),
        get("folded by tab", "X: a\r\n\tb: c\r\n"),
        Self("fold right after the request line", "GET / HTTP/1.1\r\n Host: example.com\r\nHost: example.com\r\n\r\n"),
        get("no name", ": value\r\n"),
        get("space in the name", "Content Length: 5\r\n"),
        get("space before the name", " Content-Length: 5\r\n"),
        get("space before the colon", "Content-Length : 5\r\n"),
        get("NUL in the name", "Content\u{0}-Length: 5\r\n"),
        get("NUL in the value", "X: a\u{0}b\r\n"),
        get("DEL in the value", "X: a\u{7F}b\r\n"),
        get("bell in the value", "X: a\u{07}b\r\n"),
        get("letter beyond ASCII in the name", "Ünicode: 5\r\n"),
        get("bare CR in the value", "X: a\rb\r\n"),
        get("bare LF ends a field", "X: a\n"),
        get("quote in the name", "\"X\": a\r\n"),
        get("slash in the name", "a/b: c\r\n"),
        Self("bare LF ends everything", "GET / HTTP/1.1\nHost: example.com\n\n"),
        Self("bare LF ends the header", "GET / HTTP/1.1\r\nHost: example.com\r\n\n"),
        Self("CR CR LF", "GET / HTTP/1.1\r\nHost: example.com\r\r\n\r\n"),
        Self("no Host", "GET / HTTP/1.1\r\n\r\n"),
        get("two Hosts", "Host: example.com\r\n"),
        Self("empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        Self("Host with a path", "GET / HTTP/1.1\r\nHost: example.com/x\r\n\r\n"),
        Self("Host with a user", "GET / HTTP/1.1\r\nHost: a@example.com\r\n\r\n"),
        Self("Host list", "GET / HTTP/1.1\r\nHost: example.com, example.org\r\n\r\n"),
        Self("Host with a space", "GET / HTTP/1.1\r\nHost: example.com example.org\r\n\r\n"),
        Self("Host with a letter port", "GET / HTTP/1.1\r\nHost: example.com:80a\r\n\r\n"),
        Self("Host with a port too large", "GET / HTTP/1.1\r\nHost: example.com:65536\r\n\r\n"),
        Self("Host with an open bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"),
        Self("absolute target without Host", "GET http://example.com/ HTTP/1.1\r\n\r\n"),
        get("an unknown expectation", "Expect: 200-ok\r\n", 417),
    ]

    static let lines: [Self] = [
        line("HTTP/0.9", "GET /"),
        line("two spaces after the method", "GET  / HTTP/1.1"),
        line("two spaces before the version", "GET /  HTTP/1.1"),
        line("tab for space", "GET\t/\tHTTP/1.1"),
        line("space after the version", "GET / HTTP/1.1 "),
        line("space before the method", " GET / HTTP/1.1"),
        line("lower-case version", "GET / http/1.1"),
        line("short version", "GET / HTTP/1"),
        line("long version", "GET / HTTP/1.10"),
        line("version with a plus", "GET / HTTP/+1.1"),
        line("HTTP/2.0", "GET / HTTP/2.0", 505),
        line("HTTP/9.9", "GET / HTTP/9.9", 505),
        line("HTTP/0.9 spelt out", "GET / HTTP/0.9", 505),
        line("the preface of HTTP/2", "PRI * HTTP/2.0", 505),
        line("no target", "GET HTTP/1.1"),
        line("NUL in the target", "GET /\u{0} HTTP/1.1"),
        line("fragment in the target", "GET /#a HTTP/1.1"),
        line("letters beyond ASCII in the target", "GET /ä HTTP/1.1"),
        line("bare CR in the target", "GET /\rHTTP/1.1"),
        line("relative target", "GET a HTTP/1.1"),
        line("asterisk for GET", "GET * HTTP/1.1"),
        line("another scheme", "GET ftp://example.com/ HTTP/1.1"),
        line("absolute target with a user", "GET http://a@example.com/ HTTP/1.1"),
        line("absolute target without a host", "GET http:///x HTTP/1.1"),
        line("a tunnel", "CONNECT example.com:443 HTTP/1.1", 501),
        line("method with a brace", "G{T / HTTP/1.1"),
        line("method of 33 bytes", String(repeating: "A", count: 33) + " / HTTP/1.1"),
        Self("a TLS greeting", "\u{16}\u{3}\u{1}\u{2}"),
        Self("two empty lines in front", "\r\n\r\nGET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    ]

    static let chunks: [Self] = [
        chunked("size of 16 digits", "0000000000000005\r\nhello\r\n0\r\n\r\n"),
        chunked("size that wraps", "100000000000000005\r\nhello\r\n0\r\n\r\n"),
        chunked("size with minus", "-5\r\nhello\r\n0\r\n\r\n"),
        chunked("size with plus", "+5\r\nhello\r\n0\r\n\r\n"),
        chunked("size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"),
        chunked("size with a space in front", " 5\r\nhello\r\n0\r\n\r\n"),
        chunked("size with a space behind", "5 \r\nhello\r\n0\r\n\r\n"),
        chunked("size with a comma", "5,\r\nhello\r\n0\r\n\r\n"),
        chunked("no size", "\r\nhello\r\n0\r\n\r\n"),
        chunked("extension without a size", ";a=b\r\nhello\r\n0\r\n\r\n"),
        chunked("letters for a size", "xyz\r\nhello\r\n0\r\n\r\n"),
        chunked("size line ends in LF", "5\nhello\r\n0\r\n\r\n"),
        chunked("data ends in LF", "5\r\nhello\n0\r\n\r\n"),
        chunked("data ends in a letter and LF", "5\r\nhello%\n0\r\n\r\n"),
        chunked("data ends in CR", "5\r\nhello\r0\r\n\r\n"),
        chunked("data longer than its size", "5\r\nhello!\r\n0\r\n\r\n"),
        chunked("data shorter than its size", "6\r\nhello\r\n0\r\n\r\n"),
        chunked("bare CR in an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n"),
        chunked("bare LF in an extension", "5;a\nb\r\nhello\r\n0\r\n\r\n"),
        chunked("NUL in an extension", "5;a\u{0}\r\nhello\r\n0\r\n\r\n"),
        chunked("an extension of 5,000 bytes", "5;\(String(repeating: "a", count: 5000))\r\nhello\r\n0\r\n\r\n"),
        chunked(
            "extensions of 5,000 bytes in all",
            String(repeating: "1;aaaaaaaaa\r\nx\r\n", count: 500) + "0\r\n\r\n"
        ),
        chunked("a size beyond the limit", "FFFFFFFFFFFFFFF\r\nhello", 413),
        chunked("trailer without a colon", "0\r\nnothing\r\n\r\n"),
        chunked("folded trailer", "0\r\na: b\r\n c\r\n\r\n"),
        chunked("trailer ends in LF", "0\r\na: b\n\r\n"),
        chunked("trailers of 5,000 bytes", "0\r\na: \(String(repeating: "b", count: 5000))\r\n\r\n", 431),
        chunked("200 trailers", "0\r\n" + String(repeating: "a: b\r\n", count: 200) + "\r\n", 431),
    ]

    static let all = lengths + codings + fields + lines + chunks
}

@Suite("Request smuggling")
struct SmugglingTests {
    @Test("every ambiguous request is refused and nothing after it is read", arguments: SmugglingCase.all)
    func refused(smuggling: SmugglingCase) {
        let reading = RequestReading(smuggling.text + "GET /next HTTP/1.1\r\nHost: example.com\r\n\r\n")
        #expect(reading.fault?.status.code == smuggling.status, "\(reading.events)")
        #expect(!reading.requests.contains { $0.contains("hidden") || $0.contains("next") })
        #expect(!reading.events.contains(.end))
    }

    @Test("the refusal does not depend on how the bytes arrive", arguments: SmugglingCase.all)
    func byteByByte(smuggling: SmugglingCase) {
        let bytes = Array(smuggling.text.utf8)
        #expect(RequestReading(bytes.map { [$0] }) == RequestReading([bytes]))
    }

    @Test("there are enough cases")
    func count() { #expect(SmugglingCase.all.count >= 100) }
}
