// SPDX-License-Identifier: Apache-2.0
import ExactJSON
import TestPatience
import Testing

@testable import OrderModel

/// What is said of links that lead nowhere.
@Suite struct URLTests {
    private static func findings(_ url: String, at pointer: String = "/orderManagementURL") throws -> [Finding] {
        let order = try JSONValue(text: ValidationTests.whole).replacing(pointer, with: .string(url))
        return OrderDocument.validate(order).findings
    }

    private static func question(_ url: String) -> String { "Did you mean \"\(url)\"?" }

    @Test(
        arguments: [
            ("https://example.com/a b", "a blank at character 22", "https://example.com/a%20b"),
            ("https://example.com/grüße", "\"ü\" at character 23", "https://example.com/gr%C3%BC%C3%9Fe"),
            ("https://example.com/?ids[]=1", "\"[\" at character 25", "https://example.com/?ids%5B%5D=1"),
            ("https://example.com/a|b?c^d#e\"f", "\"|\" at character 22", "https://example.com/a%7Cb?c%5Ed#e%22f"),
            ("https://example.com/\u{200B}a", "U+200B at character 21", "https://example.com/%E2%80%8Ba"),
            ("https://example.com/a\u{A0}b", "U+00A0 at character 22", "https://example.com/a%C2%A0b"),
            ("https://example.com/a\nb", "a line break at character 22", "https://example.com/a%0Ab"),
            ("https://u ser@example.com/", "a blank at character 10", nil),
            ("mailto:a b@example.com", "a blank at character 9", "mailto:a%20b@example.com"),
            ("https://example.com/%zz", "\"%\" at character 21", "https://example.com/%25zz"),
            ("https://example.com/100%", "\"%\" at character 24", "https://example.com/100%25"),
            ("https://example.com/?a=50% off", "\"%\" at character 26", "https://example.com/?a=50%25%20off"),
            ("https://example.com/#a#b", "a second \"#\" at character 23", "https://example.com/#a%23b"),
            ("https:\\\\example.com\\a", "\"\\\" at character 7", "https://example.com/a"),
            ("https://::1/", "\":1\" behind the host is no port", "https://[::1]/"),
            (" https://example.com/a\n", "blanks or line breaks around it", "https://example.com/a"),
            ("www.example.com", "no URL with a scheme", "https://www.example.com"),
            ("Shop.example.com/orders?a=1", "no URL with a scheme", "https://Shop.example.com/orders?a=1"),
            ("//example.com/a", "no URL with a scheme", "https://example.com/a"),
            ("service@example.com", "no URL with a scheme", "mailto:service@example.com"),
            ("https:/example.com/a", "names no host", "https://example.com/a"),
            ("https:www.example.com", "names no host", "https://www.example.com"),
        ] as [(String, String, String?)]
    )
    func `what stands in a URL's way is named with its place, and the URL that was meant`(
        _ url: String,
        _ what: String,
        _ meant: String?
    ) throws {
        let findings = try Self.findings(url)
        #expect(findings.map(\.summary) == ["error bad-url /orderManagementURL"])
        #expect(findings.first?.message.contains(what) == true, "\(findings)")
        if let meant {
            #expect(findings.first?.fix == Self.question(meant))
            // Who copies it has a link that works.
            #expect(try Self.findings(meant).isEmpty)
        }
    }

    @Test(
        arguments: [
            ("https://exämple.com/", "host has \"ä\" at character 11", "xn--"),
            ("https://exa mple.com/", "host has a blank at character 12", "letters, digits"),
            ("https://a@b@example.com/", "host has \"@\" at character 12", "letters, digits"),
            ("https://example.com:443:1/", "\"443:1\" behind the host is no port", "Write digits"),
            ("https://example.com:port/", "\"port\" behind the host is no port", "Write digits"),
            ("https://[::1/", "no IPv6 address", "2001:db8"),
            ("https://[1:2]/", "no IPv6 address", "2001:db8"),
            (
                "https://example.com/t?id={trackingNumber}", "in the place of \"{trackingNumber}\", at character 26",
                "belongs"
            ),
            ("https://{shop}.example.com/", "in the place of \"{shop}\", at character 9", "belongs"),
            ("https://example.com/<id>", "in the place of \"<id>\", at character 21", "belongs"),
            ("logo.png", "no URL with a scheme", "Write a whole URL"),
            ("/orders/1", "no URL with a scheme", "Write a whole URL"),
            ("", "no URL with a scheme", "Write a whole URL"),
            ("https://", "names no host", "Write a whole URL"),
            ("https:", "ends after its scheme", "Write a whole URL"),
        ] as [(String, String, String)]
    )
    func `what can't be guessed is told how it would be right`(_ url: String, _ what: String, _ fix: String) throws {
        let findings = try Self.findings(url)
        #expect(findings.map(\.summary) == ["error bad-url /orderManagementURL"])
        #expect(findings.first?.message.contains(what) == true, "\(findings)")
        #expect(findings.first?.fix?.contains(fix) == true, "\(findings)")
    }

    @Test(
        arguments: [
            ("htps://example.com/a", "https://example.com/a"), ("htttps://example.com", "https://example.com"),
            ("ttps://example.com", "https://example.com"), ("htp://example.com", "https://example.com"),
            ("httpss://example.com", "https://example.com"), ("hhtps://example.com", "https://example.com"),
            ("https://https://example.com/a?b#c", "https://example.com/a?b#c"),
            ("https://http://example.com/", "http://example.com/"),
            ("https://https//example.com", "https://example.com"),
            ("https://https/a", nil), ("https://.example.com/a", "https://example.com/a"),
            ("https://example..com:8443/a", "https://example.com:8443/a"), ("https://.../", nil),
            ("https://example,com/", "https://example.com/"), ("https://www,example,com", "https://www.example.com"),
            ("https://example.com;/", nil), ("https://u:p@example..com/", nil),
            ("www.example.com:443/orders", "https://www.example.com:443/orders"),
        ] as [(String, String?)]
    )
    func `a link that leads nowhere is a warning`(_ url: String, _ meant: String?) throws {
        let findings = try Self.findings(url)
        #expect(findings.map(\.summary) == ["warning link-scheme /orderManagementURL"])
        if let meant {
            #expect(findings.first?.fix == Self.question(meant))
            #expect(try Self.findings(meant).allSatisfy { $0.severity == .note })
        } else {
            #expect(findings.first?.fix?.contains("Did you mean") == false)
        }
    }

    @Test(arguments: [
        "https://example.com./a", "https://a_b.example.com/", "https://xn--exmple-cua.com/", "https://192.0.2.1/",
        "https://[2001:db8::1]/a..b,c", "https://example.com/a..b,c;d", "https://u,v:p@example.com/",
        "exampleshop:orders/1",
        "https://https.example.com/", "https://a/", "sms:+12015550123", "ftp://example.com/a",
        "itms-apps://example.com/app",
    ])
    func `a link that may lead somewhere is none`(_ url: String) throws {
        #expect(try Self.findings(url).isEmpty)
    }

    @Test(
        arguments: [
            ("https://example.com/V1", "web-service-url-version"),
            ("https://example.com/api/V1//", "web-service-url-version"),
            ("https://example.com/v1/orders", "web-service-url-version"),
            ("https://example.com/V1/devices/", "web-service-url-version"),
            ("https://example.com/v1/log", "web-service-url-version"),
            ("https://https://example.com/", "web-service-url-authority"),
            ("https://example..com/", "web-service-url-authority"),
            ("https://example,com/", "web-service-url-authority"),
            ("https://example.com/v1/wallet", nil), ("https://example.com/v10", nil),
            ("https://example.com/orders", nil),
        ] as [(String, String?)]
    )
    func `a web service that is most likely elsewhere is a warning`(_ url: String, _ code: String?) throws {
        let findings = try Self.findings(url, at: "/webServiceURL")
        #expect(findings.map(\.summary) == (code.map { ["warning \($0) /webServiceURL"] } ?? []))
    }

    /// An answer can hold a thousand of these.
    @Test func `however long a URL, what is said of it is short and costs no square`() throws {
        let tails = ["ä", "%", " ", "{", "#", "\u{301}", "[", ":", "@", "\\", "<a>", "..", ",", "é\u{200B}"]
        for head in [
            "https://example.com/", "https://", "https://example.com:", "", "www.example.com/", "https:/", "htps://",
        ] {
            for tail in tails {
                func url(_ scale: Int) -> String {
                    head + String(repeating: tail, count: 1_900 * scale / tail.utf8.count)
                }
                for finding in try Self.findings(url(4)) {
                    #expect(finding.message.utf8.count + (finding.fix?.utf8.count ?? 0) < 700, "\(finding)")
                }
            }
        }
        for tail in ["ä", "%", "{", ",", ".", "\\", ":"] {
            for head in ["https://example.com/", "https://", "htps://"] {
                let growth = Patience.growth { scale in
                    let check = URLCheck(head + String(repeating: tail, count: 1_900 * scale / tail.utf8.count))
                    for _ in 0..<10 { _ = (check.advice, check.linkFault, check.webServiceDoubts) }
                }
                #expect(growth < 10, "\(head) \(tail)")
            }
        }
    }
}
