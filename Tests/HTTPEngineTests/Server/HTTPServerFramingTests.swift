// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import Testing

@testable import HTTPEngine

@Suite("HTTP/1.1 server: framing")
struct HTTPServerFramingTests {
    private static let host = "Host: example.com\r\n"

    @Test("every ambiguous request is refused, the connection closed, and what follows never run")
    func smuggling() async throws {
        try await RunningServer.with { server in
            for smuggling in SmugglingCase.all {
                let (text, end) = try await server.talk { peer in
                    peer.send(smuggling.text + "GET /hidden HTTP/1.1\r\nHost: example.com\r\n\r\n")
                    peer.finish()
                    return peer.readToEnd()
                }
                // The version of a refusal may be named in its text too, so answers are counted by a field.
                #expect(text.hasPrefix("HTTP/1.1 \(smuggling.status) "), "\(smuggling.name): \(text)")
                #expect(text.contains("connection: close\r\n"), "\(smuggling.name)")
                #expect(end == .closed, "\(smuggling.name): \(end)")
                #expect(text.components(of: "\r\nrequest-id: ") == 1, "\(smuggling.name): answered twice")
            }
            #expect(!server.probe.paths.withLock { $0.contains("/hidden") })
        }
    }

    @Test(
        "what is too large or no header is refused and the connection closed",
        arguments: [
            ("GET /hello HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 17_000))\r\n\r\n", 431),
            ("GET /hello HTTP/1.1\r\n\(host)" + String(repeating: "X: a\r\n", count: 101) + "\r\n", 431),
            ("GET /\(String(repeating: "a", count: 17_000)) HTTP/1.1\r\n\(host)\r\n", 431),
            ("POST /echo HTTP/1.1\r\n\(host)Content-Length: 1001\r\n\r\n\(String(repeating: "a", count: 1001))", 413),
            ("POST /echo HTTP/1.1\r\n\(host)Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n", 413),
            (
                "POST /echo HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n3e9\r\n"
                    + String(repeating: "a", count: 1001) + "\r\n0\r\n\r\n", 413
            ),
            ("GET /hello HTTP/1.1\r\n\(host)NoColon\r\n\r\n", 400),
            ("POST /nowhere HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello", 404),
        ]
    )
    func refused(request: String, status: Int) async throws {
        try await RunningServer.with { server in
            let (text, end) = try await server.talk { peer in
                peer.send(request)
                return peer.readToEnd()
            }
            #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
            #expect(text.contains("connection: close\r\n"))
            #expect(end == .closed)
            #expect(server.probe.paths.withLock { $0.isEmpty })
        }
    }

    @Test(
        "a fault has the code that it has over HTTP/2, and one of its own where there is none",
        arguments: [
            (
                "GET /hello HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 17_000))\r\n\r\n",
                "header-fields-too-large"
            ),
            (
                "GET /hello HTTP/1.1\r\n\(host)" + String(repeating: "X: a\r\n", count: 101) + "\r\n",
                "header-fields-too-large"
            ),
            ("POST /echo HTTP/1.1\r\n\(host)Content-Length: 1001\r\n\r\n", "content-too-large"),
            ("CONNECT example.com:443 HTTP/1.1\r\n\(host)\r\n", "no-tunnels"),
            ("POST /echo HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n", "unknown-transfer-coding"),
            ("GET /hello HTTP/2.0\r\n\(host)\r\n", "version-not-supported"),
            ("POST /echo HTTP/1.1\r\n\(host)Expect: more\r\nContent-Length: 1\r\n\r\n", "expectation-failed"),
            ("GET ftp://example.com/ HTTP/1.1\r\n\(host)\r\n", "malformed-target"),
            ("GET /hello HTTP/1.1\r\n\(host)NoColon\r\n\r\n", "malformed-request"),
        ]
    )
    func codes(request: String, code: String) async throws {
        try await RunningServer.with { server in
            let (text, _) = try await server.talk { peer in
                peer.send(request)
                return peer.readToEnd()
            }
            #expect(text.contains("\"code\":\"\(code)\""), "\(text)")
        }
    }

    @Test(
        "a field that is not UTF-8 is refused: replaced, two of them could be one",
        arguments: [[0xFF, 0xFE], [0xC3]]
    )
    func notText(bytes: [UInt8]) async throws {
        try await RunningServer.with { server in
            let (text, _) = try await server.talk { peer in
                peer.send(
                    Array("GET /hello HTTP/1.1\r\n\(Self.host)Idempotency-Key: ".utf8) + bytes + Array("\r\n\r\n".utf8)
                )
                return peer.readToEnd()
            }
            #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("\"malformed-header\""), "\(text)")
            #expect(server.probe.paths.withLock { $0.isEmpty })
            let answer = try await server.talk { peer in
                peer.send("GET /hello HTTP/1.1\r\n\(Self.host)X: größe\r\n\r\n")
                return try peer.answer()
            }
            #expect(answer.status == 200)
        }
    }

    @Test(
        "a field whose name begins or goes on like a known one is a field like any other",
        arguments: ["Hos", "Hostt", "Content-Lengt", "Content-Length2", "Transfer-Encodin", "Connectio", "Expec", "E"]
    )
    func similarNames(name: String) async throws {
        try await RunningServer.with { server in
            let answer = try await server.talk { peer in
                peer.send("GET /hello HTTP/1.1\r\nHost: example.com\r\n\(name): 5\r\n\r\n")
                return try peer.answer()
            }
            #expect(answer.status == 200 && answer.body == "hello")
        }
    }

    @Test("a body is asked for when the client waits, unless it is refused")
    func expectContinue() async throws {
        try await RunningServer.with { server in
            try await server.talk { peer in
                peer.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
                try #expect(peer.answer().status == 100)
                peer.send("hello")
                try #expect(peer.answer().body == "hello")
                peer.send("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
                try #expect(peer.answer().status == 404)
                #expect(peer.readToEnd().end == .closed)
            }
        }
    }

    @Test("HEAD, 204 and 304 have no body, and the connection stays in step")
    func withoutBody() async throws {
        try await RunningServer.with { server in
            try await server.talk { peer in
                peer.send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                let head = try peer.answer(toHead: true)
                #expect(head.status == 200 && head.has("content-length: 5"))
                peer.send("GET /none HTTP/1.1\r\nHost: a\r\n\r\nGET /same HTTP/1.1\r\nHost: a\r\n\r\n")
                let none = try peer.answer()
                #expect(none.status == 204 && !none.head.contains("content-length"))
                try #expect(peer.answer().status == 304)
                peer.send("HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                try #expect(peer.answer(toHead: true).status == 404)
                try #expect(peer.answer().body == "hello")
            }
        }
    }

    @Test("pipelined requests are answered in order, the last ones after the client's end too", arguments: [1, 7, 500])
    func pipelined(count: Int) async throws {
        try await RunningServer.with { server in
            try await server.talk { peer in
                let numbers = (0..<count).map(String.init)
                peer.send(numbers.map { "GET /number/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
                peer.finish()
                for number in numbers { try #expect(peer.answer().body == number) }
                let (rest, end) = peer.readToEnd()
                #expect(rest.isEmpty && end == .closed)
            }
        }
    }

    @Test("a request cut off by the client's end is not run")
    func cutOff() async throws {
        try await RunningServer.with { server in
            let (_, end) = try await server.talk { peer in
                peer.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell")
                peer.finish()
                return peer.readToEnd()
            }
            #expect(end == .closed)
            #expect(server.probe.paths.withLock { $0.isEmpty })
        }
    }

    @Test("HTTP/1.0 closes, unless it asks for keep-alive")
    func http10() async throws {
        try await RunningServer.with { server in
            let (text, end) = try await server.talk { peer in
                peer.send("GET /hello HTTP/1.0\r\n\r\n")
                return peer.readToEnd()
            }
            #expect(text.hasSuffix("\r\n\r\nhello") && text.contains("connection: close") && end == .closed)
            try await server.talk { peer in
                for _ in 0..<2 {
                    peer.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    try #expect(peer.answer().has("connection: keep-alive"))
                }
            }
        }
    }

    @Test("a refusal does not bear the identifier of the request before it")
    func identifierOfRefusal() async throws {
        try await RunningServer.with { server in
            try await server.talk { peer in
                peer.send("GET /hello HTTP/1.1\r\nHost: a\r\nRequest-Id: first-request\r\n\r\n")
                try #expect(peer.answer().has("request-id: first-request"))
                peer.send("nonsense\r\n\r\n")
                let refusal = try peer.answer()
                #expect(refusal.status == 400 && !refusal.head.contains("first-request"))
            }
        }
    }

    @Test("an answer larger than the socket's buffers reaches a slow reader whole")
    func slowReader() async throws {
        try await RunningServer.with { server in
            let count = try await server.talk(receiveBuffer: 4096) { peer in
                peer.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                var count = 0
                while true {
                    let (bytes, end) = peer.read(8192)
                    count += bytes.count
                    if end != nil { return count }
                }
            }
            #expect(count > RunningServer.largeCount && count < RunningServer.largeCount + 1000)
        }
    }
}

extension String {
    /// How often a part occurs.
    func components(of part: String) -> Int {
        var count = 0
        var rest = self[...]
        while let found = rest.firstRange(of: part) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
