// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

@Suite("HTTP server: the limits that are promised")
struct HTTPLimitsTests {
    @Test("header and body, times, rates and connections are bounded as promised")
    func defaults() {
        let limits = HTTPLimits()
        #expect(limits.headerBytes == 16 * 1024)
        #expect(limits.headerFields == 100)
        #expect(limits.headerTimeout == .seconds(10))
        #expect(limits.handshakeTimeout <= limits.headerTimeout)
        #expect(limits.minimumBodyRate == 1024)
        #expect(limits.bodyGrace == .seconds(5))
        #expect(limits.requestTimeout == .seconds(30))
        #expect(limits.idleTimeout == .seconds(60))
        #expect(limits.writeTimeout == .seconds(20))
        #expect(limits.minimumWriteRate == 1024)
        #expect(limits.connections == 10_000)
        #expect(limits.connectionsPerAddress == 100)
        #expect(limits.bodyBufferBytes == 256 * 1024 * 1024)
        #expect(limits.bodyBufferBytesPerAddress == 64 * 1024 * 1024)
        #expect(limits.streams == 100)
        #expect(limits.drainIdleTimeout == .seconds(1))
    }

    @Test("a header of exactly 16 KiB is read, and one byte more is 431")
    func header() throws {
        func read(_ count: Int) -> Int {
            let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
            let text = start + String(repeating: "x", count: count - start.utf8.count - 4) + "\r\n\r\n"
            var parser = HTTP1RequestParser(bodyLimit: 0)
            parser.feed(Array(text.utf8))
            switch parser.next() {
            case .head: return 200
            case .failed(let fault): return fault.status.code
            default: return 0
            }
        }
        #expect(read(16 * 1024) == 200)
        #expect(read(16 * 1024 + 1) == 431)
    }
}
