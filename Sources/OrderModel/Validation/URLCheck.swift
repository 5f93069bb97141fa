// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Looks at a URL (RFC 3986): a scheme, a host where the scheme needs one, nothing that has to be escaped.
package struct URLCheck {
    /// What is wrong with it as a URL, in words.
    package let fault: String?
    let scheme: String
    private let text: String
    /// Apple names no limit. RFC 9110, 4.1: everyone should take request lines of at least 8,000 bytes.
    static let byteLimit = 8_000
    private let host: Substring
    private let path: Substring
    private let hasTail: Bool

    package init(_ text: String) {
        var fault: String?
        let schemeEnd = text.utf8.firstIndex(of: 0x3A)
        let scheme = schemeEnd.map { text[text.startIndex..<$0] } ?? ""
        var rest = schemeEnd.map { text[text.utf8.index(after: $0)...] } ?? text[...]
        let schemeIsGood =
            scheme.utf8.first.map { (0x41...0x5A).contains($0 & 0xDF) } == true
            && scheme.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
                default: false
                }
            }
        var host: Substring = ""
        if rest.utf8.starts(with: [0x2F, 0x2F]) {
            rest = Substring(rest.utf8.dropFirst(2))
            let end = rest.utf8.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
            host = rest[..<end]
            rest = rest[end...]
        }
        let pathEnd = rest.utf8.firstIndex { $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
        self.path = rest[..<pathEnd]
        self.hasTail = pathEnd != rest.endIndex
        self.scheme = scheme.lowercased()
        self.text = text
        self.host = host
        if text.utf8.count > Self.byteLimit {
            fault = "The URL is longer than 8,000 bytes"
        } else if !schemeIsGood {
            fault = "\"\(DocumentWalk.shown(text))\" is no URL with a scheme"
        } else if schemeEnd == text.utf8.index(before: text.utf8.endIndex) {
            fault = "The URL ends after its scheme"
        } else if !URIFormat.isURI(text) {
            fault = "The URL holds blanks or characters that have to be escaped, such as %20 for a blank"
        } else if self.scheme == "http" || self.scheme == "https", Self.namesNoHost(host) {
            fault = "The URL names no host"
        }
        self.fault = fault
    }

    /// What stands behind the last colon of the host, outside an IPv6 address; a password stands in front of the host.
    private var port: Substring? {
        let server = host.utf8.lastIndex(of: 0x40).map { host[host.utf8.index(after: $0)...] } ?? host
        guard let colon = server.utf8.lastIndex(of: 0x3A) else { return nil }
        let port = server[server.utf8.index(after: colon)...]
        return port.utf8.contains(0x5D) ? nil : port
    }

    /// Whether nothing stands between `user@` and `:port`.
    private static func namesNoHost(_ authority: Substring) -> Bool {
        let host =
            authority.utf8.firstIndex(of: 0x40).map { authority[authority.utf8.index(after: $0)...] } ?? authority
        return host.isEmpty || host.utf8.first == 0x3A
    }

    /// Why a customer's tap on the link would most likely open nothing. Links of other schemes may lead into an app.
    var linkFault: (message: String, fix: String)? {
        if ["javascript", "vbscript", "data", "file", "about", "blob"].contains(scheme) {
            return ("A link that starts with \(scheme): opens nothing", "Send one that starts with https://.")
        }
        // `www.example.com:443/orders`: to a URL, what stands in front of the first colon is the scheme.
        let port = text.utf8.dropFirst(scheme.utf8.count + 1).prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
        guard scheme == "localhost" || scheme.utf8.contains(0x2E), (1...5).contains(port.count),
            port.allSatisfy({ (0x30...0x39).contains($0) }), (1...65_535).contains(Int(Substring(port)) ?? 0),
            !isReversedDomain
        else { return nil }
        return (
            "The link names a host and a port, but nothing says how to reach it",
            "Did you mean \"\(DocumentWalk.shown("https://" + text))\"?"
        )
    }

    /// Whether the scheme is an app's own, `com.example.shop` (RFC 7595, 3.8), where a host would have its top level at its
    /// end: `de.example.com` is one.
    private var isReversedDomain: Bool {
        func isTopLevel(_ label: Substring) -> Bool {
            label.isExactly(oneOf: Self.topLevels) || Country.isKnown(label.uppercased())
        }
        let labels = scheme.split(separator: ".")
        guard let first = labels.first, let last = labels.last else { return false }
        return first.isExactly(oneOf: Self.topLevels) || isTopLevel(first) && !isTopLevel(last)
    }

    /// Top levels that no host begins with, beside those of countries.
    private static let topLevels = ["com", "org", "net", "edu", "gov", "uk"]

    /// What keeps it from being the base of a web service. Devices append `/v1/…` themselves.
    package var webServiceFaults: [(code: String, message: String, fix: String)] {
        if fault != nil { return [] }
        var faults: [(String, String, String)] = []
        if scheme != "https" {
            faults.append(("insecure-url", "The web service URL is not https", "Start it with https://."))
        }
        // Along the bytes: to cut characters off an end one by one takes the square of their number.
        let end = path.utf8.lastIndex { $0 != 0x2F }.map(path.utf8.index(after:)) ?? path.startIndex
        if path[..<end].endsExactly(with: "/v1") {
            faults.append(
                (
                    "web-service-url-version", "The web service URL ends in /v1, which devices append themselves",
                    "Leave /v1 out."
                )
            )
        }
        // Port 0 and ports above 65,535 don't exist; `host:` alone means the scheme's own.
        let authority: (message: String, fix: String)? =
            if let port, !port.isEmpty, !(1...65_535).contains(Int(port) ?? 0) {
                ("The web service URL has a port that does not exist", "Write one from 1 to 65535.")
            } else if host.utf8.contains(0x40) {
                ("The web service URL holds a user name", "Leave out what stands before @; the token is the proof.")
            } else {
                nil
            }
        if let authority { faults.append(("web-service-url-authority", authority.message, authority.fix)) }
        if hasTail {
            faults.append(("bad-url", "The web service URL has a query or fragment", "End it after the path."))
        }
        return faults
    }
}
