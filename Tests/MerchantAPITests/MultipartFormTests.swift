// SPDX-License-Identifier: Apache-2.0
import TestPatience
import Testing

@testable import MerchantAPI

@Suite("Multipart bodies")
struct MultipartFormTests {
    static func form(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("are taken apart, whatever the parts hold")
    func parts() throws {
        let binary: [UInt8] = [0x0d, 0x0a, 0x2d, 0x2d, 0x62, 0x00, 0xff, 0x0d]
        let body =
            Self.form("--bound\r\nContent-Disposition: form-data; name=\"order\"\r\n\r\n{}\r\n--bound\r\n")
            + Self.form(
                "content-type: image/png\r\nCONTENT-DISPOSITION: form-data; name=\"logo.png\"; filename=\"x;y\"\r\n\r\n"
            )
            + binary + Self.form("\r\n--bound--\r\n")
        let parts = try MultipartForm.parse(body, contentType: "multipart/form-data; boundary=bound")
        #expect(parts.map(\.name) == ["order", "logo.png"])
        #expect(parts[1].contents == binary)
        let quoted = try MultipartForm.parse(
            body,
            contentType: "multipart/form-data; charset=utf-8; boundary=\"bound\""
        )
        #expect(quoted == parts)
    }

    @Test(
        "are refused when they are not whole",
        arguments: [
            ("multipart/form-data", "--b\r\n"),
            ("multipart/form-data; boundary=", "--\r\n"),
            ("multipart/form-data; boundary=b", ""),
            ("multipart/form-data; boundary=b", "--c\r\n"),
            ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx"),
            ("multipart/form-data; boundary=b", "--b\r\n\r\nx\r\n--b--"),
            ("multipart/form-data; boundary=b", "--b\nContent-Disposition: form-data; name=\"a\"\n\nx\n--b--"),
            ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"),
        ]
    )
    func refused(contentType: String, body: String) {
        #expect(throws: MultipartForm.Failure.self) {
            try MultipartForm.parse(Self.form(body), contentType: contentType)
        }
    }

    @Test("are bounded in parts and header bytes, and cost linear time")
    func bounds() throws {
        let part = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n"
        #expect(throws: MultipartForm.Failure.self) {
            try MultipartForm.parse(
                Self.form(String(repeating: part, count: 201) + "--b--"),
                contentType: "multipart/form-data; boundary=b"
            )
        }
        let header = "--b\r\nX: \(String(repeating: "y", count: 5_000))\r\n\r\nx\r\n--b--"
        #expect(throws: MultipartForm.Failure.self) {
            try MultipartForm.parse(Self.form(header), contentType: "multipart/form-data; boundary=b")
        }
        // What is the worst for the search: all carriage returns, and all beginnings of a boundary, in a part and before.
        let long = String(repeating: "b", count: 69)
        for (unit, before) in [("\r", false), ("\r\n--\(long)", false), ("\r\n--\(long)", true)] {
            func body(_ size: Int) -> [UInt8] {
                let filling = String(repeating: unit, count: size / unit.utf8.count)
                let head = "--\(long)c\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
                return Self.form((before ? filling + "\r\n" + head : head + filling) + "\r\n--\(long)c--")
            }
            func cost(_ body: [UInt8]) throws -> Duration {
                try (0..<3).map { _ in
                    try Patience.processorTime {
                        let parts = try MultipartForm.parse(body, contentType: "multipart/form-data; boundary=\(long)c")
                        #expect(parts.count == 1)
                    }
                }.min() ?? .zero
            }
            let (small, large) = (body(40_000), body(320_000))
            let ratio = try cost(large) / max(try cost(small), .microseconds(1))
            // Eight times the size; what is quadratic takes 64 times as long.
            #expect(ratio < 24, "\(ratio)")
        }
    }

    @Test(
        "may have something before the first boundary, which nobody reads",
        arguments: ["\r\n", "for old readers\r\n", "--c\r\n"]
    )
    func preamble(text: String) throws {
        let body = Self.form(text + "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--\r\n")
        let parts = try MultipartForm.parse(body, contentType: "multipart/form-data; boundary=b")
        #expect(parts == [MultipartForm.Part(name: "a", contents: Array("x".utf8))])
    }

    @Test("no mutation of a good body crashes the reader")
    func mutations() {
        let good = Self.form("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--\r\n")
        // The same in every run, so that a crash can be repeated.
        var random = SeededGenerator(seed: 20_260_102)
        for _ in 0..<Patience.count(20_000) {
            var body = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0...2, using: &random) {
                case 0 where !body.isEmpty: body.remove(at: Int.random(in: 0..<body.count, using: &random))
                case 1:
                    body.insert(
                        [0x0d, 0x0a, 0x2d, 0x62].randomElement(using: &random) ?? 0,
                        at: Int.random(in: 0...body.count, using: &random)
                    )
                default: body = Array(body.prefix(Int.random(in: 0...body.count, using: &random)))
                }
            }
            _ = try? MultipartForm.parse(body, contentType: "multipart/form-data; boundary=b")
        }
    }
}
