// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Looks at a URL (RFC 3986): a scheme, a host where the scheme needs one, nothing that has to be escaped.
package struct URLCheck {
    /// What keeps a text from being a URL.
    enum Problem {
        case tooLong, noScheme, schemeAlone, badForm, noHost
    }

    /// What is wrong with it as a URL; nil when nothing is.
    let problem: Problem?
    let scheme: String
    private let text: String
    /// Apple names no limit. RFC 9110, 4.1: everyone should take request lines of at least 8,000 bytes.
    static let byteLimit = 8_000
    private let host: Substring
    private let path: Substring
    private let hasTail: Bool

    package init(_ text: String) {
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
        problem =
            if text.utf8.count > Self.byteLimit {
                .tooLong
            } else if !schemeIsGood {
                .noScheme
            } else if schemeEnd == text.utf8.index(before: text.utf8.endIndex) {
                .schemeAlone
            } else if !URIFormat.isURI(text) {
                .badForm
            } else if self.scheme == "http" || self.scheme == "https", Self.namesNoHost(host) {
                .noHost
            } else {
                nil
            }
    }

    /// What is wrong with it as a URL, in words.
    package var fault: String? { advice?.message }

    /// What is wrong with it as a URL, and what to write instead. Worded when it is asked for: to find a fault costs less.
    var advice: (message: String, fix: String)? {
        guard let problem else { return nil }
        return URLMend(text).advice(problem)
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
        if isMisspeltScheme {
            return (
                "The link starts with \(scheme):, which opens nothing; https: is most likely meant",
                URLMend.proposal("https" + text.utf8.dropFirst(scheme.utf8.count).text) ?? "Start it with https://."
            )
        }
        if let hostFault { return hostFault }
        // `www.example.com:443/orders`: to a URL, what stands in front of the first colon is the scheme.
        let port = text.utf8.dropFirst(scheme.utf8.count + 1).prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
        guard scheme == "localhost" || scheme.utf8.contains(0x2E), (1...5).contains(port.count),
            port.allSatisfy({ (0x30...0x39).contains($0) }), (1...65_535).contains(Int(Substring(port)) ?? 0),
            !isReversedDomain
        else { return nil }
        return (
            "The link names a host and a port, but nothing says how to reach it",
            URLMend.proposal("https://" + text) ?? "Start it with https://."
        )
    }

    /// Whether the scheme is one letter off `http` or `https`.
    private var isMisspeltScheme: Bool {
        if scheme == "http" || scheme == "https" || scheme.utf8.count > 6 { return false }
        let letters = Array(scheme.utf8)
        return ["http", "https"].contains { NearMiss.distance(letters, Array($0.utf8), limit: 1) == 1 }
    }

    /// What about the host of a web address can't be, though RFC 3986 takes it: a second scheme, marks of sentences, dots
    /// with nothing between them (RFC 1123, 2.1).
    private var hostFault: (message: String, fix: String)? {
        guard scheme == "http" || scheme == "https" else { return nil }
        let server = host.utf8.lastIndex(of: 0x40).map { host[host.utf8.index(after: $0)...] } ?? host
        if server.utf8.first == 0x5B { return nil }
        let name = server.utf8.prefix { $0 != 0x3A }
        let rest = text.utf8.dropFirst(scheme.utf8.count + 3)
        if Substring(name).isCaseless("http") || Substring(name).isCaseless("https") {
            let colon = rest.dropFirst(name.count).first == 0x3A
            let meant = Substring(name) + ":" + rest.dropFirst(name.count + (colon ? 1 : 0)).text
            return (
                "The host is named \"\(Substring(name))\", as if the scheme stood there twice",
                (path.utf8.starts(with: [0x2F, 0x2F]) ? URLMend.proposal(String(meant)) : nil)
                    ?? "Write the scheme once, and the host behind its two slashes."
            )
        }
        /// The whole URL with another name of the host.
        func proposal(_ meant: [UInt8]) -> String? {
            guard server.startIndex == host.startIndex else { return nil }
            let meant = String(decoding: meant, as: UTF8.self)
            return URLMend.proposal("\(scheme)://\(meant)" + rest.dropFirst(name.count).text)
        }
        let plain = "A host has letters, digits, dots and hyphens only."
        if let mark = name.first(where: Self.isMark) {
            let fix = mark == 0x2C ? proposal(name.map { $0 == 0x2C ? 0x2E : $0 }) : nil
            return ("The host has a \"\(Character(Unicode.Scalar(mark)))\", which no host's name has", fix ?? plain)
        }
        guard Self.beginsLabelWithDot(name) else { return nil }
        var labels = name.split(separator: 0x2E, omittingEmptySubsequences: false)
        // The dot behind a whole name stands for the root.
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.contains(where: \.isEmpty) else { return nil }
        let full = labels.filter { !$0.isEmpty }
        return (
            "The host has a dot with nothing in front of it",
            (full.isEmpty ? nil : proposal(Array(full.joined(separator: [0x2E])))) ?? plain
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

    /// Marks that RFC 3986 takes in a host, and no host's name has: `!$&'()*+,;=~`.
    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D, 0x7E: true
        default: false
        }
    }

    /// Whether a dot stands in front, or behind another.
    private static func beginsLabelWithDot(_ name: some Sequence<UInt8>) -> Bool {
        var before: UInt8 = 0x2E
        for byte in name {
            if byte == 0x2E, before == 0x2E { return true }
            before = byte
        }
        return false
    }

    /// Top levels that no host begins with, beside those of countries.
    static let topLevels = ["com", "org", "net", "edu", "gov", "uk"]

    /// What keeps it from being the base of a web service. Devices append `/v1/…` themselves.
    package var webServiceFaults: [(code: String, message: String, fix: String)] {
        if problem != nil { return [] }
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

    /// What about it is most likely not meant as the base of a web service.
    var webServiceDoubts: [(code: String, message: String, fix: String)] {
        if problem != nil { return [] }
        var doubts: [(String, String, String)] = []
        if let hostFault { doubts.append(("web-service-url-authority", hostFault.message, hostFault.fix)) }
        let parts = path.parts(by: "/")
        let last = parts.last { !$0.isEmpty }
        let goesOn = parts.indices.dropLast().contains {
            parts[$0].isCaseless("v1") && parts[$0 + 1].isExactly(oneOf: ["orders", "devices", "log"])
        }
        if goesOn || last.map({ $0.isCaseless("v1") && !$0.isExactly("v1") }) == true {
            doubts.append(
                (
                    "web-service-url-version",
                    goesOn
                        ? "The web service URL goes on behind /v1, but devices append /v1 and the rest themselves"
                        : "The web service URL ends in /V1; devices append /v1 themselves",
                    "End it in front of the version."
                )
            )
        }
        return doubts
    }
}

extension Substring.UTF8View {
    /// Bytes of a text as one.
    fileprivate var text: Substring { Substring(self) }
}
