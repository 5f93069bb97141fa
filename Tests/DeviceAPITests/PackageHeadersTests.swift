// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPEngine
import ServiceRuntime
import Testing

@Suite("Caching of packages")
struct PackageHeadersTests {
    static let modified = WallTime(seconds: 1_790_000_000)

    static func headers(now: Int64 = 1_790_000_100) -> PackageHeaders {
        PackageHeaders(entityTag: "\"abc\"", modifiedAt: Self.modified, now: WallTime(seconds: now))
    }

    @Test(
        "a copy is current when the tag matches, or without tags when the date is not older",
        arguments: [
            ([:], false),
            (["if-none-match": "\"abc\""], true),
            (["if-none-match": "W/\"abc\""], true),
            (["if-none-match": "*"], true),
            (["if-none-match": "\"x,y\", \"abc\""], true),
            (["if-none-match": "\"x\""], false),
            (["if-none-match": "\"\", \"abcd\""], false),
            (["if-modified-since": WallTime(seconds: 1_790_000_000).httpDate], true),
            (["if-modified-since": WallTime(seconds: 1_790_000_001).httpDate], true),
            (["if-modified-since": WallTime(seconds: 1_789_999_999).httpDate], false),
            // A number is no date: a full answer, as for a device that has nothing.
            (["if-modified-since": "1790000000"], false),
            (["if-modified-since": "0"], false),
            (["if-modified-since": "tomorrow"], false),
            // The tag decides alone where it is sent (RFC 9110 13.2.2).
            (["if-none-match": "\"x\"", "if-modified-since": WallTime(seconds: 1_790_000_001).httpDate], false),
            (["if-none-match": "\"abc\"", "if-modified-since": WallTime(seconds: 0).httpDate], true),
        ] as [(HTTPFields, Bool)]
    )
    func conditions(request: HTTPFields, isCurrent: Bool) {
        #expect(Self.headers().isCurrent(for: request) == isCurrent)
    }

    @Test("Last-Modified is the stored time, and never later than Date")
    func lastModified() {
        #expect(Self.headers().fields["last-modified"] == Self.modified.httpDate)
        #expect(Self.headers(now: 1_790_000_200).fields["last-modified"] == Self.modified.httpDate)
        let early = Self.headers(now: 1_789_999_990)
        #expect(early.fields["last-modified"] == WallTime(seconds: 1_789_999_990).httpDate)
        // What was sent back then is older than the revision: a full answer, never a wrong 304.
        #expect(!Self.headers().isCurrent(for: ["if-modified-since": WallTime(seconds: 1_789_999_990).httpDate]))
    }

    @Test(
        "the path of a web service URL is kept in front of /v1",
        arguments: [
            ("https://example.com", ""), ("https://example.com/", ""),
            ("https://example.com/api/orders/", "/api/orders"),
            ("https://example.com:8080//a//b", "/a/b"), ("https://example.com/caf%c3%a9/x%2fy/", "/caf%C3%A9/x%2Fy"),
            ("https://example.com/my%20shop?a#b", "/my%20shop"), ("https://example.com/%61", "/a"),
        ]
    )
    func prefixes(url: String, prefix: String) {
        #expect(DeviceAPI.pathPrefix(of: url) == prefix)
    }
}
