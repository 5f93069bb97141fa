// SPDX-License-Identifier: Apache-2.0

/// A URI or relative reference in its five parts (RFC 3986 section 3), for resolving `$id` and `$ref`.
struct URIReference: Sendable {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// Takes a text apart. Everything is taken (RFC 3986 appendix B); whether it is a good URI is the format's
    /// business.
    init(_ text: String) {
        // By bytes: a mark that combines with a "/" before it takes nothing from its meaning.
        var rest = text.utf8[...]
        func string(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = string(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = string(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = string(rest[..<colon]).lowercased()
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = string(rest[..<end])
            rest = rest[end...]
        }
        path = string(rest)
    }

    private static func isScheme(_ bytes: Substring.UTF8View) -> Bool {
        guard let first = bytes.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else { return false }
        return bytes.allSatisfy { URIFormat.isSchemeByte($0) }
    }

    /// The reference without its fragment, as a key.
    var withoutFragment: String {
        var copy = self
        copy.fragment = nil
        return copy.text
    }

    /// The text of the reference.
    var text: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// A reference seen from this base (RFC 3986 section 5.2.2).
    func resolving(_ reference: URIReference) -> URIReference {
        var result = reference
        if reference.scheme != nil {
            result.path = Self.withoutDots(reference.path)
            return result
        }
        result.scheme = scheme
        if reference.authority != nil {
            result.path = Self.withoutDots(reference.path)
            return result
        }
        result.authority = authority
        if reference.path.isEmpty {
            result.path = path
            if reference.query == nil { result.query = query }
        } else if reference.path.utf8.first == UInt8(ascii: "/") {
            result.path = Self.withoutDots(reference.path)
        } else {
            result.path = Self.withoutDots(merged(reference.path))
        }
        return result
    }

    private func merged(_ relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return String(path[...slash]) + relative
    }

    /// RFC 3986 section 5.2.4.
    private static func withoutDots(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let absolute = path.utf8.first == UInt8(ascii: "/")
        var output: [Substring] = []
        let segments = Substring(path.utf8.dropFirst(absolute ? 1 : 0)).parts(by: "/")
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment.isExactly(".") {
                if isLast { output.append("") }
            } else if segment.isExactly("..") {
                if !output.isEmpty { output.removeLast() }
                if isLast { output.append("") }
            } else {
                output.append(segment)
            }
        }
        return (absolute ? "/" : "") + output.joined(separator: "/")
    }

    /// A text with its percent escapes taken out; nil when one is malformed or the bytes are not UTF-8.
    static func percentDecoded(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, let high = TextFormat.hexValue(bytes[index + 1]),
                    let low = TextFormat.hexValue(bytes[index + 2])
                else { return nil }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(validating: result, as: UTF8.self)
    }
}
