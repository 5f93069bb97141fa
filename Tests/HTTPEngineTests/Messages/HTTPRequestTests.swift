// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEngine

@Suite("Requests and their queries")
struct HTTPRequestTests {
    @Test("the path ends at the first question mark")
    func path() {
        #expect(HTTPRequest(method: .get, target: "/a/b?c=/d?e").path == "/a/b")
        #expect(HTTPRequest(method: .get, target: "/a").path == "/a")
        #expect(HTTPRequest(method: .get, target: "/?").path == "/")
    }

    @Test(
        "query values are decoded once",
        arguments: [
            ("/?a=1&b=2", "b", "2"), ("/?a", "a", ""), ("/?a=b=c", "a", "b=c"), ("/?a=%2520", "a", "%20"),
            ("/?a=x+y", "a", "x y"), ("/?a=x%2By", "a", "x+y"), ("/?caf%C3%A9=%E2%82%AC", "café", "€"),
            ("/?&&a=1", "a", "1"),
        ]
    )
    func query(target: String, name: String, value: String) {
        let request = HTTPRequest(method: .get, target: target)
        #expect(request.queryValue(name) == value)
        #expect(request.hasDecodableQuery)
    }

    @Test(
        "a query that is not well encoded is known",
        arguments: ["/?a=%", "/?a=%4", "/?%zz=1", "/?a=%FF", "/?a=1&b=%C3"]
    )
    func badQuery(target: String) { #expect(!HTTPRequest(method: .get, target: target).hasDecodableQuery) }

    @Test("a sane Request-Id is taken over", arguments: ["abc", "A-b_c.9", String(repeating: "x", count: 128)])
    func takenIdentifier(text: String) {
        #expect(HTTPRequest(method: .get, target: "/", headers: ["request-id": text]).identifier == text)
    }

    @Test("any other is replaced", arguments: ["", "a b", "a/b", "ä", String(repeating: "x", count: 129), "a\r\nb"])
    func replacedIdentifier(text: String) {
        let made = HTTPRequest(method: .get, target: "/", headers: ["request-id": text]).identifier
        #expect(made != text)
        #expect(made.utf8.count == 12)
    }

    @Test("no two made identifiers are equal")
    func distinctIdentifiers() {
        let made = Set((0..<10_000).map { _ in RequestIdentifier.of(HTTPFields()) })
        #expect(made.count == 10_000)
    }
}
