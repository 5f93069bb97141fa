// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime
import TestPatience
import Testing

@testable import HTTPEngine

/// Swift's own comparison of texts sorts each run of combining marks first, in the square of its length. Anyone may send
/// such a run in a path or a header field, before it is known who it is.
@Suite("Runs of combining marks")
struct CombiningMarksTests {
    /// As much as a header takes, of marks that are in the wrong order, pair by pair.
    private static let marks = "a" + String(repeating: "\u{301}\u{323}", count: 3_900)
    /// In a path each byte takes three.
    private static let encoded = PercentEncoding.encode("a" + String(repeating: "\u{301}\u{323}", count: 1_300))
    /// How often: single ones are too short to cost much.
    private static let count = 400

    private func expectLinear(_ what: String, _ body: () throws -> Void) rethrows {
        let time = try Patience.processorTime { for _ in 0..<Self.count { try body() } }
        #expect(time < .seconds(3) * Patience.factor, "\(what): \(time)")
    }

    @Test("in a path cost no more than reading them")
    func path() {
        var router = Router()
        for word in ["orders", "events", "order-types", "devices", "log", "livez", "readyz", "metrics"] {
            router.on(.get, "/\(word)/{name}") { _, _ in HTTPResponse(.noContent) }
        }
        expectLinear("path") {
            guard case .refused(let problem) = router.match(.get, "/\(Self.encoded)/a") else {
                Issue.record("there is no such path")
                return
            }
            #expect(problem.status == .notFound)
        }
    }

    @Test("in a header field cost no more than reading them")
    func fields() throws {
        var fields: HTTPFields = ["if-none-match": "\"\(Self.marks)\", \"b\"", "expect": Self.marks]
        expectLinear("tag") { #expect(fields.ifNoneMatch(holds: "W/\"b\"") && !fields.ifNoneMatch(holds: "\"c\"")) }
        let proxies = try TrustedProxies(parsing: "unix")
        let peer = PeerAddress([1, 0])
        for address in [Self.marks, "[\(Self.marks)", "a:\(Self.marks)"] {
            fields["x-forwarded-for"] = address
            expectLinear("forwarded for") { #expect(proxies.client(of: fields, from: peer) == "unix") }
        }
    }

    @Test("in a field that governs the connection cost no more than reading them")
    func control() throws {
        try expectLinear("connection") {
            var control = HTTP1ControlFields()
            try control.note("connection", "\(Self.marks), close")
            #expect(control.asksToClose && !control.asksToKeepAlive)
        }
        try expectLinear("expect") {
            var control = HTTP1ControlFields()
            try control.note("expect", Self.marks)
            #expect(!control.expectsContinue)
        }
        for coding in [Self.marks, "\(Self.marks), chunked", "chunked, \(Self.marks)"] {
            expectLinear("transfer-encoding") {
                var control = HTTP1ControlFields()
                try? control.note("transfer-encoding", coding)
                #expect(!control.isChunked)
            }
        }
    }
}
