// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import HTTPEngine

@Suite("HTTP/1.1 request parser")
struct HTTP1RequestParserTests {
    private static let host = "Host: example.com\r\n"

    @Test(
        "well-formed requests are read",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /"]),
            ("GET /a?b=%20 HTTP/1.1\r\nhOsT:a\r\nX:\r\nY: \t v \t\r\n\r\n", ["GET /a?b=%20"]),
            ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /"]),
            ("GET / HTTP/1.0\r\n\r\n", ["GET /"]),
            ("GET / HTTP/1.7\r\nHost: a:8080\r\n\r\n", ["GET /"]),
            ("GET / HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n", ["GET /"]),
            ("GET http://example.com:80/x?y HTTP/1.1\r\nHost: other\r\n\r\n", ["GET /x?y"]),
            ("GET HTTP://example.com?y HTTP/1.1\r\nHost: other\r\n\r\n", ["GET /?y"]),
            ("GET https://example.com HTTP/1.1\r\nHost: other\r\n\r\n", ["GET /"]),
            ("OPTIONS http://example.com HTTP/1.1\r\nHost: other\r\n\r\n", ["OPTIONS *"]),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", ["OPTIONS *"]),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", ["POST / hello"]),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\nhello", ["POST / hello"]),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", ["GET / hi"]),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", ["POST /"]),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                ["POST / hello"]
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"b\"\r\nhe\r\n3 ;c\r\nllo\r\n00\r\nT: x\r\n\r\n",
                ["POST / hello"]
            ),
            ("WHATEVER-METHOD / HTTP/1.1\r\nHost: a\r\n\r\n", ["WHATEVER-METHOD /"]),
            // Names that begin like one that matters are just names.
            (
                "GET / HTTP/1.1\r\nHost: a\r\nContent-Lengt: 9\r\nContent-Length2: 9\r\nTransfer-Encodin: x\r\n\r\n",
                ["GET /"]
            ),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: café\r\n\r\n", ["GET /"]),
        ]
    )
    func wellFormed(text: String, requests: [String]) {
        let reading = RequestReading(text)
        #expect(reading.requests == requests, "\(reading.events)")
        #expect(reading.isComplete)
        #expect(RequestReading(Array(text.utf8).map { [$0] }) == reading)
    }

    @Test("a value's bytes are read as UTF-8")
    func valueTexts() {
        let reading = RequestReading(
            "GET / HTTP/1.1\r\n\(Self.host)A: plain\r\nB: caf\u{E9} \u{20AC}\r\nC:\r\n\r\n"
        )
        let fields = reading.heads.first?.fields
        #expect(fields?["a"] == "plain")
        #expect(fields?["b"] == "caf\u{E9} \u{20AC}")
        #expect(fields?["c"] == "")
        #expect(reading.isComplete)
    }

    @Test("pipelined requests come one after the other")
    func pipelining() {
        let text =
            "POST /1 HTTP/1.1\r\n\(Self.host)Content-Length: 3\r\n\r\nabc"
            + "POST /2 HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n\r\nGET /3 HTTP/1.1\r\n\(Self.host)\r\n"
        #expect(RequestReading(text).requests == ["POST /1 abc", "POST /2 x", "GET /3"])
    }

    @Test("what follows a request waits until it is asked for")
    func oneAtATime() {
        var parser = HTTP1RequestParser()
        parser.feed(Array("GET /1 HTTP/1.1\r\n\(Self.host)\r\nGET /2 HTTP/1.1\r\n\(Self.host)\r\n".utf8))
        guard case .head(let first)? = parser.next() else { return #expect(Bool(false)) }
        #expect(first.target == "/1")
        #expect(parser.next() == .end)
        #expect(parser.bufferedCount > 0)
        #expect(parser.isInsideRequest)
        guard case .head(let second)? = parser.next() else { return #expect(Bool(false)) }
        #expect(second.target == "/2")
        #expect(parser.next() == .end)
        #expect(parser.next() == nil)
        #expect(!parser.isInsideRequest)
    }

    @Test("an absolute target's host replaces the Host field")
    func absoluteForm() {
        let head = RequestReading("GET http://example.com/x HTTP/1.1\r\nHost: example.org\r\n\r\n").heads.first
        #expect(head?.fields.all("host") == ["example.com"])
    }

    @Test("names are lower-cased, values trimmed, order kept")
    func fields() {
        let head = RequestReading("GET / HTTP/1.1\r\nHost: a\r\nX-B: \t1 2\t \r\nx-a:\r\nX-B: 3\r\n\r\n").heads.first
        #expect(head?.fields.map { "\($0.name)=\($0.value)" } == ["host=a", "x-b=1 2", "x-a=", "x-b=3"])
    }

    @Test(
        "whether the connection stays",
        arguments: [
            ("1.1", "", true), ("1.1", "Connection: close\r\n", false), ("1.1", "Connection: a, Close ,b\r\n", false),
            ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", false), ("1.0", "", false),
            ("1.0", "Connection: Keep-Alive\r\n", true), ("1.0", "Connection: keep-alive, close\r\n", false),
        ]
    )
    func keepAlive(version: String, fields: String, expected: Bool) {
        let head = RequestReading("GET / HTTP/\(version)\r\n\(Self.host)\(fields)\r\n").heads.first
        #expect(head?.keepsAlive == expected)
    }

    @Test(
        "100-continue is wanted only where a body follows, from HTTP/1.1 on",
        arguments: [
            ("1.1", "Expect: 100-Continue\r\nContent-Length: 1\r\n", true), ("1.1", "Expect: 100-continue\r\n", false),
            ("1.1", "Content-Length: 1\r\n", false), ("1.0", "Expect: 100-continue\r\nContent-Length: 1\r\n", false),
        ]
    )
    func expectation(version: String, fields: String, expected: Bool) {
        let head = RequestReading("POST / HTTP/\(version)\r\n\(Self.host)\(fields)\r\n").heads.first
        #expect(head?.expectsContinue == expected)
    }

    @Test("the header limit counts every byte of it", arguments: [0, 1])
    func headerLimit(over: Int) {
        var limits = HTTPLimits()
        limits.headerBytes = 200
        let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n".utf8.count
        let text = "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 200 - frame + over))\r\n\r\n"
        let reading = RequestReading(text, limits: limits)
        #expect(reading.fault?.status.code == (over == 0 ? nil : 431))
        #expect(reading.isComplete == (over == 0))
        #expect(RequestReading(Array(text.utf8).map { [$0] }, limits: limits) == reading)
    }

    @Test("a request line that never ends is 431 once it is too long")
    func endlessLine() {
        let reading = RequestReading("GET /" + String(repeating: "a", count: 17_000))
        #expect(reading.fault?.status.code == 431)
    }

    @Test("one field too many is 431", arguments: [(100, nil), (101, 431)])
    func fieldCount(count: Int, status: Int?) {
        let text = "GET / HTTP/1.1\r\n\(Self.host)" + String(repeating: "a: b\r\n", count: count - 1) + "\r\n"
        #expect(RequestReading(text).fault?.status.code == status)
    }

    @Test("a body beyond its limit is 413, before it is read where its length is known")
    func bodyLimit() {
        let declared = RequestReading("POST / HTTP/1.1\r\n\(Self.host)Content-Length: 11\r\n\r\n", bodyLimit: 10)
        #expect(declared.fault?.status == .contentTooLarge)
        #expect(declared.heads.count == 1)
        let chunked = "POST / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
        #expect(RequestReading(chunked + "5\r\nworld\r\n0\r\n\r\n", bodyLimit: 10).isComplete)
        #expect(RequestReading(chunked + "6\r\nworld", bodyLimit: 10).fault?.status == .contentTooLarge)
    }

    @Test("a limit set at the head is of that request alone")
    func limitPerRequest() {
        var parser = HTTP1RequestParser(bodyLimit: 4)
        parser.feed(Array("POST / HTTP/1.1\r\n\(Self.host)Content-Length: 5\r\n\r\nhello".utf8))
        guard case .head? = parser.next() else { return #expect(Bool(false)) }
        parser.bodyLimit = 5
        #expect(parser.next() == .body(Array("hello".utf8)))
        #expect(parser.next() == .end)
        #expect(parser.bodyLimit == 4)
    }

    @Test("after a fault nothing is read")
    func fault() {
        var parser = HTTP1RequestParser()
        parser.feed(Array("BAD\r\n".utf8))
        guard case .failed? = parser.next() else { return #expect(Bool(false)) }
        parser.feed(Array("GET / HTTP/1.1\r\n\(Self.host)\r\n".utf8))
        #expect(parser.next() == nil)
    }

    @Test("what comes a byte at a time is read in linear time", arguments: ["body", "chunks", "header", "target"])
    func slowBytes(place: String) {
        func time(_ count: Int) -> Duration {
            let text: String
            switch place {
            case "body":
                text =
                    "POST / HTTP/1.1\r\n\(Self.host)Content-Length: \(count)\r\n\r\n"
                    + String(repeating: "x", count: count)
            case "chunks":
                text =
                    "POST / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
                    + String(repeating: "1\r\nx\r\n", count: count / 6) + "0\r\n\r\n"
            case "header":
                text = "GET / HTTP/1.1\r\n\(Self.host)X: " + String(repeating: "x", count: count) + "\r\n\r\n"
            default: text = "GET /" + String(repeating: "x", count: count) + " HTTP/1.1\r\n\(Self.host)\r\n"
            }
            var limits = HTTPLimits()
            limits.headerBytes = 2 * count
            let bytes = Array(text.utf8)
            var parser = HTTP1RequestParser(limits: limits, bodyLimit: 2 * count)
            var isWhole = false
            let spent = Patience.processorTime {
                for byte in bytes {
                    parser.feed([byte])
                    while let event = parser.next() { if case .end = event { isWhole = true } }
                }
            }
            #expect(isWhole)
            return spent
        }
        // Eight times as much takes eight times as long; were each byte to cost what came before it, sixty-four times.
        let (small, large) = (time(20_000), time(160_000))
        #expect(large < small * 32, "\(small), \(large)")
    }

    @Test("any way of splitting the input gives the same events")
    func splits() {
        var random = SeededGenerator(seed: 42)
        let texts =
            SmugglingCase.all.map(\.text) + [
                "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhe\r\n3\r\nllo\r\n0\r\nT: x\r\n\r\n\r\nGET / HTTP/1.1\r\n",
            ]
        for _ in 0..<2_000 {
            var bytes = Array(texts[Int.random(in: 0..<texts.count, using: &random)].utf8)
            // Now and then a byte is changed, so that most inputs are ones that nobody thought of.
            for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
                let special: [UInt8] = [0, 9, 10, 13, 32, 44, 48, 58, 59, 65, 127, 128, 255]
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    special[Int.random(in: 0..<special.count, using: &random)]
            }
            var pieces: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let size = Int.random(in: 1...max(1, rest.count / 3), using: &random)
                pieces.append(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            let whole = RequestReading([bytes])
            #expect(RequestReading(pieces) == whole, "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
        }
    }
}
