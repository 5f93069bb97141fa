// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Says of a text that is no URL which character stands in the way, and what was most likely meant.
struct URLMend {
    private typealias Advice = (message: String, fix: String)

    private let text: String
    private let bytes: [UInt8]
    /// Where authority, path, query and fragment are; empty when there are none.
    private var authority = 0..<0
    private var path: Range<Int>
    private var query = 0..<0
    private var fragment = 0..<0

    /// A proposal that is longer would be no help to people, and would make an answer long.
    private static let proposalLimit = 160
    private static let plainFix = "Write a whole URL such as https://www.example.com/orders."

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
        var end = bytes.endIndex
        if let hash = bytes.firstIndex(of: UInt8(ascii: "#")) {
            fragment = (hash + 1)..<end
            end = hash
        }
        if let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) {
            query = (mark + 1)..<end
            end = mark
        }
        var start = bytes[..<end].firstIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? 0
        if bytes[start..<end].starts(with: "//".utf8) {
            start += 2
            authority = start..<(bytes[start..<end].firstIndex(of: UInt8(ascii: "/")) ?? end)
            start = authority.upperBound
        }
        path = start..<end
    }

    /// "Did you mean …?" about a text that is a whole URL, and short.
    static func proposal(_ meant: String) -> String? {
        guard meant.utf8.count <= proposalLimit, URLCheck(meant).problem == nil else { return nil }
        return "Did you mean \"\(meant)\"?"
    }

    /// What is wrong, and what to write instead.
    func advice(_ problem: URLCheck.Problem) -> (message: String, fix: String) {
        switch problem {
        case .tooLong: ("The URL is longer than 8,000 bytes", Self.plainFix)
        case .schemeAlone: ("The URL ends after its scheme", Self.plainFix)
        case .noHost: ("The URL names no host", withSlashes ?? Self.plainFix)
        case .noScheme:
            aboutBlanks ?? ("\"\(DocumentWalk.shown(text))\" is no URL with a scheme", withScheme ?? Self.plainFix)
        case .badForm: aboutBlanks ?? aboutAuthority ?? aboutRest ?? ("The URL has not the form of one", Self.plainFix)
        }
    }

    // MARK: Around it

    /// A text that would be a URL but for the blanks around it.
    private var aboutBlanks: Advice? {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return nil }
        let bare = String(scalars[first...last])
        if bare.utf8.count == bytes.count || URLCheck(bare).problem != nil { return nil }
        return ("The URL has blanks or line breaks around it", Self.proposal(bare) ?? "Leave them out.")
    }

    /// `www.example.com/orders`, `//example.com`, `service@example.com`.
    private var withScheme: String? {
        if text.utf8.starts(with: "//".utf8) {
            return isHost(bytes[authority]) ? Self.proposal("https:" + text) : nil
        }
        let head = bytes.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if isHost(head) { return Self.proposal("https://" + text) }
        if head.count == bytes.count, let at = head.firstIndex(of: UInt8(ascii: "@")), at > 0, isHost(head[(at + 1)...])
        {
            return Self.proposal("mailto:" + text)
        }
        return nil
    }

    /// `https:/example.com`, `https:example.com`.
    private var withSlashes: String? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = bytes[(colon + 1)...].drop { $0 == UInt8(ascii: "/") }
        guard isHost(rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        else {
            return nil
        }
        return Self.proposal(String(decoding: bytes[...colon] + Array("//".utf8) + rest, as: UTF8.self))
    }

    /// Whether it is the name of a host as people write one, and no file's.
    private func isHost(_ bytes: ArraySlice<UInt8>) -> Bool {
        let labels = bytes.prefix { $0 != UInt8(ascii: ":") }.split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        )
        guard bytes.count <= 255, labels.count > 1, let last = labels.last else { return false }
        let isName = labels.allSatisfy { label in
            !label.isEmpty && label.allSatisfy { Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "-") }
        }
        let top = String(decoding: last, as: UTF8.self)
        return isName
            && (labels[0].elementsEqual("www".utf8) || top.lowercased().isExactly(oneOf: URLCheck.topLevels)
                || Country.isKnown(top.uppercased()))
    }

    // MARK: The host

    private var aboutAuthority: Advice? {
        var host = authority
        if let at = bytes[authority].firstIndex(of: UInt8(ascii: "@")) {
            if let place = firstFault(in: authority.lowerBound..<at, besides: ":") { return advice(at: place) }
            host = (at + 1)..<authority.upperBound
        }
        if bytes[host].first == UInt8(ascii: "[") {
            // What follows an address can only be a port, and what is in the brackets is for a machine to judge.
            return URIFormat.isURI("x://" + String(decoding: bytes[host], as: UTF8.self))
                ? nil : ("What stands in brackets is no IPv6 address", "Write it like https://[2001:db8::1]:8443/.")
        }
        let colon = bytes[host].firstIndex(of: UInt8(ascii: ":"))
        if let place = firstFault(in: host.lowerBound..<(colon ?? host.upperBound), besides: "") {
            if bytes[place] == UInt8(ascii: "%") { return advice(at: place) }
            if let special = special(at: place) { return special }
            let fix =
                bytes[place] >= 0x80
                ? "Write such a host as browsers copy it: in ASCII, with xn-- in front of what was not."
                : "A host has letters, digits, dots and hyphens only."
            return ("The URL's host has \(name(at: place))", fix)
        }
        guard let colon else { return nil }
        let port = bytes[(colon + 1)..<host.upperBound]
        if port.allSatisfy(Self.isDigit) { return nil }
        let bracketed =
            bytes[..<host.lowerBound] + Array("[".utf8) + bytes[host] + Array("]".utf8) + bytes[host.upperBound...]
        return (
            "\"\(DocumentWalk.shown(String(decoding: port, as: UTF8.self)))\" behind the host is no port",
            Self.proposal(String(decoding: bracketed, as: UTF8.self))
                ?? "Write digits there, such as https://www.example.com:8443/, or leave it out."
        )
    }

    // MARK: The rest

    private var aboutRest: Advice? {
        for (range, marks) in [(path, ":@/"), (query, ":@/?"), (fragment, ":@/?")] {
            if let place = firstFault(in: range, besides: marks) { return advice(at: place) }
        }
        return nil
    }

    /// What is wrong with a character outside of the host, which escapes put right.
    private func advice(at place: Int) -> Advice {
        if bytes[place] == UInt8(ascii: "%") {
            return (
                "The URL has a \"%\" at character \(number(of: place)) without two hexadecimal digits behind it",
                escaped ?? "Write a percent sign that means itself as %25."
            )
        }
        if bytes[place] == UInt8(ascii: "#") {
            return ("The URL has a second \"#\" at character \(number(of: place))", escaped ?? "Write it as %23.")
        }
        if let special = special(at: place) { return special }
        let width = String(scalar(at: place)).utf8.count
        let escape = bytes[place..<(place + width)].map(Self.escape).joined()
        return ("The URL has \(name(at: place)), which has to be escaped", escaped ?? "Write it as \(escape).")
    }

    /// What escapes would only hide: a template that was not filled in, and a backslash.
    private func special(at place: Int) -> Advice? {
        if bytes[place] == UInt8(ascii: "\\") {
            let slashes = bytes.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
            let fix = Self.proposal(String(decoding: slashes, as: UTF8.self))
            return ("The URL has \(name(at: place))", fix ?? "Write / in its place.")
        }
        guard let closing = [UInt8(ascii: "{"): UInt8(ascii: "}"), UInt8(ascii: "<"): UInt8(ascii: ">")][bytes[place]],
            let end = bytes[place...].prefix(60).firstIndex(of: closing)
        else { return nil }
        let placeholder = DocumentWalk.shown(String(decoding: bytes[place...end], as: UTF8.self))
        return (
            "Nothing was put in the place of \"\(placeholder)\", at character \(number(of: place)) of the URL",
            "Write what belongs there."
        )
    }

    /// The URL with escapes where they have to be.
    private var escaped: String? {
        var output = Array(bytes[..<path.lowerBound])
        for (range, front, marks) in [(path, "", ":@/"), (query, "?", ":@/?"), (fragment, "#", ":@/?")] {
            // An empty part that is there stands behind its mark.
            if !front.isEmpty, range.lowerBound == 0 { continue }
            output += Array(front.utf8)
            for place in range {
                if isGood(place, in: range, besides: marks) {
                    output.append(bytes[place])
                } else {
                    output += Array(Self.escape(bytes[place]).utf8)
                }
                if output.count > Self.proposalLimit { return nil }
            }
        }
        return Self.proposal(String(decoding: output, as: UTF8.self))
    }

    private static func escape(_ byte: UInt8) -> String {
        "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    // MARK: Characters

    private func firstFault(in range: Range<Int>, besides marks: String) -> Int? {
        range.first { !isGood($0, in: range, besides: marks) }
    }

    /// Whether RFC 3986 lets a byte stand there as it is (appendix A): unreserved, a sub-delimiter, one of some marks, or an
    /// escape's percent sign.
    private func isGood(_ place: Int, in range: Range<Int>, besides marks: String) -> Bool {
        let byte = bytes[place]
        if byte == UInt8(ascii: "%") {
            return place + 2 < range.upperBound && Self.isHexadecimal(bytes[place + 1])
                && Self.isHexadecimal(bytes[place + 2])
        }
        return Self.isLetter(byte) || Self.isDigit(byte) || "-._~!$&'()*+,;=".utf8.contains(byte)
            || marks.utf8.contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }

    /// Counted from 1.
    private func number(of place: Int) -> Int { bytes[..<place].count { $0 & 0xC0 != 0x80 } + 1 }

    private func scalar(at place: Int) -> Unicode.Scalar {
        text.unicodeScalars[text.utf8.index(text.startIndex, offsetBy: place)]
    }

    /// `"ä" at character 11`; what can't be seen is named.
    private func name(at place: Int) -> String {
        let scalar = scalar(at: place)
        let name =
            switch scalar {
            case " ": "a blank"
            case "\t": "a tab"
            case "\n", "\r": "a line break"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator, .nonspacingMark,
                    .enclosingMark, .unassigned, .privateUse:
                    "U+" + String(repeating: "0", count: max(0, 4 - String(scalar.value, radix: 16).utf8.count))
                        + String(scalar.value, radix: 16, uppercase: true)
                default: "\"\(Character(scalar))\""
                }
            }
        return "\(name) at character \(number(of: place))"
    }
}
